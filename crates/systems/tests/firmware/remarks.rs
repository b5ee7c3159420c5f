//! Firmware that assembles without remarks.

use npsim::assemble::{Program, assemble_project};
use npsim::project::Project;

/// The programs of a project that assembles without a message.
pub fn assembled_without_messages(project: &Project) -> Vec<Program> {
    let (programs, messages) = assemble_project(project);
    let text = messages.rendered.join("\n");
    assert!(text.is_empty(), "{text}");
    programs.unwrap()
}
