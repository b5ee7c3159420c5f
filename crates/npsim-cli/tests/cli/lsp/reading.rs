//! Navigation in a text: folds, highlights, links, names of all projects, callers of a macro, and
//! its expansion.

use serde_json::{Value, json};

use super::client::Editor;

const MAIN: &str = "\
; A program
; of two comment lines.
#include \"lib.uc\"
.reg x
.begin
    .reg y
    immed[y, 1]
    outer(y)
    outer(x)
.end
    .if (x == 1)
        nop
    .else
        nop
        nop
    .endif
e#: br[e#]
";
const LIBRARY: &str = "\
#define DEPTH 4
#macro inner(r, n)
    immed[r, n]
#endm
#macro outer(r)
    inner(r, DEPTH)
    inner(r, 2)
#endm
";

fn editor() -> Editor {
    let mut editor = Editor::new(&[("main.uc", MAIN), ("lib.uc", LIBRARY)]);
    editor.open("main.uc");
    editor
}

#[test]
fn blocks_and_comments_fold() {
    let mut editor = editor();
    let answer = editor.document_request("main.uc", "textDocument/foldingRange");
    let row = |fold: &Value| {
        let kind = fold["kind"].as_str().unwrap_or("");
        format!("{}-{}{kind}", fold["startLine"], fold["endLine"])
    };
    let found: Vec<String> = answer.as_array().expect("a list").iter().map(row).collect();
    // The line that closes a block stays visible; a block of one line also folds.
    assert_eq!(found, ["0-1comment", "4-8", "10-11", "12-14"]);
}

#[test]
fn unbalanced_blocks_fold_where_possible() {
    let text = ".endif\n.begin\n.if (1)\nnop\n.end\n#endm\n#if 1\nnop\nnop\n";
    let mut editor = Editor::new(&[("a.uc", text)]);
    editor.open("a.uc");
    let answer = editor.document_request("a.uc", "textDocument/foldingRange");
    assert_eq!(answer.as_array().map(Vec::len), Some(1), "{answer}");
    assert_eq!(answer[0]["startLine"], 1);
}

#[test]
fn uses_are_highlighted_and_includes_are_links() {
    let mut editor = editor();
    let parameters = editor.at("main.uc", ".reg |y");
    let answer = editor.ask("textDocument/documentHighlight", parameters);
    let lines: Vec<String> = { answer.as_array().expect("a list").iter() }
        .map(|it| format!("{} {}", it["range"]["start"]["line"], it["kind"]))
        .collect();
    assert_eq!(lines, ["5 3", "6 2", "7 2"]);
    let links = editor.document_request("main.uc", "textDocument/documentLink");
    assert_eq!(links.as_array().map(Vec::len), Some(1));
    assert_eq!(links[0]["target"], editor.uri("lib.uc"));
    assert_eq!(
        links[0]["range"]["start"],
        json!({"line": 2, "character": 10})
    );
}

#[test]
fn workspace_symbols_match_by_subsequence() {
    let mut editor = editor();
    let mut names = |query: &str| -> Vec<String> {
        let answer = editor.ask("workspace/symbol", json!({ "query": query }));
        let row = |it: &Value| it["name"].as_str().expect("a name").to_owned();
        answer.as_array().expect("a list").iter().map(row).collect()
    };
    assert_eq!(names("dpt"), ["DEPTH"]);
    assert_eq!(names("er"), ["inner", "outer"]);
    assert_eq!(names("nothing of this"), [] as [&str; 0]);
}

#[test]
fn macro_calls_are_found_in_both_directions() {
    let mut editor = editor();
    let mut prepared = |mark: &str| {
        let parameters = editor.at("lib.uc", mark);
        editor.ask("textDocument/prepareCallHierarchy", parameters)[0].clone()
    };
    let (inner, outer) = (prepared("|inner(r, n)"), prepared("|outer(r)"));
    assert_eq!(inner["name"], "inner(r, n)");
    let row = |it: &Value, end: &str| {
        let ranges = it["fromRanges"].as_array().expect("places");
        let lines: Vec<String> = { ranges.iter() }
            .map(|it| it["start"]["line"].to_string())
            .collect();
        format!(
            "{} {}",
            it[end]["name"].as_str().expect("a name"),
            lines.join(",")
        )
    };
    let mut ask = |kind: &str, item: &Value, end: &str| -> Vec<String> {
        let answer = editor.ask(
            &format!("callHierarchy/{kind}Calls"),
            json!({ "item": item }),
        );
        { answer.as_array().expect("a list").iter() }
            .map(|it| row(it, end))
            .collect()
    };
    assert_eq!(ask("incoming", &inner, "from"), ["outer(r) 5,6"]);
    assert_eq!(ask("incoming", &outer, "from"), ["main.uc 7,8"]);
    assert_eq!(ask("outgoing", &outer, "to"), ["inner(r, n) 5,6"]);
    assert_eq!(ask("outgoing", &inner, "to"), [] as [&str; 0]);
}

#[test]
fn macro_expansion_is_shown() {
    let mut editor = editor();
    let mut expanded = |name: &str, mark: &str| {
        let parameters = editor.at(name, mark);
        editor.ask("npsim/expandMacro", parameters)
    };
    let whole = expanded("main.uc", "out|er(y)");
    assert_eq!(whole["name"], "outer");
    assert_eq!(whole["expansion"], "    immed[y, 4]\n    immed[y, 2]\n");
    assert_eq!(expanded("main.uc", ".re|g x"), Value::Null);
}
