use super::client::Editor;

const MAIN: &str = "\
#include \"lib.uc\"
.reg x y
fill(x)
fill(y, LIMIT)
.begin
    .reg x
    immed[x, 1]
    alu[y, x, +, y]
.end
alu[--, x, -, y]
beq[out#]
out#: br[out#]
";
const LIBRARY: &str = "\
#define LIMIT 9
#macro fill(r)
    fill(r, 3)
#endm
#macro fill(r, value)
    immed[r, value]
    br[over#]
over#:
#endm
";

fn editor() -> Editor {
    let mut editor = Editor::new(&[("main.uc", MAIN), ("lib.uc", LIBRARY)]);
    editor.open("main.uc");
    assert_eq!(editor.diagnostics("main.uc"), [] as [&str; 0]);
    editor
}

#[test]
fn definitions_are_found_through_scopes_macros_and_files() {
    let mut editor = editor();
    let mut at = |file: &str, mark: &str| editor.definition(file, mark);
    assert_eq!(at("main.uc", "|x, +, y"), ["main.uc:6 x"]);
    assert_eq!(at("main.uc", "|x, -"), ["main.uc:2 x"]);
    assert_eq!(at("main.uc", "fill(|x)"), ["main.uc:2 x"]);
    assert_eq!(at("main.uc", "out|#]"), ["main.uc:12 out#"]);
    assert_eq!(at("main.uc", "fil|l(x)"), ["lib.uc:2 fill"]);
    assert_eq!(at("main.uc", "fil|l(y"), ["lib.uc:5 fill"]);
    assert_eq!(at("main.uc", "LIM|IT"), ["lib.uc:1 LIMIT"]);
    assert_eq!(at("main.uc", "lib|.uc"), ["lib.uc:1 "]);
    assert_eq!(at("main.uc", "b|eq"), [] as [&str; 0]);
    // In the macro's text: its own label, its parameters, and the other macro.
    assert_eq!(at("lib.uc", "ove|r#]"), ["lib.uc:8 over#"]);
    assert_eq!(at("lib.uc", "valu|e]"), ["lib.uc:5 value"]);
    assert_eq!(at("lib.uc", "|fill(r, 3)"), ["lib.uc:5 fill"]);
}

#[test]
fn definition_of_a_synonym_is_found() {
    let text = ".reg n\n.operand_synonym count n\nimmed[count, 1]\nalu[--, --, B, n]\ne#: br[e#]\n";
    let mut editor = Editor::new(&[("a.uc", text)]);
    editor.open("a.uc");
    assert_eq!(editor.diagnostics("a.uc"), [] as [&str; 0]);
    assert_eq!(editor.definition("a.uc", "[|count"), ["a.uc:2 count"]);
    assert_eq!(editor.definition("a.uc", "count |n"), ["a.uc:1 n"]);
    let renamed = editor.rename("a.uc", "[|count", "total").expect("edits");
    assert!(
        renamed["a.uc"].contains("synonym total n\nimmed[total, 1]"),
        "{renamed:?}"
    );
}

#[test]
fn references_are_found() {
    let mut editor = editor();
    let mut parameters = editor.at("main.uc", "|x, -");
    parameters["context"] = serde_json::json!({"includeDeclaration": true});
    let answer = editor.ask("textDocument/references", parameters);
    let places: Vec<_> = answer
        .as_array()
        .expect("a list")
        .iter()
        .map(|place| editor.describe_location(place))
        .collect();
    assert_eq!(places, ["main.uc:2 x", "main.uc:3 x", "main.uc:10 x"]);
}

/// The rows of an outline; nested rows follow `>`.
fn tree(rows: &serde_json::Value, depth: usize, found: &mut Vec<String>) {
    for row in rows.as_array().into_iter().flatten() {
        let (name, kind) = (row["name"].as_str().unwrap_or(""), &row["kind"]);
        found.push(format!("{}{name} {kind}", ">".repeat(depth)));
        tree(&row["children"], depth + 1, found);
    }
}

#[test]
fn outline_is_nested_by_scope() {
    let text = "\
.begin
    .reg x
    #macro once()
        nop
    #endm
    .begin
        .sig s
    e#: br[e#]
    .end
.end
.begin
nop
";
    let mut editor = Editor::new(&[("a.uc", text)]);
    editor.open("a.uc");
    let answer = editor.document_request("a.uc", "textDocument/documentSymbol");
    let mut found = Vec::new();
    tree(&answer, 0, &mut found);
    let expected = [
        ".begin 3",
        ">x 13",
        ">once 12",
        ">.begin 3",
        ">>s 24",
        ">>e# 20",
    ];
    assert_eq!(found, expected);
}

#[test]
fn outline_lists_definitions_of_the_file() {
    let mut editor = editor();
    let mut names = |file: &str| -> Vec<String> {
        let uri = editor.uri(file);
        let answer = editor.ask(
            "textDocument/documentSymbol",
            serde_json::json!({"textDocument": {"uri": uri}}),
        );
        let mut found = Vec::new();
        tree(&answer, 0, &mut found);
        found
    };
    let main = ["x 13", "y 13", ".begin 3", ">x 13", "out# 20"];
    assert_eq!(names("main.uc"), main);
    assert_eq!(names("lib.uc"), ["LIMIT 14", "fill 12", "fill 12"]);
}

#[test]
fn definition_of_a_project_name_is_its_key() {
    let project = "[[me]]\nid = 0\nsource = \"main.uc\"\n[[ring]]\nname = \"TX_RING\"\n\
                   size = 128\nstatus = \"full\"\n";
    let text = "busy#:\nbr_inp_state[TX_RING_STATUS, busy#]\ne#: br[e#]\n";
    let mut editor = Editor::new(&[("npsim.toml", project), ("main.uc", text)]);
    editor.open("main.uc");
    let parameters = editor.at("main.uc", "TX_RI|NG");
    let answer = editor.ask("textDocument/definition", parameters);
    assert_eq!(answer[0]["uri"], editor.uri("npsim.toml"), "{answer}");
    assert_eq!(answer[0]["range"]["start"]["line"], 4);
}
