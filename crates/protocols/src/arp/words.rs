//! Statistics and summary of the task.

use npsim_chip::kernel::row::Row;

use super::task::ArpCounts;
use crate::keys::nonzero_counts;

impl ArpCounts {
    /// The statistics, with the number of next hops and of those whose address is known.
    pub(super) fn row(&self, next_hops: usize, known: usize) -> Row {
        Row::default()
            .with("next_hops", next_hops as u64)
            .with("known", known as u64)
            .with("requests", self.requests)
            .with("replies", self.replies)
            .with("learnt", self.learnt)
            .with("forwarded", self.forwarded)
            .with("displaced", self.displaced)
            .with("unanswered", self.unanswered)
            .with("given_up", self.given_up)
    }

    /// The summary line.
    pub(super) fn summary(&self, next_hops: usize, known: usize) -> String {
        let mut parts = vec![format!("{known} of {next_hops} next hops known")];
        parts.extend(nonzero_counts(&[
            (self.requests, "requests"),
            (self.replies, "replies"),
            (self.forwarded, "forwarded"),
            (self.displaced, "displaced"),
            (self.unanswered, "without an answer"),
            (self.given_up, "given up"),
        ]));
        parts.join("   ")
    }
}
