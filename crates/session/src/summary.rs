//! The human-readable summary of a run.

mod slow_path;

use std::fmt::{self, Write as _};

use npsim_inspect::stats::{LockStats, Stats};

use crate::report::{NodeDrop, NodeReport, Packets, Report};
use crate::text_table::TextTable;
use npsim_project::quantity::{grouped, percent, show_nanoseconds, show_rate};

/// The summary's text, with tables of at most `width` columns. `host_seconds` is how long the run
/// took on this host; without it the summary does not mention the host.
#[must_use]
pub fn summary(report: &Report, host_seconds: Option<f64>, width: usize) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write_summary(&mut text, report, host_seconds, width);
    text
}

fn write_summary(
    out: &mut String,
    report: &Report,
    host_seconds: Option<f64>,
    width: usize,
) -> fmt::Result {
    let nodes = &report.nodes;
    let alone = nodes.len() == 1;
    let first = nodes.first();
    let chip = first.map_or("", |node| &node.chip.chip);
    if !alone {
        write!(out, "{} routers ", nodes.len())?;
    }
    writeln!(out, "{} on {chip}: {}", report.project, headline(report))?;
    let longest = nodes.iter().map(|node| node.chip.nanoseconds).max();
    let cycles: u64 = nodes.iter().map(|node| node.chip.cycles).sum();
    let instructions: u64 = nodes
        .iter()
        .flat_map(|node| &node.chip.microengines)
        .map(|me| me.instructions)
        .sum();
    writeln!(
        out,
        "simulated    {} ({} cycles{}), {} instructions",
        show_nanoseconds(longest.unwrap_or(0) as f64),
        grouped(cycles),
        if alone { "" } else { " of all routers" },
        grouped(instructions)
    )?;
    if let Some(seconds) = host_seconds {
        let host = host(cycles, instructions, seconds);
        writeln!(out, "host         {host}")?;
    }
    for change in &report.profile_changes {
        writeln!(
            out,
            "profile      {} is {} here, not {}",
            change.parameter, change.to, change.from
        )?;
    }
    write_disturbances(out, report)?;
    if let Some(load) = &report.load {
        writeln!(out, "load         {load}, for {}", load.time)?;
    }
    let packets = &report.packets;
    if !alone || packets.offered > 0 || packets.sent > 0 {
        write_packets(out, report)?;
    }
    match first {
        Some(node) if alone => write_node(out, node, width),
        _ => writeln!(out, "\n{}", table_of_nodes(nodes, width)),
    }
}

fn write_disturbances(out: &mut String, report: &Report) -> fmt::Result {
    let everywhere = report.disturbances.lines();
    let several = report.nodes.len() > 1;
    for line in &everywhere {
        let all = if several { ", in every router" } else { "" };
        writeln!(out, "disturbed    {line}{all}")?;
    }
    for node in &report.nodes {
        let mut own = node.disturbances.clone();
        own.late = report.disturbances.late;
        let lines = own.lines();
        for line in lines.iter().filter(|line| !everywhere.contains(line)) {
            let at = if several {
                format!(", in router {}", node.node)
            } else {
                String::new()
            };
            writeln!(out, "disturbed    {line}{at}")?;
        }
    }
    Ok(())
}

/// Writes everything about one node other than its packets.
fn write_node(out: &mut String, node: &NodeReport, width: usize) -> fmt::Result {
    let chip = &node.chip;
    for counter in chip.counters.iter().filter(|counter| !counter.drop) {
        let text = if counter.text.is_empty() {
            String::new()
        } else {
            format!("  {}", counter.text)
        };
        writeln!(
            out,
            "counter      {} = {}{text}",
            counter.name,
            grouped(counter.value)
        )?;
    }
    for lock in &chip.locks {
        writeln!(out, "lock         {}", lock_line(lock, chip.cycles))?;
    }
    slow_path::write(out, chip)?;
    for check in &chip.checks_passed_over {
        writeln!(
            out,
            "allowed      {} would have stopped the run {} times",
            check.check,
            grouped(check.count)
        )?;
    }
    writeln!(out)?;
    writeln!(out, "{}", microengines(chip, width))?;
    let units = units(chip, width);
    if !units.is_empty() {
        writeln!(out, "\n{units}")?;
    }
    Ok(())
}

