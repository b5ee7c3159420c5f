//! Helpers shared by the protocols' keys and texts.

use std::ops::Range;

use npsim_chip::gpp::LongwordAddress;
use npsim_project::keys::Spanned;
use npsim_project::resolve::{PortAddress, PortGroups, Resolver};

use crate::ParameterError;

/// The prefix `port 1: ` if there are several groups of ports.
pub(crate) fn group_prefix(group: usize, groups: usize) -> String {
    if groups > 1 {
        format!("port {group}: ")
    } else {
        String::new()
    }
}

/// The spans of a section's keys, by name; `None` for keys that are absent.
macro_rules! places {
    ($keys:ident: $($key:ident),+) => {
        [$((stringify!($key), $keys.$key.as_ref().map(npsim_project::keys::Spanned::span))),+]
    };
}

pub(crate) use places;

/// Creates the law of each group of ports from its capacity in bytes per second, paired with the
/// addresses of its queues' counters. `None` if there have been mistakes since there were `before`.
/// A parameter that `law` refuses is reported at its key, or at the section if the key is absent.
pub(crate) fn group_laws<Law>(
    resolver: &mut Resolver<'_>,
    before: usize,
    groups: &PortGroups,
    queues: Option<&Spanned<String>>,
    law: impl Fn(u64) -> Result<Law, ParameterError>,
    places: &[(&str, Option<Range<usize>>)],
    section: &Range<usize>,
) -> Option<impl Iterator<Item = (Law, Vec<LongwordAddress>)>> {
    let queues = resolver.queue_locations(section, queues, &groups.ports);
    (resolver.mistakes() == before).then_some(())?;
    let laws = groups.capacity.iter().map(|bits| law(bits / 8));
    match laws.collect::<Result<Vec<Law>, _>>() {
        Ok(laws) => Some(laws.into_iter().zip(queues)),
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

/// Formats the counts that are not zero, with their names, as parts of a summary.
pub(crate) fn nonzero_counts(counts: &[(u64, &str)]) -> Vec<String> {
    let nonzero_counts = counts.iter().filter(|(count, _)| *count > 0);
    nonzero_counts
        .map(|(count, what)| format!("{what} {count}"))
        .collect()
}

/// The router's own addresses on each port. A port without one is reported as a mistake in the
/// `section`; `purpose` completes the message.
pub(crate) fn port_addresses(
    resolver: &mut Resolver<'_>,
    section: &Range<usize>,
    purpose: &str,
) -> Vec<Vec<PortAddress>> {
    let addresses = resolver.addresses().to_vec();
    if let Some(port) = addresses.iter().position(Vec::is_empty) {
        resolver.fail(
            section.clone(),
            format!("port {port} has no address {purpose}"),
            "",
            "add `address` to each [[port]], such as `address = \"10.1.0.1/16\"`",
        );
    }
    addresses
}
