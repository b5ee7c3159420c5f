//! Layouts, and the property that only white space ever changes.

use proptest::prelude::*;

use super::format;
use crate::front::lexer::{Interner, RawLine, lex};
use crate::source::FileId;

#[track_caller]
fn assert_formatted(text: &str, wanted: &str) {
    let formatted = format(text);
    assert_eq!(formatted, wanted);
    assert_eq!(format(&formatted), formatted, "again");
}

#[test]
fn labels_blocks_and_directives_start_at_the_margin() {
    assert_formatted(
        "  #define A 1\n.num_contexts 8\n   .begin\n.reg x\n  loop#:\n\talu[x, x, +, 1]\n\
         br[loop#]\n .end\n",
        "#define A 1\n.num_contexts 8\n.begin\n    .reg x\nloop#:\n    alu[x, x, +, 1]\n    \
         br[loop#]\n.end\n",
    );
}

#[test]
fn structured_directives_indent_their_bodies() {
    assert_formatted(
        ".if (a == 1)\nnop\n.elif(a==2)\n.while   (b > 1)\nnop\n.endw\n.else\nnop\n.endif\nnop\n",
        "    .if (a == 1)\n        nop\n    .elif (a==2)\n        .while (b > 1)\n            \
         nop\n        .endw\n    .else\n        nop\n    .endif\n    nop\n",
    );
}

#[test]
fn alternative_condition_spellings_are_indented() {
    assert_formatted(
        ".if_likely_unsigned (a < 1)\nnop\n.elif_signed (b)\nnop\n.endif\n",
        "    .if_likely_unsigned (a < 1)\n        nop\n    .elif_signed (b)\n        nop\n    \
         .endif\n",
    );
}

#[test]
fn arms_of_a_condition_start_at_the_same_depth() {
    assert_formatted(
        "#ifdef A\n.if (a)\n#else\n.if (b)\n#endif\nnop\n.endif\nnop\n",
        "#ifdef A\n    .if (a)\n#else\n    .if (b)\n#endif\n        nop\n    .endif\n    nop\n",
    );
}

#[test]
fn operands_have_one_space_after_each_comma() {
    assert_formatted(
        "sram [read,$a ,  base,0 , 2] ,sig_done[ done ]\nname (a,b)\nbr!=ctx[ 0,x# ]\n\
         l# :  alu_shf[a,--,B,b,<<(16-N)]\n",
        "    sram[read, $a, base, 0, 2], sig_done[done]\n    name(a, b)\n    br!=ctx[0, x#]\n\
         l# : alu_shf[a, --, B, b, <<(16-N)]\n",
    );
}

#[test]
fn define_bodies_keep_their_spacing() {
    assert_formatted(
        "#define F (x)\n#define  G(x)   x + 1\n#define H   1\t; one\n",
        "#define F (x)\n#define  G(x)   x + 1\n#define H   1   ; one\n",
    );
}

#[test]
fn consecutive_comments_are_aligned() {
    assert_formatted(
        "alu[a, b, +, 1] ; one\nnop ; two\n\nnop      ; alone\nbr[x#]\n",
        "    alu[a, b, +, 1]  ; one\n    nop              ; two\n\n    nop  ; alone\n    br[x#]\n",
    );
    // A column that all comments already share is kept.
    let text = "    nop         ; one\n    alu[a, --]  ; two\n                ; and on\n";
    assert_formatted(text, text);
}

#[test]
fn comments_between_statements_are_indented_with_them() {
    assert_formatted(
        "; margin\n  ; in the code\nnop\n.if (x)\n ; inner\n nop\n.endif\n",
        "; margin\n    ; in the code\n    nop\n    .if (x)\n        ; inner\n        nop\n    \
         .endif\n",
    );
}

#[test]
fn multiline_statement_is_indented_as_a_unit() {
    assert_formatted(
        "alu[a,\n  b, +,\n    c]\n#define X \\\n   1\n",
        "    alu[a,\n      b, +,\n        c]\n#define X \\\n   1\n",
    );
}

#[test]
fn indentation_is_capped_at_forty_levels() {
    let deep = ".if (a)\n".repeat(2000) + "nop\n" + &".endif\n".repeat(2000);
    let formatted = format(&deep);
    assert_eq!(format(&formatted), formatted);
    let widest = formatted.lines().map(str::len).max();
    assert_eq!(widest, Some(4 * 40 + ".if (a)".len()));
}

#[test]
fn unparsable_text_is_left_unchanged() {
    let text = "#if 0\n  it isn't   microcode , at all\n#endif\n   /* a\n  b */\n";
    assert_formatted(text, text);
    assert_formatted("nop `\n  /* open\n", "nop `\n  /* open\n");
}

#[test]
fn line_endings_are_preserved() {
    assert_formatted("nop\r\n\r\n x#:", "    nop\r\n\r\nx#:\r\n");
    assert_formatted("\u{feff}nop", "\u{feff}    nop\n");
    assert_formatted("", "");
}

/// Returns what the rest of the assembler sees of a text.
fn lexed_lines(text: &str) -> Vec<String> {
    let show = |line: &RawLine| {
        // Space is significant only after the name of a macro being defined.
        let joined = line.directive.is_some();
        let tokens: Vec<String> = { line.tokens.iter() }
            .map(|it| format!("{:?} {} {}", it.kind, it.text, joined && it.joined))
            .collect();
        let directive = line
            .directive
            .as_ref()
            .map(|(kind, name)| (*kind, name.text.clone()));
        let errors: Vec<_> = line.errors.iter().map(|it| it.code).collect();
        format!("{directive:?} {tokens:?} {errors:?}")
    };
    let lines = lex(text, FileId(0), &mut Interner::default());
    lines.iter().map(show).collect()
}

fn check(text: &str) -> Result<(), TestCaseError> {
    let formatted = format(text);
    prop_assert_eq!(lexed_lines(&formatted), lexed_lines(text));
    prop_assert_eq!(format(&formatted), formatted.clone(), "again");
    prop_assert_eq!(text.split('\n').count(), {
        let lines = text.strip_prefix('\u{feff}').unwrap_or(text);
        let added = usize::from(!lines.is_empty() && !lines.ends_with('\n'));
        formatted.split('\n').count() - added
    });
    Ok(())
}

/// Generates the pieces of lines, valid and invalid.
fn source() -> impl Strategy<Value = String> {
    let piece = prop::sample::select(vec![
        " ",
        "  ",
        "\t",
        "\n",
        "\n",
        "\r\n",
        ",",
        "[",
        "]",
        "(",
        ")",
        "{",
        "}",
        "#",
        "##",
        "/**/",
        "\\\n",
        "\\",
        "; c",
        "// c",
        "/* c */",
        "/* c\n d */",
        "/*",
        "alu",
        "a",
        "b#",
        "b#:",
        ":",
        ".if",
        ".endif",
        ".else",
        ".begin",
        ".end",
        ".reg",
        "#if 1\n",
        "#else\n",
        "#endif\n",
        "#macro m(a)\n",
        "#endm\n",
        "#define F",
        "#error don't\n",
        "1",
        "0x",
        "\"t\"",
        "'q'",
        "\"a\\\n b\"",
        "\"",
        "'",
        "`",
        "é",
        "+",
        "--",
        "<<",
        "$x",
        "@y",
        "*l$index0",
        "\u{feff}",
    ]);
    prop::collection::vec(piece, 0..60).prop_map(|pieces| pieces.concat())
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 10_000, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn formatting_changes_only_white_space(text in source()) {
        check(&text)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 512, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_text_is_handled(text in "\\PC{0,200}") {
        check(&text)?;
    }
}
