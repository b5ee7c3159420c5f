//! Projects from their files to programs. What is wrong with one ends the test.

use std::path::Path;

use npsim::assemble::{Program, assemble_project};
use npsim::project::{Overrides, Project};

/// A project as the command would load it.
///
/// # Panics
/// If it has a mistake.
#[must_use]
pub fn load(path: &Path, overrides: &Overrides) -> Project {
    Project::load(path, overrides, &npsim::registry())
        .unwrap_or_else(|error| panic!("{overrides:?}: {error}"))
}

/// The programs of a project; warnings are passed over.
///
/// # Panics
/// If a source has an error.
#[must_use]
pub fn assembled(project: &Project) -> Vec<Program> {
    let (programs, messages) = assemble_project(project);
    programs.unwrap_or_else(|| panic!("{}", messages.rendered.join("\n")))
}
