//! What the protocols' keys and words have in common.

use std::ops::Range;

use npsim_project::resolve::Resolver;

use crate::ParameterError;

/// `port 1: ` where each of several ports is a group.
pub(crate) fn of_group(group: usize, groups: usize) -> String {
    if groups > 1 {
        format!("port {group}: ")
    } else {
        String::new()
    }
}

/// A law refuses a parameter: the mistake is where its key stands, or, if it was left
/// out, in the section.
pub(crate) fn out_of_range(
    resolver: &mut Resolver<'_>,
    places: &[(&str, Option<Range<usize>>)],
    section: &Range<usize>,
    error: ParameterError,
) {
    let typed = places.iter().find(|(name, _)| *name == error.name);
    let place = typed.and_then(|(_, place)| place.clone());
    let help = format!("`{}` must be {}", error.name, error.allowed);
    let message = format!("`{}` is out of its range", error.name);
    resolver.fail(place.unwrap_or_else(|| section.clone()), message, "", &help);
}
