//! The lines of the general-purpose core's tasks and of devices beside SRAM.

use std::fmt::{self, Write as _};

use npsim_inspect::stats::{Stats, TaskStats};

use npsim_project::quantity::{grouped, show_nanoseconds};

/// Writes the summaries of tasks, a line for each task whose jobs had to wait,
/// and the summaries of devices.
pub(super) fn write(out: &mut String, chip: &Stats) -> fmt::Result {
    for task in &chip.gpp.tasks {
        for line in &task.summary {
            writeln!(out, "{:<12} {line}", task.name)?;
        }
    }
    for task in chip.gpp.tasks.iter().filter(|task| task.counts.waits > 0) {
        writeln!(out, "core         {}", waits(task, chip.mhz))?;
    }
    for device in &chip.devices.0 {
        for line in &device.summary {
            writeln!(out, "{:<12} {line}", device.kind)?;
        }
    }
    Ok(())
}

fn waits(task: &TaskStats, mhz: u64) -> String {
    let time = |cycles: u64| show_nanoseconds(cycles as f64 * 1000.0 / mhz.max(1) as f64);
    format!(
        "{} waited {} times for other tasks, {} at most",
        task.name,
        grouped(task.counts.waits),
        time(task.counts.waited_longest)
    )
}
