//! The lines of the tasks of congestion control.

use std::fmt::{self, Write as _};

use npsim_chip::stats::{
    GppStats, QuickStartTaskStats, RcpTaskStats, Stats, TaskStats, XcpTaskStats,
};

use npsim_project::quantity::{grouped, show_nanoseconds, show_rate};

/// Bits per second of a unit of Quick-Start's rates.
const UNIT: f64 = 40_000.0;

/// Writes a line a group of ports, and one a task if its jobs had to wait.
pub(super) fn write_slow_path(out: &mut String, chip: &Stats) -> fmt::Result {
    let gpp = &chip.gpp;
    for group in &gpp.quick_start {
        writeln!(out, "quick-start  {}", quick_start(gpp, group))?;
    }
    for group in &gpp.xcp {
        writeln!(out, "xcp          {}", xcp(gpp, group))?;
    }
    for group in &gpp.rcp {
        writeln!(out, "rcp          {}", rcp(gpp, group))?;
    }
    let congestion = !(gpp.quick_start.is_empty() && gpp.xcp.is_empty() && gpp.rcp.is_empty());
    for task in gpp.tasks.iter().filter(|task| congestion && task.waits > 0) {
        writeln!(out, "core         {}", waits(task, chip.mhz))?;
    }
    Ok(())
}

/// `port 1: ` where each port is a group.
fn of_group(group: u64, groups: usize) -> String {
    if groups > 1 {
        format!("port {group}: ")
    } else {
        String::new()
    }
}

/// A rate in units of Quick-Start; limits may be below zero.
fn rate(units: i64) -> String {
    let sign = if units < 0 { "-" } else { "" };
    format!("{sign}{}", show_rate(units.unsigned_abs() as f64 * UNIT))
}

fn quick_start(gpp: &GppStats, group: &QuickStartTaskStats) -> String {
    format!(
        "{}limit {} of {}   granted {} now, {} in the last window   peak use {}   {} windows",
        of_group(group.group, gpp.quick_start.len()),
        rate(group.limit),
        rate(group.threshold),
        rate(group.granted),
        rate(group.grants),
        rate(group.peak_utilisation),
        grouped(group.windows)
    )
}

fn xcp(gpp: &GppStats, group: &XcpTaskStats) -> String {
    format!(
        "{}input {}   feedback +{} -{} byte/s   average RTT {}   queue {} bytes   {} intervals",
        of_group(group.group, gpp.xcp.len()),
        show_rate(group.input_bandwidth as f64 * 8.0),
        grouped(group.residue_pos),
        grouped(group.residue_neg),
        show_nanoseconds(group.avg_rtt_ns as f64),
        grouped(group.queue),
        grouped(group.intervals)
    )
}

fn rcp(gpp: &GppStats, group: &RcpTaskStats) -> String {
    format!(
        "{}rate {}   input {}   average RTT {}   queue {} bytes   {} updates",
        of_group(group.group, gpp.rcp.len()),
        show_rate(group.rate as f64 * 8.0),
        show_rate(group.input_bandwidth as f64 * 8.0),
        show_nanoseconds(group.avg_rtt_ns as f64),
        grouped(group.queue),
        grouped(group.updates)
    )
}

fn waits(task: &TaskStats, mhz: u64) -> String {
    let time = |cycles: u64| show_nanoseconds(cycles as f64 * 1000.0 / mhz.max(1) as f64);
    format!(
        "{} waited {} times for other tasks, {} at most",
        task.name,
        grouped(task.waits),
        time(task.waited_longest)
    )
}

#[cfg(test)]
mod tests {
    #[test]
    fn a_limit_below_zero_has_its_sign() {
        assert_eq!(super::rate(-1000), "-40.000 Mb/s");
        assert_eq!(super::rate(0), "0 b/s");
        assert_eq!(super::rate(25_000), "1.000 Gb/s");
    }
}
