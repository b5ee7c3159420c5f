//! What a project's names stand for.

use npsim::project::Project;

/// The number that sources see under a name.
///
/// # Panics
/// If there is no such name, or it is no number.
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
