//! What people are told of the task.

use npsim_chip::kernel::row::Row;

use super::task::ArpCounts;

/// What statistics show.
pub(super) fn row(counts: &ArpCounts, next_hops: usize, known: usize) -> Row {
    Row::default()
        .with("next_hops", next_hops as u64)
        .with("known", known as u64)
        .with("requests", counts.requests)
        .with("replies", counts.replies)
        .with("learnt", counts.learnt)
        .with("forwarded", counts.forwarded)
        .with("displaced", counts.displaced)
        .with("unanswered", counts.unanswered)
        .with("given_up", counts.given_up)
}

/// The line of the summary.
pub(super) fn summary(counts: &ArpCounts, next_hops: usize, known: usize) -> String {
    let mut text = format!("{known} of {next_hops} next hops known");
    let parts = [
        (counts.requests, "requests"),
        (counts.replies, "replies"),
        (counts.forwarded, "forwarded"),
        (counts.displaced, "displaced"),
        (counts.unanswered, "without an answer"),
        (counts.given_up, "given up"),
    ];
    for (count, what) in parts.into_iter().filter(|part| part.0 > 0) {
        text += "   ";
        text += what;
        text += " ";
        text += &count.to_string();
    }
    text
}
