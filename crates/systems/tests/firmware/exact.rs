//! The name tables in the images of all shipped firmware are exact.

use std::path::{Path, PathBuf};

use npsim::project::Overrides;

use crate::remarks::assembled_without_messages;
use npsim_systems::project::load;
use npsim_testkit::exact_names::inexact_names;

/// Project files below a folder.
fn projects(folder: &Path, found: &mut Vec<PathBuf>) {
    for entry in std::fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        if path.is_dir() {
            projects(&path, found);
        } else if name.ends_with(".toml") && name != "Cargo.toml" && !name.ends_with(".part.toml") {
            found.push(path);
        }
    }
}

#[test]
fn shipped_firmware_has_exact_name_tables() {
    let mut found = Vec::new();
    projects(
        &Path::new(env!("CARGO_MANIFEST_DIR")).join("../../microcode"),
        &mut found,
    );
    assert!(found.len() > 40, "{found:?}");
    let mut seen = Vec::new();
    let mut wrong = Vec::new();
    for path in found {
        for program in assembled_without_messages(&load(&path, &Overrides::default())) {
            // Most microengines of a project run the same words.
            if !seen.contains(&program.image) {
                wrong.extend(inexact_names(&program.image, &program.sources, false));
                seen.push(program.image);
            }
        }
    }
    wrong.sort();
    wrong.dedup();
    assert!(
        wrong.is_empty(),
        "{} findings\n{}",
        wrong.len(),
        wrong.join("\n")
    );
}
