//! Settings, and sources that belong to no project.

use std::path::Path;

use serde_json::json;

use super::client::Editor;
use crate::harness::root;

const MAIN: &str = "#include \"far.uc\"\nhere#: br[here#]\n";

#[test]
fn include_folders_can_be_set_at_startup_and_later() {
    let files = [("main.uc", MAIN), ("other/far.uc", "#define FAR 1\n")];
    let settings = json!({"include": ["other"]});
    let mut editor = Editor::with_settings(&files, &settings);
    editor.open("main.uc");
    assert_eq!(editor.diagnostics("main.uc"), [] as [&str; 0]);

    let mut editor = Editor::new(&files);
    editor.open("main.uc");
    assert!(!editor.diagnostics("main.uc").is_empty());
    editor.notify(
        "workspace/didChangeConfiguration",
        json!({"settings": {"npsim": settings}}),
    );
    editor.edit("main.uc", "here#:", "now#:");
    editor.edit("main.uc", "br[here#]", "br[now#]");
    assert_eq!(editor.diagnostics("main.uc"), [] as [&str; 0]);
}

#[test]
fn project_outside_the_workspace_can_be_set() {
    let text = ".reg x\nimmed[x, ONLY_HERE]\nalu[--, --, B, x]\nhere#: br[here#]\n";
    let mut editor = Editor::new(&[("a.uc", text)]);
    editor.open("a.uc");
    assert!(!editor.diagnostics("a.uc").is_empty());
    let elsewhere = tempfile::tempdir().expect("a folder");
    let project = format!(
        "[[me]]\nid = 0\nsource = {:?}\ndefine = {{ ONLY_HERE = 3 }}\n",
        editor.path("a.uc")
    );
    std::fs::write(elsewhere.path().join("npsim.toml"), project).expect("write");
    editor.notify(
        "workspace/didChangeConfiguration",
        json!({"settings": {"npsim": {"project": elsewhere.path()}}}),
    );
    editor.edit("a.uc", "x\nimmed", "x ; a change\nimmed");
    assert_eq!(editor.diagnostics("a.uc"), [] as [&str; 0]);
}

/// Sources of the tutorials belong to no project and include files from `lib`.
#[test]
fn sibling_lib_folder_is_found() {
    let read = |name: &str| std::fs::read_to_string(root().join("microcode").join(name));
    let mut names = vec!["tutorial/wire8.uc".to_owned()];
    for entry in std::fs::read_dir(root().join("microcode/lib")).expect("a folder") {
        let name = entry.expect("an entry").file_name();
        names.push(format!("lib/{}", name.to_string_lossy()));
    }
    let texts: Vec<(String, String)> = { names.into_iter() }
        .filter(|name| npsim::project::is_source(Path::new(name)))
        .map(|name| (name.clone(), read(&name).expect("a source")))
        .collect();
    let files: Vec<(&str, &str)> = { texts.iter() }
        .map(|(name, text)| (name.as_str(), text.as_str()))
        .collect();
    let mut editor = Editor::new(&files);
    editor.open("tutorial/wire8.uc");
    assert_eq!(editor.diagnostics("tutorial/wire8.uc"), [] as [&str; 0]);
}

/// A source that, for example, `--set me.receive.source=twice.uc` puts into a project.
#[test]
fn source_next_to_a_project_file_uses_its_definitions() {
    let project = "[[me]]\nid = \"0\"\nsource = \"main.uc\"\ndefine = { OURS = 3 }\n";
    let text = ".reg x\nimmed[x, OURS]\nalu[--, --, B, x]\ne#: br[e#]\n";
    let files = [
        ("npsim.toml", project),
        ("main.uc", "e#: br[e#]\n"),
        ("other.uc", text),
        ("deeper/other.uc", text),
    ];
    let mut editor = Editor::new(&files);
    editor.open("other.uc");
    assert_eq!(editor.diagnostics("other.uc"), [] as [&str; 0]);
    editor.open("deeper/other.uc");
    assert!(!editor.diagnostics("deeper/other.uc").is_empty());
}
