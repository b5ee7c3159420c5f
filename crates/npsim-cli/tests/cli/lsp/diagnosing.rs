use super::client::Editor;

const GOOD: &str = ".reg x\nimmed[x, 1]\nalu[x, x, +, 1]\nagain#: br[again#]\n";

#[test]
fn diagnostics_appear_and_disappear_while_typing() {
    let mut editor = Editor::new(&[("a.uc", GOOD)]);
    editor.open("a.uc");
    assert_eq!(editor.diagnostics("a.uc"), [] as [&str; 0]);
    editor.edit("a.uc", "alu[x, x", "alu[x, y");
    assert_eq!(editor.diagnostics("a.uc"), ["1 undefined-register `y`"]);
    editor.edit("a.uc", "alu[x, y", "alu[x, x");
    assert_eq!(editor.diagnostics("a.uc"), [] as [&str; 0]);
}

#[test]
fn positions_are_correct_after_multibyte_characters() {
    let mut editor = Editor::new(&[("a.uc", "/* 😀µ */ allu[--, --, B, 1]\nx#: br[x#]\n")]);
    editor.open("a.uc");
    assert_eq!(editor.diagnostics("a.uc"), ["1 unknown-instruction `allu`"]);
}

#[test]
fn project_definitions_are_known() {
    let project = "[[me]]\nid = 2\nsource = \"rx.uc\"\ndefine = { LIMIT = 5 }\n";
    let text = ".reg x\nimmed[x, LIMIT]\nalu[--, x, -, LIMIT]\nx#: br[x#]\n";
    let mut editor = Editor::new(&[("p/npsim.toml", project), ("p/rx.uc", text)]);
    editor.open("p/rx.uc");
    assert_eq!(editor.diagnostics("p/rx.uc"), [] as [&str; 0]);
    assert!(editor.hover("p/rx.uc", "LIMIT").contains("#define LIMIT 5"));
    assert!(
        editor
            .hover("p/rx.uc", "LIMIT")
            .contains("project p for microengine 2")
    );
}

#[test]
fn library_is_checked_through_including_programs() {
    let project = "include = [\"../lib\"]\n[[me]]\nid = 0\nsource = \"main.uc\"\n";
    let main = "#include \"lib.uc\"\n.reg x\nset(x)\nx#: br[x#]\n";
    let library = "#macro set(r)\n  immed[r, SIZE]\n#endm\n";
    let mut editor = Editor::new(&[
        ("p/npsim.toml", project),
        ("p/main.uc", main),
        ("lib/lib.uc", library),
    ]);
    editor.open("lib/lib.uc");
    // The macro's text is marked, as is its use in the program that is not open.
    let hints = editor.diagnostics("lib/lib.uc");
    assert!(
        hints
            .iter()
            .any(|shown| shown.starts_with('4') && shown.contains("`SIZE`")),
        "{hints:?}"
    );
    let uses = editor.diagnostics("p/main.uc");
    assert!(
        uses.iter().any(|shown| shown.ends_with("`set(x)`")),
        "{uses:?}"
    );
    editor.edit("lib/lib.uc", "#macro", "#define SIZE 4\n#macro");
    assert_eq!(editor.diagnostics("lib/lib.uc"), [] as [&str; 0]);
    assert_eq!(editor.diagnostics("p/main.uc"), [] as [&str; 0]);
}

#[test]
fn unincluded_file_is_checked_as_a_program() {
    let mut editor = Editor::new(&[("lib.uc", "#macro m(a)\n immed[a, 1]\n#endm\n")]);
    editor.open("lib.uc");
    assert_eq!(editor.diagnostics("lib.uc"), [] as [&str; 0]);
    // A file that is not on disk.
    editor.open_text("new.uc", "nop[\n");
    assert_eq!(editor.diagnostics("new.uc").len(), 1);
}

#[test]
fn bad_project_file_is_reported() {
    let mut editor = Editor::new(&[("npsim.toml", "nmae = 1\n"), ("a.uc", GOOD)]);
    editor.open("a.uc");
    let shown = &editor.shown["npsim.toml"];
    assert_eq!(shown.len(), 1, "{shown:?}");
    std::fs::write(
        editor.path("npsim.toml"),
        "[[me]]\nid = 0\nsource = \"a.uc\"\n",
    )
    .expect("write");
    let uri = editor.uri("npsim.toml");
    editor.notify(
        "workspace/didChangeWatchedFiles",
        serde_json::json!({"changes": [{"uri": uri, "type": 2}]}),
    );
    editor.edit("a.uc", "1]", "2]");
    assert_eq!(editor.shown["npsim.toml"].len(), 0);
}

#[test]
fn error_in_an_extended_project_is_reported_there() {
    let mut editor = Editor::new(&[
        ("p/npsim.toml", "extends = \"../base.toml\"\n"),
        ("base.toml", "nmae = 1\n"),
        ("p/a.uc", GOOD),
    ]);
    editor.open("p/a.uc");
    let shown = &editor.shown["base.toml"];
    assert_eq!(shown.len(), 1, "{shown:?}");
    assert!(!editor.shown.contains_key("p/npsim.toml"));
}

#[test]
fn unsaved_project_changes_take_effect() {
    let project = "[[me]]\nid = 0\nsource = \"a.uc\"\n";
    let mut editor = Editor::new(&[
        ("npsim.toml", project),
        ("a.uc", "immed[a0, LIMIT]\nx#: br[x#]\n"),
    ]);
    editor.open("a.uc").open("npsim.toml");
    assert_eq!(editor.diagnostics("a.uc").len(), 1);
    editor.edit("npsim.toml", "id = 0", "id = 0\ndefine = { LIMIT = 5 }");
    assert_eq!(editor.diagnostics("a.uc"), [] as [&str; 0]);
    editor.edit("npsim.toml", "LIMIT = 5", "LIMIT = ");
    assert_eq!(editor.shown["npsim.toml"].len(), 1);
}