/// Why the run ended, preceded by the number of lost frames if there are any.
fn headline(report: &Report) -> String {
    let ending = ending(report);
    let Some(lost) = frames_lost(&report.packets) else {
        return ending;
    };
    if report.ending == "fault" {
        format!("{lost}; {ending}")
    } else {
        lost
    }
}

/// The number of frames that came in and neither left nor were counted as dropped, if none of them
/// can leave any more.
#[must_use]
pub fn frames_lost(packets: &Packets) -> Option<String> {
    (packets.lost > 0).then(|| {
        format!(
            "{} of {} frames came in and neither left nor were counted as dropped",
            grouped(packets.lost),
            grouped(packets.offered)
        )
    })
}

fn ending(report: &Report) -> String {
    match report.ending {
        "drained" => "all traffic is handled".into(),
        "quiet" => halted(report).unwrap_or_else(|| "no events pending".into()),
        "reached" => "the time is up".into(),
        "interrupted" => "interrupted".into(),
        "running" => "it runs".into(),
        "input-failed" => "the input could not be read".into(),
        "fault" => {
            let stopped = report.nodes.iter().find_map(|node| {
                let fault = node.fault.as_ref()?;
                let who = if report.nodes.len() == 1 {
                    String::new()
                } else {
                    format!("router {} was ", node.node)
                };
                Some(format!(
                    "{who}stopped at cycle {} by {}",
                    grouped(fault.cycle),
                    fault.check.unwrap_or("a fault")
                ))
            });
            stopped.unwrap_or_default()
        }
        _ => "the output could not be written".into(),
    }
}

/// A note that breakpoints are the reason why nothing is pending.
fn halted(report: &Report) -> Option<String> {
    let halts: Vec<_> = { report.nodes.iter() }
        .flat_map(|node| &node.halts)
        .collect();
    let first = halts.first()?;
    let more = match halts.len() {
        1 => String::new(),
        n => format!(", and {} more", n - 1),
    };
    Some(format!(
        "no events pending; microengine {} was halted by context {} at {}{more}",
        first.me, first.context, first.place
    ))
}

fn host(cycles: u64, instructions: u64, seconds: f64) -> String {
    // A run can be shorter than the clock's resolution.
    let rate = |n: u64| n as f64 / seconds.max(1e-6) / 1e6;
    format!(
        "{seconds:.2} s, {:.1} M cycles/s, {:.1} M instructions/s",
        rate(cycles),
        rate(instructions)
    )
}

fn write_packets(out: &mut String, report: &Report) -> fmt::Result {
    let packets = &report.packets;
    let several = report.nodes.len() > 1;
    write!(
        out,
        "packets      in {}   out {}   dropped {}   exceptions {}",
        grouped(packets.offered),
        grouped(packets.sent),
        grouped(packets.dropped_media + packets.dropped_microcode),
        grouped(packets.exceptions)
    )?;
    if packets.made > 0 {
        write!(out, "   made by the core {}", grouped(packets.made))?;
    }
    if packets.on_links > 0 {
        write!(out, "   on links {}", grouped(packets.on_links))?;
    }
    match packets.unaccounted {
        0 => writeln!(out)?,
        n if n > 0 => writeln!(out, "   unaccounted {}", grouped(n.unsigned_abs()))?,
        n => writeln!(
            out,
            "   made by the microcode {}",
            grouped(n.unsigned_abs())
        )?,
    }
    let router = |node: usize| {
        if several {
            format!("router {node}: ")
        } else {
            String::new()
        }
    };
    for NodeDrop { node, drop } in &report.drops {
        let port = drop.port.map(|port| format!("port {port}: "));
        let name = { drop.counter.as_ref() }
            .filter(|name| **name != drop.reason && !several)
            .map(|name| format!(" ({name})"));
        writeln!(
            out,
            "dropped      {}  {}{}{}{}",
            grouped(drop.frames),
            router(*node),
            port.unwrap_or_default(),
            drop.reason,
            name.unwrap_or_default()
        )?;
    }
    for NodeDrop { node, drop } in &report.exceptions {
        let (frames, reason) = (grouped(drop.frames), &drop.reason);
        writeln!(out, "exception    {frames}  {}{reason}", router(*node))?;
    }
    let rates = &report.rates;
    let rate = |bits: u64, packets: u64, nanoseconds: u64| match nanoseconds {
        0 => "nothing".to_owned(),
        time => format!(
            "{}, {} packets/s for {}",
            show_rate(bits as f64),
            grouped(packets),
            show_nanoseconds(time as f64)
        ),
    };
    writeln!(
        out,
        "rates        in {}   out {}",
        rate(
            rates.offered_bits_per_second,
            rates.offered_packets_per_second,
            rates.offered_nanoseconds
        ),
        rate(
            rates.sent_bits_per_second,
            rates.sent_packets_per_second,
            rates.sent_nanoseconds
        )
    )?;
    if let Some(latency) = &report.latency {
        writeln!(
            out,
            "latency      50% {} ns   90% {} ns   99% {} ns   max {} ns   ({})",
            grouped(latency.p50_ns),
            grouped(latency.p90_ns),
            grouped(latency.p99_ns),
            grouped(latency.max_ns),
            if several {
                "last bit into the first router to last bit out of the last"
            } else {
                "last bit in to last bit out"
            }
        )?;
    }
    Ok(())
}

