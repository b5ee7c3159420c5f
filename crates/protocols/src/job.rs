//! Helpers shared by jobs of slow-path tasks.

use npsim_chip::Cycle;
use npsim_chip::gpp::{LoadError, NextAction, Start};
use npsim_chip::kernel::trace_event::Level;

/// A quantity reported to observers.
pub(crate) const fn level(name: &'static str, unit: &'static str) -> Level {
    Level { name, unit }
}

/// The action after an access that takes `cost` cycles: the next access of the job or, if it is
/// done, the job that is due at `due`.
pub(crate) const fn after_access(cost: Cycle, due: Option<Cycle>) -> NextAction {
    match due {
        Some(due) => NextAction::Done { cost, due },
        None => NextAction::After(cost),
    }
}

/// Returns the address of each port on the router that runs `task`. A port has one address, or
/// one per router of a chain.
///
/// # Errors
/// Returns an error if a port has none for this router.
pub(crate) fn own_addresses<'a, A: Copy + 'a>(
    task: &'static str,
    ports: impl Iterator<Item = &'a Vec<A>>,
    start: &Start<'_>,
) -> Result<Vec<A>, LoadError> {
    let node = start.node();
    let own = |(port, addresses): (usize, &Vec<A>)| {
        let at = if addresses.len() == 1 { 0 } else { node };
        addresses.get(at).copied().ok_or(LoadError::Refused {
            task,
            reason: format!(
                "port {port} has {} addresses, and there is a router {}",
                addresses.len(),
                node + 1
            ),
        })
    };
    ports.enumerate().map(own).collect()
}
