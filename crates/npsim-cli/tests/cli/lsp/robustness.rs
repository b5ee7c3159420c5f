use proptest::prelude::*;
use serde_json::json;

use super::client::Editor;

/// Every request about a text or a place in it.
const METHODS: &[&str] = &[
    "textDocument/codeAction",
    "textDocument/codeLens",
    "textDocument/completion",
    "textDocument/definition",
    "textDocument/documentHighlight",
    "textDocument/documentLink",
    "textDocument/documentSymbol",
    "textDocument/foldingRange",
    "textDocument/formatting",
    "textDocument/hover",
    "textDocument/inlayHint",
    "textDocument/prepareCallHierarchy",
    "textDocument/prepareRename",
    "textDocument/rangeFormatting",
    "textDocument/references",
    "textDocument/rename",
    "textDocument/semanticTokens/full",
    "textDocument/signatureHelp",
    "npsim/expandMacro",
];

const PIECES: &[&str] = &[
    "#macro m(a)",
    "#endm",
    "#if 1",
    "#else",
    "#endif",
    "#define X ",
    "#define_eval X (",
    "#include \"",
    "#while",
    "#endloop",
    "#for",
    "#",
    "##",
    ".reg ",
    ".sig ",
    ".begin",
    ".end",
    ".local x",
    ".if (",
    ".endif",
    ".while",
    ".import_var v",
    "alu[",
    "alu_shf[a, b, ",
    "br!=ctx[",
    "sram[read, $x, ",
    "ctx_swap[",
    "m(",
    "x",
    "$x",
    "$$y[",
    "n$z",
    "@q",
    "l#:",
    "l#",
    "[",
    "]",
    "(",
    ")",
    ",",
    ";",
    "//",
    "/*",
    "*/",
    "/**/",
    "\"",
    "'",
    "\\\n",
    "\n",
    "\n",
    "\r\n",
    " ",
    "\t",
    "😀",
    "µ",
    "\u{0}",
    "0x",
    "99999999999999999999",
    "--",
    "<<",
    "&",
    "!",
    "=",
    "`",
    "~",
];

proptest! {
    #![proptest_config(ProptestConfig { cases: 24, ..ProptestConfig::default() })]

    #[test]
    fn arbitrary_text_and_position_do_not_crash_the_server(
        picks in prop::collection::vec(0..PIECES.len(), 0..40),
        cuts in prop::collection::vec((0u32..12, 0u32..40), 1..5),
    ) {
        let text: String = picks.iter().map(|&at| PIECES[at]).collect();
        let mut editor = Editor::new(&[]);
        editor.open_text("a.uc", &text);
        let uri = editor.uri("a.uc");
        for (line, character) in cuts {
            let at = json!({
                "textDocument": {"uri": uri}, "position": {"line": line, "character": character},
                "newName": "other", "context": {"includeDeclaration": true, "diagnostics": [], "triggerKind": 1, "isRetrigger": false},
                "options": {"tabSize": 4, "insertSpaces": true},
                "range": {"start": {"line": 0, "character": 0},
                          "end": {"line": line, "character": character}},
            });
            for method in METHODS {
                let answer = editor.response(method, at.clone());
                let answer = serde_json::to_value(answer).expect("JSON");
                // Renaming is refused for names that cannot be renamed.
                let code = answer["error"]["code"].as_i64();
                let answered = code.is_none_or(|it| method.ends_with("ename") && it == -32803);
                prop_assert!(answered, "{method}: {answer}");
            }
            editor.notify(
                "textDocument/didChange",
                json!({"textDocument": {"uri": uri, "version": 2}, "contentChanges": [
                    {"range": {"start": {"line": line, "character": character}, "end": {"line": line, "character": character + 1}}, "text": "[#"},
                ]}),
            );
        }
    }
}

#[test]
fn unknown_and_malformed_requests_get_an_error() {
    let mut editor = Editor::new(&[]);
    let answer = editor.response("textDocument/moniker", json!({}));
    let answer = serde_json::to_value(answer).expect("JSON");
    assert_eq!(answer["error"]["code"], -32601);
    let answer = editor.response("textDocument/hover", json!({"nonsense": 1}));
    let answer = serde_json::to_value(answer).expect("JSON");
    assert_eq!(answer["error"]["code"], -32602);
    // A text that was never opened and is not on disk.
    let nowhere = json!({"textDocument": {"uri": "file:///nowhere/x.uc"}, "position": {"line": 0, "character": 0}});
    assert!(editor.ask("textDocument/hover", nowhere).is_null());
    editor.notify("textDocument/didOpen", json!({"textDocument": 3}));
    let odd = json!({"textDocument": {"uri": "untitled:Untitled-1", "languageId": "uc", "version": 1, "text": "nop\n"}});
    editor.notify(
        "textDocument/didOpen",
        json!({"textDocument": odd["textDocument"]}),
    );
    let place = json!({"textDocument": {"uri": "untitled:Untitled-1"}, "position": {"line": 0, "character": 1}});
    let answer = editor.ask("textDocument/hover", place);
    assert!(
        answer["contents"]["value"]
            .as_str()
            .is_some_and(|text| text.contains("nop")),
        "{answer}"
    );
}
