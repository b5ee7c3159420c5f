//! Each crate builds from its packed form: no source reads a file outside of its crate's folder.

use std::path::{Component, Path, PathBuf};

use npsim_structure::workspace;

/// Files that look outside of their crate on purpose, and do without what is not there.
const ALLOWED: &[&str] = &["crates/lab/build.rs"];
/// What takes a file into a program.
const MACROS: &[&str] = &["include_str!(", "include_bytes!(", "include!("];

/// Rust files of a crate that are built into it: those below `src/`, and the build script with
/// its modules.
fn built(crate_folder: &Path, folder: &Path, files: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap().flatten() {
        let path = entry.path();
        let name = entry.file_name();
        let is_other = folder == crate_folder
            && ["tests", "benches", "examples", "target"]
                .iter()
                .any(|it| name == *it);
        if path.is_dir() && !is_other {
            built(crate_folder, &path, files);
        } else if path.extension().is_some_and(|ending| ending == "rs") {
            files.push(path);
        }
    }
}

/// Whether a relative path leads out of the `depth` folders that are between it and the crate.
fn leads_out(path: &str, depth: usize) -> bool {
    let mut depth = depth as isize;
    for component in Path::new(path).components() {
        match component {
            Component::ParentDir => depth -= 1,
            Component::Normal(_) => depth += 1,
            _ => {}
        }
        if depth < 0 {
            return true;
        }
    }
    false
}

#[test]
fn sources_of_a_crate_read_no_file_outside_of_it() {
    let root = workspace::here();
    let mut outside = Vec::new();
    for member in workspace::read(&root).unwrap() {
        let folder = root.join(&member.name);
        let mut files = Vec::new();
        built(&folder, &folder, &mut files);
        assert!(!files.is_empty(), "{} has no sources", member.name);
        for file in files {
            let below = file.strip_prefix(&folder).unwrap();
            let name = Path::new(&member.name).join(below);
            if ALLOWED.iter().any(|allowed| Path::new(allowed) == name) {
                continue;
            }
            let depth = below.components().count() - 1;
            let text = std::fs::read_to_string(&file).unwrap();
            let is_build_script = below.ends_with("build.rs") || below.starts_with("build");
            for line in text.lines() {
                let takes = MACROS.iter().any(|it| line.contains(it));
                // The pieces between quotation marks.
                let mut strings = line.split('"').skip(1).step_by(2);
                let out = strings.any(|it| it.contains("../") && leads_out(it, depth));
                if (takes || is_build_script) && out {
                    outside.push(format!("{}: {}", name.display(), line.trim()));
                }
            }
        }
    }
    assert!(outside.is_empty(), "{}", outside.join("\n"));
}

#[test]
fn paths_that_lead_out_of_a_crate_are_recognised() {
    assert!(leads_out("../../../docs/src/json.md", 1));
    assert!(leads_out("../../isa", 0));
    assert!(leads_out("a/../../b", 0));
    assert!(!leads_out("../studies/hauger/study.toml", 1));
    assert!(!leads_out("page/../page.css", 0));
}
