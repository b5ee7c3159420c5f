//! The task in the summary of a run and in `npsim project`.

use npsim_project::quantity::{grouped, show_nanoseconds, show_rate};

use super::task::{XcpLayout, XcpSetup, XcpState};
use super::time_to_nanoseconds;
use crate::keys::group_prefix;

impl XcpState {
    /// The summary line of group `number` of `count`.
    pub(super) fn summary(&self, number: usize, count: usize) -> String {
        let last = self.last.as_ref();
        let pools = last.map(|last| last.pools).unwrap_or_default();
        format!(
            "{}input {}   feedback +{} -{} byte/s   average RTT {}   queue {} bytes   {} intervals",
            group_prefix(number, count),
            show_rate(last.map_or(0, |last| last.input_bandwidth) as f64 * 8.0),
            grouped(pools.residue_pos.into()),
            grouped(pools.residue_neg.into()),
            show_nanoseconds(time_to_nanoseconds(self.control.avg_rtt()) as f64),
            grouped(self.queue.queue().into()),
            grouped(self.intervals)
        )
    }
}

impl XcpSetup {
    /// The plan of the task.
    pub(super) fn plan(&self) -> String {
        format!(
            "{} groups of ports, sums {}, {}",
            self.groups.len(),
            match &self.sums {
                Some(sums) => format!("of {} threads", sums.threads.len()),
                None => "in the shared state".into(),
            },
            match self.layout {
                XcpLayout::Locked { lock: true } => "under a lock",
                XcpLayout::Locked { lock: false } => "without the lock",
                XcpLayout::Split => "in two banks",
            }
        )
    }
}
