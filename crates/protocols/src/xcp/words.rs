//! What the summary of a run and `npsim project` say of the task.

use npsim_project::quantity::{grouped, show_nanoseconds, show_rate};

use super::task::{XcpLayout, XcpSetup, XcpState};
use super::time_to_nanoseconds;
use crate::keys::of_group;

/// The line of a group out of so many.
pub(super) fn summary(number: usize, count: usize, state: &XcpState) -> String {
    let last = state.last.as_ref();
    let pools = last.map(|last| last.pools).unwrap_or_default();
    format!(
        "{}input {}   feedback +{} -{} byte/s   average RTT {}   queue {} bytes   {} intervals",
        of_group(number, count),
        show_rate(last.map_or(0, |last| last.input_bandwidth) as f64 * 8.0),
        grouped(pools.residue_pos.into()),
        grouped(pools.residue_neg.into()),
        show_nanoseconds(time_to_nanoseconds(state.control.avg_rtt()) as f64),
        grouped(state.queue.queue().into()),
        grouped(state.intervals)
    )
}

/// What the task will do.
pub(super) fn plan(setup: &XcpSetup) -> String {
    format!(
        "{} groups of ports, sums {}, {}",
        setup.groups.len(),
        match &setup.sums {
            Some(sums) => format!("of {} threads", sums.threads.len()),
            None => "in the shared state".into(),
        },
        match setup.layout {
            XcpLayout::Locked { lock: true } => "under a lock",
            XcpLayout::Locked { lock: false } => "without the lock",
            XcpLayout::Split => "in two banks",
        }
    )
}
