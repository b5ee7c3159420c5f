//! What people are told of the task.

use npsim_chip::kernel::row::Row;

use super::task::IcmpCounts;

/// What statistics show.
pub(super) fn row(counts: &IcmpCounts) -> Row {
    Row::default()
        .with("time_exceeded", counts.time_exceeded)
        .with("unreachable", counts.unreachable)
        .with("too_big", counts.too_big)
        .with("echo_replies", counts.echo_replies)
        .with("silent", counts.silent)
        .with("limited", counts.limited)
        .with("given_up", counts.given_up)
}

/// The line of the summary: what happened at all.
pub(super) fn summary(counts: &IcmpCounts) -> String {
    let parts = [
        (counts.time_exceeded, "time exceeded"),
        (counts.unreachable, "unreachable"),
        (counts.too_big, "too big"),
        (counts.echo_replies, "echo replies"),
        (counts.silent, "not to be answered"),
        (counts.limited, "beyond the limit"),
        (counts.given_up, "given up"),
    ];
    let told: Vec<String> = { parts.into_iter() }
        .filter(|part| part.0 > 0)
        .map(|(count, what)| format!("{what} {count}"))
        .collect();
    if told.is_empty() {
        "nothing to answer".to_owned()
    } else {
        told.join("   ")
    }
}