/// A table with one line per node.
fn table_of_nodes(nodes: &[NodeReport], width: usize) -> String {
    let mut table = TextTable::new(&[
        "router",
        "in",
        "out",
        "dropped",
        "exceptions",
        "inside",
        "latency 50%",
        "99%",
        "since the first 50%",
        "99%",
    ]);
    let time = |ns: Option<u64>| ns.map_or_else(|| "-".into(), |ns| show_nanoseconds(ns as f64));
    for node in nodes {
        let packets = &node.packets;
        let (own, since) = (node.latency, node.latency_since_entry);
        table.add_row([
            node.node.to_string(),
            grouped(packets.offered),
            grouped(packets.sent),
            grouped(packets.dropped_media + packets.dropped_microcode),
            grouped(packets.exceptions),
            packets.unaccounted.to_string(),
            time(own.map(|latency| latency.p50_ns)),
            time(own.map(|latency| latency.p99_ns)),
            time(since.map(|latency| latency.p50_ns)),
            time(since.map(|latency| latency.p99_ns)),
        ]);
    }
    table.fitted(width)
}

/// The cost of a lock: mean times in cycles, with one decimal.
fn lock_line(lock: &LockStats, cycles: u64) -> String {
    if lock.acquired == 0 {
        return format!("{}  never taken   {} tries", lock.name, grouped(lock.tries));
    }
    let handover = if lock.handovers == 0 {
        "never handed over".to_owned()
    } else {
        format!(
            "hand-over {} cycles",
            mean(lock.handover_cycles, lock.handovers)
        )
    };
    format!(
        "{}  taken {} times   held {} cycles   {handover}   held {} of the time   {} failed tries each",
        lock.name,
        grouped(lock.acquired),
        mean(lock.held_cycles, lock.acquired),
        percent(lock.held_cycles, cycles, "-"),
        mean(lock.failed, lock.acquired)
    )
}

fn mean(sum: u64, count: u64) -> String {
    format!("{:.1}", sum as f64 / count.max(1) as f64)
}

fn microengines(chip: &Stats, width: usize) -> String {
    let mut table = TextTable::new(&[
        "microengine",
        "instructions",
        "executing",
        "aborted",
        "stalled",
        "idle",
    ]);
    for me in chip.microengines.iter().filter(|me| me.instructions > 0) {
        let percent = |cycles: u64| percent(cycles, chip.cycles, "-");
        table.add_row([
            me.index.to_string(),
            grouped(me.instructions),
            percent(me.executing),
            percent(me.aborted),
            percent(me.stalled),
            percent(me.idle),
        ]);
    }
    table.fitted(width)
}

fn units(chip: &Stats, width: usize) -> String {
    let mut table = TextTable::new(&["unit", "commands", "busy", "queue peak", "mean wait"]);
    for unit in &chip.units {
        let commands: u64 = unit.commands.iter().map(|c| c.count).sum();
        if commands == 0 {
            continue;
        }
        table.add_row([
            unit.name.clone(),
            grouped(commands),
            percent(unit.busy, chip.cycles, "-"),
            unit.queue_peak.to_string(),
            format!("{} cycles", unit.waiting / commands),
        ]);
    }
    if table.is_empty() {
        return String::new();
    }
    table.fitted(width)
}
