//! What the protocols' keys and words have in common.

use std::ops::Range;

use npsim_project::resolve::{PortGroups, Resolver};

use crate::ParameterError;

/// `port 1: ` where each of several ports is a group.
pub(crate) fn of_group(group: usize, groups: usize) -> String {
    if groups > 1 {
        format!("port {group}: ")
    } else {
        String::new()
    }
}

/// Where keys of a section stand, by name, as far as they are given.
macro_rules! places {
    ($keys:ident: $($key:ident),+) => {
        [$((stringify!($key), $keys.$key.as_ref().map(npsim_project::keys::Spanned::span))),+]
    };
}

pub(crate) use places;

/// The law of each group of ports: what `law` makes of its capacity in bytes per
/// second. If it refuses a parameter the mistake is where the key stands, or in the
/// section if that was left out.
pub(crate) fn laws<Law>(
    resolver: &mut Resolver<'_>,
    groups: &PortGroups,
    law: impl Fn(u64) -> Result<Law, ParameterError>,
    places: &[(&str, Option<Range<usize>>)],
    section: &Range<usize>,
) -> Option<Vec<Law>> {
    let laws = groups.capacity.iter().map(|bits| law(bits / 8));
    match laws.collect() {
        Ok(laws) => Some(laws),
        Err(ParameterError { name, allowed }) => {
            let typed = places.iter().find(|(key, _)| *key == name);
            let place = typed.and_then(|(_, place)| place.clone());
            let message = format!("`{name}` is out of its range");
            let help = format!("`{name}` must be {allowed}");
            resolver.fail(place.unwrap_or_else(|| section.clone()), message, "", &help);
            None
        }
    }
}
