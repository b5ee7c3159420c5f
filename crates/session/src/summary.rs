//! A run in one look, for people.

mod slow_path;

use std::fmt::{self, Write as _};

use comfy_table::{CellAlignment, Table, presets};
use npsim_chip::stats::{LockStats, Stats};

use crate::report::{Drop, Report};
use npsim_project::quantity::{grouped, show_nanoseconds, show_rate};

/// The summary's text. `host_seconds` is how long the run took here.
#[must_use]
pub fn summary(report: &Report, host_seconds: f64) -> String {
    let mut text = String::new();
    // Writing to a String cannot fail.
    let _ = write_summary(&mut text, report, host_seconds);
    text
}

fn write_summary(out: &mut String, report: &Report, host_seconds: f64) -> fmt::Result {
    let chip = &report.chip;
    writeln!(
        out,
        "{} on {}: {}",
        report.project,
        chip.chip,
        ending(report)
    )?;
    let instructions: u64 = chip.microengines.iter().map(|me| me.instructions).sum();
    writeln!(
        out,
        "simulated    {} ({} cycles), {} instructions",
        show_nanoseconds(chip.nanoseconds as f64),
        grouped(chip.cycles),
        grouped(instructions)
    )?;
    writeln!(
        out,
        "host         {}",
        host(chip.cycles, instructions, host_seconds)
    )?;
    for change in &report.profile_changes {
        writeln!(
            out,
            "profile      {} is {} here, not {}",
            change.parameter, change.to, change.from
        )?;
    }
    for line in report.disturbances.lines() {
        writeln!(out, "disturbed    {line}")?;
    }
    if let Some(load) = &report.load {
        writeln!(out, "load         {load}, for {}", load.time)?;
    }
    let packets = &report.packets;
    if packets.offered > 0 || packets.sent > 0 {
        write_packets(out, report)?;
    }
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
    writeln!(out, "{}", microengines(chip))?;
    let units = units(chip);
    if !units.is_empty() {
        writeln!(out, "\n{units}")?;
    }
    Ok(())
}

fn ending(report: &Report) -> String {
    match (report.ending, &report.fault) {
        ("drained", _) => "all traffic is handled".into(),
        ("quiet", _) => "nothing can happen any more".into(),
        ("reached", _) => "the time is up".into(),
        ("interrupted", _) => "interrupted".into(),
        (_, Some(fault)) => format!(
            "stopped at cycle {} by {}",
            grouped(fault.cycle),
            fault.check.unwrap_or("a fault")
        ),
        _ => "the output could not be written".into(),
    }
}

pub(crate) fn host(cycles: u64, instructions: u64, seconds: f64) -> String {
    // A run can be shorter than the clock can see.
    let rate = |n: u64| n as f64 / seconds.max(1e-6) / 1e6;
    format!(
        "{seconds:.2} s, {:.1} M cycles/s, {:.1} M instructions/s",
        rate(cycles),
        rate(instructions)
    )
}

fn write_packets(out: &mut String, report: &Report) -> fmt::Result {
    let packets = &report.packets;
    write!(
        out,
        "packets      in {}   out {}   dropped {}   exceptions {}",
        grouped(packets.offered),
        grouped(packets.sent),
        grouped(packets.dropped_media + packets.dropped_microcode),
        grouped(packets.exceptions)
    )?;
    match packets.unaccounted {
        0 => writeln!(out)?,
        n if n > 0 => writeln!(
            out,
            "   still inside or dropped without a counter {}",
            grouped(n.unsigned_abs())
        )?,
        n => writeln!(
            out,
            "   made by the microcode {}",
            grouped(n.unsigned_abs())
        )?,
    }
    for Drop {
        port,
        counter,
        reason,
        frames,
        ..
    } in &report.drops
    {
        let place = match (port, counter) {
            (Some(port), _) => format!("port {port}: "),
            _ => String::new(),
        };
        let name = counter
            .as_ref()
            .filter(|name| *name != reason)
            .map_or_else(String::new, |name| format!(" ({name})"));
        writeln!(
            out,
            "dropped      {}  {place}{reason}{name}",
            grouped(*frames)
        )?;
    }
    for Drop { reason, frames, .. } in &report.exceptions {
        writeln!(out, "exception    {}  {reason}", grouped(*frames))?;
    }
    let rates = &report.rates;
    writeln!(
        out,
        "rates        in {}, {} packets/s for {}   out {}, {} packets/s for {}",
        show_rate(rates.offered_bits_per_second as f64),
        grouped(rates.offered_packets_per_second),
        show_nanoseconds(rates.offered_nanoseconds as f64),
        show_rate(rates.sent_bits_per_second as f64),
        grouped(rates.sent_packets_per_second),
        show_nanoseconds(rates.sent_nanoseconds as f64)
    )?;
    if let Some(latency) = &report.latency {
        writeln!(
            out,
            "latency      50% {} ns   90% {} ns   99% {} ns   max {} ns   (last bit in to last bit out)",
            grouped(latency.p50_ns),
            grouped(latency.p90_ns),
            grouped(latency.p99_ns),
            grouped(latency.max_ns)
        )?;
    }
    Ok(())
}

/// What a lock costs: means in cycles, with one decimal.
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
        percent(lock.held_cycles, cycles),
        mean(lock.failed, lock.acquired)
    )
}

fn mean(sum: u64, count: u64) -> String {
    format!("{:.1}", sum as f64 / count.max(1) as f64)
}

fn microengines(chip: &Stats) -> String {
    let mut table = table(&[
        "microengine",
        "instructions",
        "executing",
        "aborted",
        "stalled",
        "idle",
    ]);
    for me in chip.microengines.iter().filter(|me| me.instructions > 0) {
        let percent = |cycles: u64| percent(cycles, chip.cycles);
        table.add_row([
            me.index.to_string(),
            grouped(me.instructions),
            percent(me.executing),
            percent(me.aborted),
            percent(me.stalled),
            percent(me.idle),
        ]);
    }
    finished(&table)
}

fn units(chip: &Stats) -> String {
    let mut table = table(&["unit", "commands", "busy", "queue peak", "mean wait"]);
    let mut any = false;
    for unit in &chip.units {
        let commands: u64 = unit.commands.iter().map(|c| c.count).sum();
        if commands == 0 {
            continue;
        }
        any = true;
        table.add_row([
            unit.name.clone(),
            grouped(commands),
            percent(unit.busy, chip.cycles),
            unit.queue_peak.to_string(),
            format!("{} cycles", unit.waiting / commands),
        ]);
    }
    if any { finished(&table) } else { String::new() }
}

fn percent(part: u64, whole: u64) -> String {
    if whole == 0 {
        return "-".into();
    }
    format!("{:.1}%", part as f64 * 100.0 / whole as f64)
}

/// A table without lines, numbers to the right.
pub(crate) fn table(header: &[&str]) -> Table {
    let mut table = Table::new();
    table.load_style(presets::NOTHING);
    table.set_header(header.to_vec());
    for (i, column) in table.column_iter_mut().enumerate() {
        column.set_padding((0, 3));
        if i > 0 {
            column.set_cell_alignment(CellAlignment::Right);
        }
    }
    table
}

pub(crate) fn finished(table: &Table) -> String {
    let text: Vec<_> = table
        .to_string()
        .lines()
        .map(|line| line.trim_end().to_string())
        .collect();
    text.join("\n")
}
