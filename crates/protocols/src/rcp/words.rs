//! The task in the summary of a run and in `npsim project`.

use npsim_project::quantity::{grouped, show_nanoseconds, show_rate};

use super::task::{RcpSetup, RcpState};
use crate::keys::group_prefix;

impl RcpState {
    /// The summary line of group `number` of `count`.
    pub(super) fn summary(&self, number: usize, count: usize) -> String {
        format!(
            "{}rate {}   input {}   average RTT {}   queue {} bytes   {} updates",
            group_prefix(number, count),
            show_rate(f64::from(self.rate.rate()) * 8.0),
            show_rate(self.input as f64 * 8.0),
            show_nanoseconds(self.rate.rtt() as f64),
            grouped(self.queue.into()),
            grouped(self.updates)
        )
    }
}

impl RcpSetup {
    /// The plan of the task.
    pub(super) fn plan(&self) -> String {
        format!(
            "{} groups of ports, counters of {} threads",
            self.groups.len(),
            self.counters.threads.len()
        )
    }
}
