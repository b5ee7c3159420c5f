//! What the summary of a run and `npsim project` say of the task.

use npsim_project::quantity::{grouped, show_nanoseconds, show_rate};

use super::task::{RcpSetup, RcpState};
use crate::keys::of_group;

/// The line of a group out of so many.
pub(super) fn summary(number: usize, count: usize, state: &RcpState) -> String {
    format!(
        "{}rate {}   input {}   average RTT {}   queue {} bytes   {} updates",
        of_group(number, count),
        show_rate(f64::from(state.rate.rate()) * 8.0),
        show_rate(state.input as f64 * 8.0),
        show_nanoseconds(state.rate.rtt() as f64),
        grouped(state.queue.into()),
        grouped(state.updates)
    )
}

/// What the task will do.
pub(super) fn plan(setup: &RcpSetup) -> String {
    format!(
        "{} groups of ports, counters of {} threads",
        setup.groups.len(),
        setup.threads.len()
    )
}
