//! The summary of a network's results for people.

use std::fmt::Write as _;
use std::time::Duration;

use npsim::quantity::{grouped, percent};
use npsim_network_file::results::Results;
use npsim_network_file::transfer_results::Outcome;
use npsim_report::network_page::{flow_cells, line_cells, transfer_cells};
use npsim_session::text_table::TextTable;

/// The maximum number of flows that are listed individually.
const MAX_FLOWS: usize = 40;

/// The cost of a run on the host.
pub struct HostCost {
    /// The host time that the run took.
    pub took: Duration,
    /// The number of skipped chip cycles, and of all chip cycles.
    pub skipped: (u64, u64),
}

pub fn text(results: &Results, host: &HostCost, interrupted: bool, width: usize) -> String {
    let mut out = String::new();
    let scale = if results.scale == 1 {
        String::new()
    } else {
        format!(", run {} times as fast", results.scale)
    };
    let end = if interrupted { ", ended by Ctrl-C" } else { "" };
    // Decimal differences are rounded to microseconds for people.
    let rounded = |seconds: f64| (seconds * 1e6).round() / 1e6;
    let seconds = rounded(results.until_s - results.from_s);
    let packets: u64 = results.flows.iter().map(|flow| flow.packets).sum();
    let _ = writeln!(
        out,
        "{}: {seconds} s from {} s on{scale}{end}",
        results.network,
        rounded(results.from_s)
    );
    let has_flows = !results.flows.is_empty() || results.transfers.is_empty();
    if has_flows {
        let _ = writeln!(
            out,
            "packets      {} of {} flows; {}",
            grouped(packets),
            results.flows.len(),
            match results.jain {
                Some(jain) => format!("Jain's index {jain:.3}"),
                None => "nothing was delivered".to_owned(),
            }
        );
    }
    if !results.transfers.is_empty() {
        let done = results.transfers.iter();
        let done = done.filter(|transfer| transfer.outcome == Outcome::Done);
        let bytes: u64 = results.transfers.iter().map(|it| it.delivered).sum();
        let _ = writeln!(
            out,
            "transfers    {} of {} done; {} bytes delivered",
            done.count(),
            results.transfers.len(),
            grouped(bytes)
        );
    }
    if let Some(messages) = &results.messages {
        let _ = writeln!(out, "messages     {} reached hosts", messages.text());
    }
    let took = host.took.as_secs_f64();
    let (skipped, all) = host.skipped;
    let chips = match results.routers.len() {
        0 => String::new(),
        1 => format!(
            "; {} of the chip's time skipped",
            percent(skipped, all, "-")
        ),
        n => format!(
            "; {} of {n} chips' time skipped",
            percent(skipped, all, "-")
        ),
    };
    let rate = if has_flows {
        let rate = grouped((packets as f64 / took.max(1e-6)) as u64);
        format!(", {rate} packets/s")
    } else {
        String::new()
    };
    let _ = writeln!(out, "host         {took:.2} s{rate}{chips}\n");
    let mut flows = TextTable::new(&[
        "flow",
        "transport",
        "goodput",
        "share",
        "lost",
        "resent",
        "timeouts",
        "rtt",
        "done after",
    ]);
    for flow in results.flows.iter().take(MAX_FLOWS) {
        let mut row = vec![flow.name.clone(), flow.transport.to_owned()];
        row.extend(flow_cells(flow, "-"));
        flows.add_row(row);
    }
    if has_flows {
        let _ = writeln!(out, "{}", flows.fitted(width));
    }
    if results.flows.len() > MAX_FLOWS {
        let more = results.flows.len() - MAX_FLOWS;
        let _ = writeln!(out, "... and {more} more (`--stats` has all)");
    }
    if !results.transfers.is_empty() {
        let gap = if has_flows { "\n" } else { "" };
        let _ = writeln!(out, "{gap}{}", transfers(results).fitted(width));
    }
    let mut lines = TextTable::new(&[
        "link",
        "from",
        "used",
        "mean queue",
        "longest",
        "drops",
        "lost",
    ]);
    for line in results.lines.iter().filter(|line| line.watched) {
        let mut row = vec![line.link.clone(), line.from.clone()];
        row.extend(line_cells(line));
        lines.add_row(row);
    }
    if !lines.is_empty() {
        let _ = writeln!(out, "\n{}", lines.fitted(width));
    }
    out
}

/// The transfers between hosts with a protocol stack.
fn transfers(results: &Results) -> TextTable {
    let mut table = TextTable::new(&[
        "transfer",
        "state",
        "answered",
        "goodput",
        "asked",
        "delivered",
        "wrong",
        "done after",
    ]);
    for transfer in results.transfers.iter().take(MAX_FLOWS) {
        let mut row = vec![transfer.name.clone(), transfer.outcome.name().to_owned()];
        row.extend(transfer_cells(transfer, "-"));
        table.add_row(row);
    }
    if results.transfers.len() > MAX_FLOWS {
        let more = results.transfers.len() - MAX_FLOWS;
        table.add_row(vec![format!("... and {more} more (`--stats` has all)")]);
    }
    table
}
