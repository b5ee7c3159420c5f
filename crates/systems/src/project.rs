//! Loading and assembling of projects. A mistake in one fails the test.

use std::path::Path;

use npsim::assemble::{Program, assemble_project};
use npsim::project::{Overrides, Project};

/// Loads a project as the command does.
///
/// # Panics
/// Panics if it has a mistake.
#[must_use]
pub fn load(path: &Path, overrides: &Overrides) -> Project {
    Project::load(path, overrides, &npsim::registry())
        .unwrap_or_else(|error| panic!("{overrides:?}: {error}"))
}

/// Assembles the programs of a project; warnings are ignored.
///
/// # Panics
/// Panics if a source has an error.
#[must_use]
pub fn assembled(project: &Project) -> Vec<Program> {
    let (programs, messages) = assemble_project(project);
    programs.unwrap_or_else(|| panic!("{}", messages.rendered.join("\n")))
}
