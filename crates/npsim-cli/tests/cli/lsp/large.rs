//! A program of ten thousand lines: every request about it gets a complete answer.

use std::fmt::Write as _;

use serde_json::{Value, json};

use super::client::Editor;

/// Macros, and blocks with names of their own that use them.
const MACROS: usize = 400;
const BLOCKS: usize = 220;

fn program() -> String {
    let mut text = String::new();
    for number in 0..MACROS {
        let _ = write!(
            text,
            "; Adds {number}\n; to a register.\n#macro add_{number}(r)\n    alu[r, r, +, {}]\n#endm\n\n",
            number % 100
        );
    }
    text += ".reg total\nimmed[total, 0]\n";
    for number in 0..BLOCKS {
        let _ = write!(
            text,
            ".begin\n    .reg value_{number}\n    immed[value_{number}, {number}]\n"
        );
        for step in 0..14 {
            let _ = write!(
                text,
                "    ; step {step}\n    alu[total, total, +, value_{number}]\n"
            );
        }
        let _ = write!(text, "    add_{number}(total)\nafter_{number}#:\n.end\n\n");
    }
    text + "end#: br[end#]\n"
}

#[test]
fn large_program_gets_complete_answers() {
    let text = program();
    assert!(text.lines().count() >= 10_000, "{}", text.lines().count());
    let mut editor = Editor::new(&[("main.uc", text.as_str())]);
    editor.open("main.uc");
    assert_eq!(editor.diagnostics("main.uc"), [""; 0]);
    let count = |value: &Value| value.as_array().map_or(0, Vec::len);

    let outline = editor.document_request("main.uc", "textDocument/documentSymbol");
    // The macros, the blocks, `total` and `end#`; in each block its register and its label.
    assert_eq!(count(&outline), MACROS + BLOCKS + 2);
    let last = &outline[MACROS + BLOCKS];
    assert_eq!(
        (&last["name"], count(&last["children"])),
        (&json!(".begin"), 2)
    );

    let lenses = editor.document_request("main.uc", "textDocument/codeLens");
    assert_eq!(count(&lenses), 1 + MACROS);
    assert_eq!(lenses[1]["command"]["title"], "1 use, 1 word each");
    assert_eq!(lenses[MACROS]["command"]["title"], "not used");

    let tokens = editor.document_request("main.uc", "textDocument/semanticTokens/full");
    assert!(count(&tokens["data"]) > 5 * 4 * 14 * BLOCKS);
    let mut parameters = editor.at("main.uc", "immed[tot|al");
    parameters["context"] = json!({ "includeDeclaration": true });
    let uses = editor.ask("textDocument/references", parameters);
    assert_eq!(count(&uses), 2 + BLOCKS * (2 * 14 + 1));
    let list = editor.completion("main.uc", "total, +, val|ue_219");
    let has = |name: &str| list.iter().any(|it| it == name);
    assert!(has("value_219") && has("total") && !has("value_218"));
}

#[test]
fn rapid_typing_is_checked_as_one_change() {
    let text = program();
    let mut editor = Editor::new(&[("main.uc", text.as_str())]);
    editor.open("main.uc");
    let typed = "; as fast as it goes, and a little longer";
    let shown = editor.type_without_waiting("main.uc", "end#: br[end#]", typed);
    assert!(shown < typed.len() / 2, "{shown} of {}", typed.len());
    assert_eq!(editor.diagnostics("main.uc"), [""; 0]);
    // The request is answered once, whichever comes first.
    let question = editor.at("main.uc", "immed[tot|al");
    let code = editor.request_and_cancel("textDocument/hover", question);
    assert!(code.is_none_or(|code| code == -32800), "{code:?}");
    assert!(editor.hover("main.uc", "immed[tot|al").contains("total"));
}
