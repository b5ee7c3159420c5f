//! Layout and quick fixes.

use serde_json::{Value, json};

use super::client::Editor;

#[test]
fn formatting_edits_only_changed_lines() {
    let text = "; é𝄞\n.reg x\n immed[x,1]\nalu[--, --, B, x]\n    nop\ne#:br[e#]";
    let mut editor = Editor::new(&[("a.uc", text)]);
    editor.open("a.uc");
    let options = json!({"tabSize": 8, "insertSpaces": true});
    let uri = editor.uri("a.uc");
    let whole = editor.ask(
        "textDocument/formatting",
        json!({"textDocument": {"uri": uri}, "options": options}),
    );
    let wanted = "; é𝄞\n.reg x\n    immed[x, 1]\n    alu[--, --, B, x]\n    nop\ne#: br[e#]\n";
    assert_eq!(editor.apply_edits("a.uc", &whole), wanted);
    assert_eq!(
        whole.as_array().map(Vec::len),
        Some(3),
        "lines that stay are not edited"
    );
    let part = editor.ask(
        "textDocument/rangeFormatting",
        json!({"textDocument": {"uri": uri}, "options": options,
               "range": {"start": {"line": 3, "character": 2}, "end": {"line": 4, "character": 0}}}),
    );
    let wanted = text.replacen("\nalu", "\n    alu", 1);
    assert_eq!(editor.apply_edits("a.uc", &part), wanted);
}

/// Titles of the actions for a place, and the text that results from each.
fn actions(editor: &mut Editor, mark: &str) -> Vec<(String, String)> {
    let place = editor.at("a.uc", mark)["position"].clone();
    let answer = editor.ask(
        "textDocument/codeAction",
        json!({"textDocument": {"uri": editor.uri("a.uc")}, "context": {"diagnostics": []},
               "range": {"start": place, "end": place}}),
    );
    let uri = editor.uri("a.uc");
    let row = |action: &Value| {
        assert_eq!(action["kind"], "quickfix");
        assert!(action["diagnostics"][0]["message"].is_string(), "{action}");
        let edits = &action["edit"]["changes"][uri.as_str()];
        let title = action["title"].as_str().expect("a title").to_owned();
        (title, editor.apply_edits("a.uc", edits))
    };
    answer.as_array().expect("a list").iter().map(row).collect()
}

#[test]
fn fixes_of_diagnostics_are_offered_as_actions() {
    let text = ".reg count\nimmed[cuont, 1]\nalu[--, --, B, count]\ne#: br[e#]\n";
    let mut editor = Editor::new(&[("a.uc", text)]);
    editor.open("a.uc");
    assert!(!editor.diagnostics("a.uc").is_empty());
    let found = actions(&mut editor, "cuo|nt");
    let mended = text.replace("cuont", "count");
    assert!(found.iter().any(|(_, text)| *text == mended), "{found:?}");
    assert_eq!(
        actions(&mut editor, "e#: b|r"),
        [],
        "no message stands here"
    );
    // After the action, the message is gone.
    editor.edit("a.uc", "cuont", "count");
    assert_eq!(editor.diagnostics("a.uc"), [] as [&str; 0]);
}

#[test]
fn undeclared_names_can_be_declared() {
    let text = ".begin\n    immed[fresh, 1]\n    ctx_arb[come]\n.end\ne#: br[e#]\n";
    let mut editor = Editor::new(&[("a.uc", text)]);
    editor.open("a.uc");
    let found = actions(&mut editor, "fre|sh");
    let wanted = text.replace("    immed", "    .reg fresh\n    immed");
    assert!(
        found.contains(&("declare `.reg fresh`".to_owned(), wanted)),
        "{found:?}"
    );
    let found = actions(&mut editor, "com|e");
    let wanted = text.replace("    ctx_arb", "    .sig come\n    ctx_arb");
    assert!(
        found.contains(&("declare `.sig come`".to_owned(), wanted)),
        "{found:?}"
    );
}

#[test]
fn warnings_can_be_silenced_in_place() {
    let text = ".reg x\nalu[--, --, B, x]\ne#: br[e#]\n";
    let mut editor = Editor::new(&[("a.uc", text)]);
    editor.open("a.uc");
    let told = editor.diagnostics("a.uc");
    assert!(
        told.iter().all(|it| it.starts_with('2')) && !told.is_empty(),
        "{told:?}"
    );
    let found = actions(&mut editor, "B, |x");
    let (_, silenced) = found
        .iter()
        .find(|(title, _)| title.starts_with("silence"))
        .unwrap_or_else(|| panic!("{found:?}"));
    editor.open_text("a.uc", silenced);
    assert_eq!(editor.diagnostics("a.uc"), [] as [&str; 0], "{silenced}");
}

#[test]
fn unused_declarations_can_be_removed() {
    let text = ".reg used, unused\nimmed[used, 1]\nalu[--, --, B, used]\ne#: br[e#]\n";
    let mut editor = Editor::new(&[("a.uc", text)]);
    editor.open("a.uc");
    let found = actions(&mut editor, "unu|sed");
    let wanted = text.replace(", unused", "");
    let title = "remove the declaration of `unused`".to_owned();
    assert!(found.contains(&(title, wanted.clone())), "{found:?}");
    editor.open_text("a.uc", &wanted);
    assert_eq!(editor.diagnostics("a.uc"), [] as [&str; 0]);
}
