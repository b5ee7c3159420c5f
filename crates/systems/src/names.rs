//! Values of a project's names.

use npsim::project::Project;

/// Returns the number that a name has in the sources.
///
/// # Panics
/// Panics if there is no such name or it is not a number.
#[must_use]
pub fn value(project: &Project, name: &str) -> u32 {
    let mut defines = project.programs.iter().flat_map(|plan| &plan.defines);
    let (_, text) = defines
        .find(|(known, _)| known == name)
        .unwrap_or_else(|| panic!("no {name}"));
    match text.strip_prefix("0x") {
        Some(digits) => u32::from_str_radix(digits, 16),
        None => text.parse(),
    }
    .unwrap_or_else(|_| panic!("{name} is `{text}`"))
}
