//! Additions of an editor between and above the words: hints, lenses, colours, signatures.

use serde_json::{Value, json};

use super::client::Editor;

const MAIN: &str = "\
.reg x @shared
.sig done
.reg $t
#macro twice(r)
    alu[r, r, +, 1]
    alu[r, r, +, 1]
#endm
#macro never(a, b)
    nop
#endm
#ifdef NOWHERE
    immed[$unknown, 9]
#endif
    immed[x, 1]
    twice(x)
    immed[@shared, 2]
    alu[--, x, -, @shared]
    sram[read, $t, x, 0, 1], sig_done[done]
    ctx_arb[done]
    alu[--, --, B, $t]
    beq[e#]
e#: br[e#]
";

fn editor() -> Editor {
    let mut editor = Editor::new(&[("main.uc", MAIN)]);
    editor.open("main.uc");
    assert_eq!(editor.diagnostics("main.uc"), [] as [&str; 0]);
    editor
}

#[test]
fn inlay_hints_show_what_the_assembler_chose() {
    let mut editor = editor();
    let hints = |editor: &mut Editor, from: usize, to: usize| -> Vec<String> {
        let answer = editor.ask(
            "textDocument/inlayHint",
            json!({"textDocument": {"uri": editor.uri("main.uc")},
                   "range": {"start": {"line": from, "character": 0},
                             "end": {"line": to, "character": 0}}}),
        );
        let row = |hint: &Value| {
            let place = &hint["position"];
            let label = hint["label"].as_str().expect("a label");
            format!("{}:{} {label}", place["line"], place["character"])
        };
        answer.as_array().expect("a list").iter().map(row).collect()
    };
    let all = hints(&mut editor, 0, 99);
    let has = |start: &str| all.iter().any(|it| it.starts_with(start));
    assert!(has("0:6 = a") || has("0:6 = b"), "{all:?}");
    assert!(has("0:14 = @"), "{all:?}");
    assert!(has("1:9 = "), "{all:?}");
    assert!(has("2:7 = $"), "{all:?}");
    assert!(has("14:12 2 words"), "{all:?}");
    assert!(has("20:11 taken: + "), "{all:?}");
    let some = hints(&mut editor, 14, 15);
    assert_eq!(some, ["14:12 2 words"]);
}

#[test]
fn lenses_show_time_shares_of_the_last_profile() {
    let text = "\
#macro spin(r)
    alu[r, r, +, 1]
    alu[r, r, +, 1]
#endm
.reg x
immed[x, 0]
e#:
spin(x)
br[e#]
";
    let mut editor = Editor::new(&[("main.uc", text)]);
    editor.open("main.uc");
    let titles = |editor: &mut Editor| -> Vec<String> {
        let answer = editor.document_request("main.uc", "textDocument/codeLens");
        let title = |it: &Value| it["command"]["title"].as_str().expect("a title").to_owned();
        answer
            .as_array()
            .expect("a list")
            .iter()
            .map(title)
            .collect()
    };
    assert!(
        titles(&mut editor)
            .iter()
            .all(|it| !it.contains("of the time"))
    );
    let folder = editor.folder.path().to_owned();
    let run = std::process::Command::new(env!("CARGO_BIN_EXE_npsim"))
        .args([
            "run",
            "main.uc",
            "--until",
            "10us",
            "--quiet",
            "--profile=profile.json",
        ])
        .current_dir(&folder)
        .output()
        .expect("it runs");
    assert!(run.status.success(), "{run:?}");
    let found = titles(&mut editor);
    // Two of the five cycles of an iteration: the branch aborts two slots.
    assert!(found[0].ends_with(", 100.0 % of the time"), "{found:?}");
    assert_eq!(found[1], "1 use, 2 words each, 40.0 % of the time");
    // A text that has changed since is another program.
    std::thread::sleep(std::time::Duration::from_millis(20));
    std::fs::write(folder.join("main.uc"), text).expect("write it");
    let found = titles(&mut editor);
    assert!(
        found[1].ends_with("of the time before the last change"),
        "{found:?}"
    );
}

#[test]
fn lenses_count_words_and_uses() {
    let mut editor = editor();
    let answer = editor.document_request("main.uc", "textDocument/codeLens");
    let row = |lens: &Value| {
        let title = lens["command"]["title"].as_str().expect("a title");
        format!("{} {title}", lens["range"]["start"]["line"])
    };
    let found: Vec<String> = answer.as_array().expect("a list").iter().map(row).collect();
    assert!(found[0].starts_with("0 10 of 4096 words"), "{found:?}");
    assert_eq!(found[1..], ["3 1 use, 2 words each", "7 not used"]);
}

/// Each word that has a meaning, with its kind.
fn semantic_tokens(editor: &mut Editor) -> Vec<(String, &'static str, u64)> {
    const NAMES: [&str; 11] = [
        "keyword",
        "modifier",
        "macro",
        "parameter",
        "enumMember",
        "variable",
        "property",
        "event",
        "function",
        "typeParameter",
        "comment",
    ];
    let answer = editor.document_request("main.uc", "textDocument/semanticTokens/full");
    let data: Vec<u64> = { answer["data"].as_array().expect("numbers").iter() }
        .map(|it| it.as_u64().expect("a number"))
        .collect();
    let lines: Vec<&str> = MAIN.lines().collect();
    let (mut line, mut column) = (0, 0);
    let mut found = Vec::new();
    for five in data.chunks(5) {
        if five[0] > 0 {
            column = 0;
        }
        line += five[0] as usize;
        column += five[1] as usize;
        let word = &lines[line][column..column + five[2] as usize];
        found.push((word.to_owned(), NAMES[five[3] as usize], five[4]));
    }
    found
}

#[test]
fn semantic_tokens_classify_words() {
    let mut editor = editor();
    let found = semantic_tokens(&mut editor);
    let is = |word: &str, kind: &str, modifiers: u64| {
        let known = found
            .iter()
            .any(|it| it.0 == word && it.1 == kind && it.2 == modifiers);
        assert!(known, "{word} is no {kind}: {found:?}");
    };
    is("x", "variable", 1);
    is("x", "variable", 0);
    is("@shared", "variable", 3);
    is("@shared", "variable", 2);
    is("done", "event", 1);
    is("$t", "property", 0);
    is("twice", "macro", 0);
    is("r", "parameter", 0);
    is("alu", "keyword", 0);
    is("e#", "function", 1);
    is("#ifdef", "modifier", 0);
    // Text excluded by a condition.
    is("$unknown", "comment", 0);
    assert!(
        !found
            .iter()
            .any(|it| it.0 == "$unknown" && it.1 != "comment")
    );
}

#[test]
fn signature_help_marks_the_active_operand() {
    let mut editor = Editor::new(&[(
        "a.uc",
        "; Doubles.\n#macro twice(r, times)\n    nop\n#endm\nalu[a, b, +, 1]\ntwice(a, 2)\nnop\n",
    )]);
    editor.open("a.uc");
    let mut form = |mark: &str| {
        let parameters = editor.at("a.uc", mark);
        let answer = editor.ask("textDocument/signatureHelp", parameters);
        let Some(form) = answer["signatures"].get(0) else {
            return String::new();
        };
        let label = form["label"].as_str().expect("a label");
        let at = answer["activeParameter"].as_u64().expect("a number") as usize;
        let range = &form["parameters"][at]["label"];
        let place = |n: usize| range[n].as_u64().expect("a number") as usize;
        format!("{label} {}", &label[place(0)..place(1)])
    };
    assert_eq!(form("alu[a|, b"), "alu[dest, a, op, b] dest");
    assert_eq!(form("alu[a, b, |+"), "alu[dest, a, op, b] op");
    assert_eq!(form("twice(a, |2)"), "twice(r, times) times");
    assert_eq!(form("no|p\n#endm"), "");
}
