//! Requests of a page's editor.

use serde_json::{Value, json};

use crate::page::Page;

const MAIN: &str = "/own/main.uc";
/// A mistake after characters of two UTF-16 units.
const TEXT: &str = "\
.reg first second
.begin
immed[first, 1] ; 😀
/* 😀 */ alu[second, first, +, thrid]
.end
ctx_arb[kill]
";

fn page() -> Page {
    let mut page = Page::default();
    page.put(MAIN, TEXT);
    page
}

/// The text after changes, which are applied from the end of the text.
fn edited(text: &str, edits: &Value) -> String {
    let mut lines: Vec<Vec<u16>> = text
        .split('\n')
        .map(|it| it.encode_utf16().collect())
        .collect();
    let mut edits: Vec<_> = edits.as_array().unwrap().clone();
    edits.sort_by_key(|it| (it["range"][0].as_u64(), it["range"][1].as_u64()));
    for edit in edits.iter().rev() {
        let at: Vec<usize> = { edit["range"].as_array().unwrap().iter() }
            .map(|it| it.as_u64().unwrap() as usize)
            .collect();
        let mut new = lines[at[0] - 1][..at[1]].to_vec();
        new.extend(edit["text"].as_str().unwrap().encode_utf16());
        new.extend(&lines[at[2] - 1][at[3]..]);
        lines.splice(at[0] - 1..at[2], [new]);
    }
    let lines: Vec<_> = lines
        .iter()
        .map(|it| String::from_utf16(it).unwrap())
        .collect();
    lines.join("\n")
}

#[test]
fn error_is_located_and_removed_by_its_fix() {
    let mut page = page();
    let found = page.ask(&json!({ "op": "check", "path": MAIN }));
    let messages = found["messages"].as_array().unwrap();
    let mistake = messages
        .iter()
        .find(|it| it["severity"] == "error")
        .unwrap();
    assert_eq!(mistake["path"], MAIN);
    let column = "/* 😀 */ alu[second, first, +, ".encode_utf16().count();
    assert_eq!(
        mistake["range"],
        json!([4, column, 4, column + 5]),
        "{mistake}"
    );
    let fixes = mistake["fixes"].as_array().unwrap();
    let fix = fixes.first().unwrap();
    let mended = edited(TEXT, &fix["edits"]);
    page.ask(&json!({ "op": "edit", "path": MAIN, "text": mended }));
    let found = page.ask(&json!({ "op": "check", "path": MAIN }));
    let messages = found["messages"].as_array().unwrap();
    assert!(
        messages.iter().all(|it| it["code"] != mistake["code"]),
        "{messages:?}"
    );
}

#[test]
fn open_and_check_report_the_same_errors() {
    let mut page = page();
    let found = page.ask(&json!({ "op": "check", "path": MAIN }));
    let errors = |answer: &Value| -> Vec<Value> {
        let messages = answer["messages"].as_array().unwrap().iter();
        let errors = messages.filter(|it| it["severity"] == "error");
        errors
            .map(|it| json!([it["path"], it["range"], it["code"]]))
            .collect()
    };
    let opened = page.try_ask(&json!({ "op": "open", "target": MAIN }));
    assert_eq!(opened["ok"], false);
    assert_eq!(errors(&opened), errors(&found));
    page.put("/own/npsim.toml", "name = 1\n");
    let opened = page.try_ask(&json!({ "op": "open", "target": "/own" }));
    assert_eq!(opened["messages"][0]["path"], "/own/npsim.toml", "{opened}");
    assert_eq!(opened["messages"][0]["range"][0], 1, "{opened}");
}

