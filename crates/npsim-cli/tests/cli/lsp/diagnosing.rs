use super::client::Editor;

const GOOD: &str = ".reg x\nimmed[x, 1]\nalu[x, x, +, 1]\nagain#: br[again#]\n";

#[test]
fn messages_come_and_go_while_typing() {
    let mut editor = Editor::new(&[("a.uc", GOOD)]);
    editor.open("a.uc");
    assert_eq!(editor.diagnostics("a.uc"), [] as [&str; 0]);
    editor.edit("a.uc", "alu[x, x", "alu[x, y");
    assert_eq!(editor.diagnostics("a.uc"), ["1 undefined-register `y`"]);
    editor.edit("a.uc", "alu[x, y", "alu[x, x");
    assert_eq!(editor.diagnostics("a.uc"), [] as [&str; 0]);
}

#[test]
fn places_are_right_behind_characters_that_are_long() {
    let mut editor = Editor::new(&[("a.uc", "/* 😀µ */ allu[--, --, B, 1]\nx#: br[x#]\n")]);
    editor.open("a.uc");
    assert_eq!(editor.diagnostics("a.uc"), ["1 unknown-instruction `allu`"]);
}

#[test]
fn a_projects_names_count() {
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
fn a_library_is_seen_through_the_programs_that_include_it() {
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
    assert_eq!(
        editor.diagnostics("p/main.uc"),
        ["2 unused-register `x`"; 0]
    );
}

#[test]
fn a_text_is_its_own_program_if_nothing_includes_it() {
    let mut editor = Editor::new(&[("lib.uc", "#macro m(a)\n immed[a, 1]\n#endm\n")]);
    editor.open("lib.uc");
    assert_eq!(editor.diagnostics("lib.uc"), [] as [&str; 0]);
    // A file that is not on disk.
    editor.open_text("new.uc", "nop[\n");
    assert_eq!(editor.diagnostics("new.uc").len(), 1);
}

#[test]
fn a_bad_project_file_is_told() {
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
    editor.tell(
        "workspace/didChangeWatchedFiles",
        serde_json::json!({"changes": [{"uri": uri, "type": 2}]}),
    );
    editor.edit("a.uc", "1]", "2]");
    assert_eq!(editor.shown["npsim.toml"].len(), 0);
}

#[test]
fn a_mistake_in_what_a_project_extends_is_told_there() {
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
fn a_project_counts_as_it_is_in_the_editor() {
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
