#![allow(
    clippy::format_push_string,
    reason = "expected texts are built as text"
)]

use proptest::prelude::*;

use super::{labels_ahead, lower, structured_of};
use crate::Options;
use crate::diagnostic::Diagnostic;
use crate::directives::Role;
use crate::front::parse::parse;
use crate::front::preprocess::preprocess;
use crate::front::statement::{Body, Statement};
use crate::front::token::spell;
use crate::one_text::SingleText;
use crate::source::SourceMap;

fn lowered(text: &str) -> (String, Vec<Diagnostic>) {
    let mut sources = SourceMap::default();
    let mut diagnostics = Vec::new();
    let lines = preprocess(
        "t.uc",
        &SingleText(text),
        &Options::default(),
        &mut sources,
        &mut diagnostics,
    )
    .lines;
    let statements = parse(&lines, &mut diagnostics);
    let statements = lower(statements, &mut diagnostics);
    let line = |statement: &Statement| {
        let mut text = String::new();
        for label in &statement.labels {
            text += &format!("{}:", label.text);
        }
        match &statement.body {
            Body::Empty => {}
            Body::Instruction(instruction) => {
                let operands: Vec<String> = instruction.operands.iter().map(|o| spell(o)).collect();
                text += &format!("{}[{}]", instruction.mnemonic, operands.join(", "));
            }
            Body::Directive(directive) => {
                text += &format!("{} {}", directive.spelling, spell(&directive.arguments));
            }
        }
        text
    };
    let lines: Vec<String> = statements.iter().map(line).collect();
    (lines.join("\n"), diagnostics)
}

fn text_of(text: &str) -> String {
    let (text, diagnostics) = lowered(text);
    assert!(diagnostics.is_empty(), "{diagnostics:?}");
    text
}

#[test]
fn an_arm_is_skipped_by_the_inverted_test() {
    assert_eq!(
        text_of(".if (x == 1)\nnop\n.else\nhalt\n.endif"),
        "alu[--, x, -, 1]\nbne[_else_1#]\nnop[]\nbr[_endif_2#]\n_else_1#:\nhalt[]\n_endif_2#:"
    );
}

#[test]
fn constant_conditions_keep_one_arm() {
    assert_eq!(text_of(".if (2 > 1)\nnop\n.else\nhalt\n.endif"), "nop[]");
    assert_eq!(text_of(".if (0)\nnop\n.else\nhalt\n.endif"), "halt[]");
    assert_eq!(
        text_of(".if (0)\nnop\n.elif (x)\nhalt\n.endif"),
        "alu[--, --, B, x]\nbeq[_else_3#]\nhalt[]\n_else_3#:"
    );
    assert_eq!(text_of(".while (0)\nnop\n.endw"), "");
}

#[test]
fn dead_arm_containing_a_label_is_kept() {
    let text = text_of(".if (0)\ninside#: nop\n.endif\nbr[inside#]");
    assert!(text.starts_with("br[_else_1#]\ninside#:nop[]"), "{text}");
}

#[test]
fn logical_operators_lower_to_short_circuit_branches() {
    assert_eq!(
        text_of(".if (x == 0 && !BIT(y, 3))\nnop\n.endif"),
        "alu[--, --, B, x]\nbne[_else_1#]\nbr_bset[y, 3, _else_1#]\nnop[]\n_else_1#:"
    );
    assert_eq!(
        text_of(".if (x == 0 || y == 0)\nnop\n.endif"),
        "alu[--, --, B, x]\nbeq[_past_3#]\nalu[--, --, B, y]\nbne[_else_1#]\n_past_3#:\nnop[]\n_else_1#:"
    );
}

#[test]
fn break_and_continue_are_lowered() {
    assert_eq!(
        text_of(".while (1)\n.if (x)\n.break\n.endif\n.continue\n.endw"),
        "_while_1#:\nalu[--, --, B, x]\nbeq[_else_3#]\nbr[_endw_2#]\n_else_3#:\nbr[_while_1#]\n_endw_2#:"
    );
    assert_eq!(
        text_of(".repeat\n.continue\n.until (x)"),
        "_repeat_1#:\nbr[_until_2#]\n_until_2#:\nalu[--, --, B, x]\nbeq[_repeat_1#]"
    );
}

#[test]
fn misnested_block_errors_name_both_places() {
    let (_, diagnostics) = lowered(".if (x)\n.endw\n.endif");
    assert_eq!(diagnostics.len(), 1, "{diagnostics:?}");
    assert_eq!(diagnostics[0].code, "unbalanced-block");
    assert_eq!(diagnostics[0].secondary.len(), 1);
    let (_, diagnostics) = lowered(".while (x)\nnop");
    assert_eq!(diagnostics[0].message, "`.while` without `.endw`");
    for text in [".else", ".endif", ".break", ".until (1)", ".endw"] {
        let (_, diagnostics) = lowered(text);
        assert_eq!(diagnostics.len(), 1, "{text}");
    }
}

#[test]
fn generated_labels_avoid_names_in_the_source() {
    let text = text_of("_else_1#: nop\n.if (x)\nnop\n.endif");
    assert!(text.contains("beq[_else_2#]"), "{text}");
}

/// Whether a label precedes the end of the arm in which `rest` begins.
fn scan(rest: &[Statement]) -> bool {
    let mut depth = 0;
    for statement in rest {
        if !statement.labels.is_empty() {
            return true;
        }
        match structured_of(statement).map(|(_, name)| name.role()) {
            Some(Role::Opens(_)) => depth += 1,
            Some(Role::Continues(_)) if depth > 0 => {}
            Some(Role::Closes(_)) if depth > 0 => depth -= 1,
            Some(Role::Plain | Role::Declares) | None => {}
            Some(_) => return false,
        }
    }
    false
}

proptest! {
    #[test]
    fn label_search_stops_at_the_end_of_the_arm(lines in proptest::collection::vec(
        prop::sample::select(vec![
            ".if (x)", ".elif (x)", ".else", ".endif", ".while (x)", ".endw", ".repeat",
            ".until (x)", "nop", ".break", "l#:", "m#: .endif", "n#: .if (x)",
        ]),
        0..30,
    )) {
        let text = lines.join("\n");
        let mut sources = SourceMap::default();
        let mut diagnostics = Vec::new();
        let options = Options::default();
        let lines = preprocess("t.uc", &SingleText(&text), &options, &mut sources, &mut diagnostics).lines;
        let statements = parse(&lines, &mut diagnostics);
        let expected: Vec<bool> = (0..statements.len()).map(|i| scan(&statements[i + 1..])).collect();
        prop_assert_eq!(labels_ahead(&statements), expected, "{}", text);
    }
}