#[test]
fn names_support_hover_completion_references_and_rename() {
    let mut page = page();
    let at = |op: &str, line: u32, column: u32| json!({ "op": op, "path": MAIN, "line": line, "column": column });
    let hover = page.ask(&at("hover", 3, 1));
    assert!(
        hover["hover"]["markdown"]
            .as_str()
            .unwrap()
            .contains("immed"),
        "{hover}"
    );
    let places = page.ask(&at("definition", 3, 7));
    assert_eq!(places["places"][0]["range"][0], 1, "{places}");
    let uses = page.ask(&at("references", 3, 7));
    assert_eq!(uses["places"].as_array().unwrap().len(), 3, "{uses}");
    let mut rename = at("rename", 3, 7);
    rename["name"] = "other".into();
    let edits = page.ask(&rename);
    let renamed = edited(TEXT, &edits["edits"]);
    assert_eq!(renamed.matches("other").count(), 3, "{renamed}");
    rename["name"] = "2x".into();
    assert!(!page.refused(&rename).is_empty());
    let completion = page.ask(&at("completion", 3, 8));
    let items = completion["items"].as_array().unwrap();
    assert!(
        items
            .iter()
            .any(|it| it["label"] == "first" && it["kind"] == "register"),
        "{items:?}"
    );
    let signature = page.ask(&at("signature", 3, 13));
    assert_eq!(signature["signature"]["operand"], 1, "{signature}");
    let tokens = page.ask(&json!({ "op": "tokens", "path": MAIN }));
    let tokens = tokens["tokens"].as_array().unwrap();
    assert!(
        tokens.contains(&json!([3, 0, 5, "instruction", 0])),
        "{tokens:?}"
    );
    let layout = page.ask(&json!({ "op": "format", "path": MAIN }));
    assert!(!layout["edits"].as_array().unwrap().is_empty());
    for op in ["outline", "folds", "hints"] {
        page.ask(&json!({ "op": op, "path": MAIN }));
    }
}

#[test]
fn files_are_checked_within_their_project() {
    let mut page = Page::shipped();
    let source = "/microcode/router/npsim.toml";
    page.ask(&json!({ "op": "open", "target": source, "traffic": { "kind": "none" } }));
    let programs = page.ask(&json!({ "op": "open", "target": source }))["programs"].take();
    let main = programs[0]["source"].as_str().unwrap().to_owned();
    let check = json!({ "op": "check", "path": main });
    let found = page.ask(&check);
    let errors = |answer: &Value| {
        let messages = answer["messages"].as_array().unwrap().iter();
        messages.filter(|it| it["severity"] == "error").count()
    };
    assert_eq!(errors(&found), 0, "{found}");
    let lens = found["lenses"][0]["title"].as_str().unwrap();
    assert!(lens.contains("words"), "{lens}");
    // A removed library is reported as missing, and is found again.
    let library = page.ask(&json!({ "op": "files", "under": "/microcode/lib" }))["files"].take();
    let paths = { library.as_array().unwrap().iter() }.map(|it| it["path"].as_str().unwrap());
    let texts: Vec<_> = paths
        .map(|path| (path, page.file(&json!({ "op": "read", "path": path }))))
        .collect();
    page.ask(&json!({ "op": "remove", "path": "/microcode/lib" }));
    assert!(errors(&page.ask(&check)) > 0);
    for (path, text) in texts {
        page.put(path, text);
    }
    let found = page.ask(&check);
    assert_eq!(errors(&found), 0, "{found}");
}

#[test]
fn check_reports_only_programs_containing_the_file() {
    let mut page = page();
    let paths = |page: &mut Page, path: &str| {
        let found = page.ask(&json!({ "op": "check", "path": path }));
        let messages = found["messages"].as_array().unwrap().iter();
        messages
            .map(|it| it["path"].as_str().unwrap().to_owned())
            .collect::<Vec<_>>()
    };
    page.put("/own/other/main.uc", "alu[oops]\n");
    page.put(
        "/own/other/npsim.toml",
        "name = \"other\"\n[chip]\nprofile = \"none\"\n[[me]]\nid = \"0\"\nsource = \"main.uc\"\n",
    );
    assert_eq!(paths(&mut page, MAIN), [MAIN]);
    assert_eq!(
        paths(&mut page, "/own/other/main.uc"),
        ["/own/other/main.uc"]
    );
    assert_eq!(
        paths(&mut page, "/own/other/npsim.toml"),
        ["/own/other/npsim.toml"]
    );
    assert_eq!(paths(&mut page, MAIN), [MAIN]);
}
