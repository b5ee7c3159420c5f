//! The microcode of the repository assembles without a message, project by
//! project, and its disassembly assembles to the same words.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use npsim_asm::{Includes, Options, assemble};
use npsim_image::disassemble;
use npsim_project::assemble::assemble_project;
use npsim_project::{Overrides, Project};

/// One text, which includes nothing.
struct SingleSource(String);

impl Includes for SingleSource {
    fn load(&self, name: &str, including: Option<&str>) -> Result<(String, String), String> {
        match including {
            None => Ok((name.to_owned(), self.0.clone())),
            Some(_) => Err(format!("no text `{name}`")),
        }
    }
}

/// All files below a folder with an extension.
pub(super) fn files(folder: &Path, extension: &str, found: &mut BTreeSet<PathBuf>) {
    for entry in std::fs::read_dir(folder).expect("a folder") {
        let path = entry.expect("an entry").path();
        if path.is_dir() {
            files(&path, extension, found);
        } else if path.extension().is_some_and(|is| is == extension) {
            found.insert(path);
        }
    }
}

#[test]
fn all_projects_assemble_and_disassembly_round_trips() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../microcode");
    let mut targets = BTreeSet::new();
    files(&root, "toml", &mut targets);
    // A part of a project is assembled with what extends it.
    targets.retain(|path| !path.to_string_lossy().ends_with(".part.toml"));
    targets.retain(|path| !path.ends_with("Cargo.toml"));
    // These are run one by one, in the default project.
    files(&root.join("tutorial"), "uc", &mut targets);
    // The sources of a project need the names that it defines.
    let hub = root.join("tutorial/hub");
    targets.retain(|path| !path.starts_with(&hub) || path.ends_with("npsim.toml"));
    assert!(targets.len() > 5, "{targets:?}");
    let overrides = Overrides {
        include: vec![root.join("lib")],
        ..Overrides::default()
    };
    for target in targets {
        let project = Project::load(&target, &overrides, &npsim_protocols::registry())
            .unwrap_or_else(|problems| panic!("{}: {problems}", target.display()));
        let (programs, messages) = assemble_project(&project);
        let rendered = messages.rendered.join("\n");
        assert!(rendered.is_empty(), "{}:\n{rendered}", target.display());
        for program in programs.expect("no message, so programs") {
            let text = SingleSource(disassemble(&program.image));
            let again = assemble("again.uc", &text, &Options::default());
            let again = again.image.expect("what was disassembled assembles");
            assert_eq!(program.image.words, again.words, "{}", target.display());
            assert_eq!(program.image.nn_mode, again.nn_mode);
        }
    }
}
