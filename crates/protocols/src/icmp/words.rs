//! Statistics and summary of the task.

use npsim_chip::kernel::row::Row;

use super::task::IcmpCounts;
use crate::keys::nonzero_counts;

impl IcmpCounts {
    /// The statistics.
    pub(super) fn row(&self) -> Row {
        Row::default()
            .with("time_exceeded", self.time_exceeded)
            .with("unreachable", self.unreachable)
            .with("too_big", self.too_big)
            .with("echo_replies", self.echo_replies)
            .with("silent", self.silent)
            .with("limited", self.limited)
            .with("given_up", self.given_up)
    }

    /// The summary line: counters that are not zero.
    pub(super) fn summary(&self) -> String {
        let shown = nonzero_counts(&[
            (self.time_exceeded, "time exceeded"),
            (self.unreachable, "unreachable"),
            (self.too_big, "too big"),
            (self.echo_replies, "echo replies"),
            (self.silent, "not to be answered"),
            (self.limited, "beyond the limit"),
            (self.given_up, "given up"),
        ]);
        if shown.is_empty() {
            "nothing to answer".to_owned()
        } else {
            shown.join("   ")
        }
    }
}
