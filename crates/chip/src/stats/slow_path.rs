//! Reads the statistics of the general-purpose core out of a chip.

use npsim_congestion::xcp::time_to_nanoseconds;

use super::{DropStats, GppStats, QuickStartTaskStats, RcpTaskStats, TaskStats, XcpTaskStats};
use crate::chip::Chip;
use crate::gpp::exceptions::Exceptions;
use crate::gpp::quick_start::QuickStart;
use crate::gpp::rcp::Rcp;
use crate::gpp::xcp::Xcp;

/// What the core has done and what its tasks keep.
pub(super) fn gpp(chip: &Chip) -> GppStats {
    let (gpp, now) = (&chip.gpp, chip.fabric.now);
    let tasks: Vec<TaskStats> = gpp
        .tasks()
        .iter()
        .map(|task| {
            let counts = gpp.counts(task, now);
            TaskStats {
                name: task.name().to_owned(),
                jobs: counts.jobs,
                busy: counts.busy,
                waits: counts.waits,
                waited: counts.waited,
                waited_longest: counts.waited_longest,
            }
        })
        .collect();
    let polls = tasks.iter().filter(|task| task.name == "exceptions");
    GppStats {
        busy: tasks.iter().map(|task| task.busy).sum(),
        route_words: gpp.route_words,
        polls: polls.map(|task| task.jobs).sum(),
        interrupts: gpp.interrupts,
        exceptions: gpp.exceptions().map(Exceptions::packets).sum(),
        reasons: gpp
            .exceptions()
            .flat_map(Exceptions::by_reason)
            .map(|(reason, frames)| DropStats { reason, frames })
            .collect(),
        quick_start: gpp
            .quick_start()
            .flat_map(|task| quick_start(task, chip))
            .collect(),
        xcp: gpp.xcp().flat_map(xcp).collect(),
        rcp: gpp.rcp().flat_map(rcp).collect(),
        tasks,
    }
}

fn quick_start(task: &QuickStart, chip: &Chip) -> Vec<QuickStartTaskStats> {
    let groups = task.groups().enumerate();
    groups
        .map(|(number, (group, state))| QuickStartTaskStats {
            group: number as u64,
            capacity: group.capacity,
            threshold: group.threshold,
            limit: state.window.limit.into(),
            granted: task
                .granted_now(number, &chip.units.scratch, &chip.units.sram)
                .into(),
            grants: state.grants.into(),
            grants_total: state.grants_total,
            utilisation: state.utilisation,
            peak_utilisation: state.peak_utilisation(),
            windows: task.windows,
            samples: task.samples,
        })
        .collect()
}

fn xcp(task: &Xcp) -> Vec<XcpTaskStats> {
    let groups = (0..).zip(task.groups());
    groups
        .map(|(group, state)| {
            let mut stats = XcpTaskStats {
                group,
                capacity: state.control.parameters().capacity,
                intervals: state.intervals,
                interval_ns: time_to_nanoseconds(state.control.length()),
                avg_rtt_ns: time_to_nanoseconds(state.control.avg_rtt()),
                queue: state.queue.queue().into(),
                failed_tries: task.failed_tries,
                ..XcpTaskStats::default()
            };
            if let Some(last) = state.last {
                let pools = last.pools;
                stats.input_bandwidth = last.input_bandwidth;
                stats.aggregate = last.aggregate;
                stats.shuffled = last.shuffled;
                stats.residue_pos = pools.residue_pos.into();
                stats.residue_neg = pools.residue_neg.into();
                stats.cp_mantissa = pools.cp.mantissa.into();
                stats.cp_shift = pools.cp.shift.into();
                stats.cn_mantissa = pools.cn.mantissa.into();
                stats.cn_shift = pools.cn.shift.into();
            }
            stats
        })
        .collect()
}

fn rcp(task: &Rcp) -> Vec<RcpTaskStats> {
    let groups = (0..).zip(task.groups());
    groups
        .map(|(group, state)| RcpTaskStats {
            group,
            capacity: state.rate.parameters().capacity,
            rate: state.rate.rate().into(),
            avg_rtt_ns: state.rate.rtt(),
            input_bandwidth: state.input,
            queue: state.queue.into(),
            bytes: state.bytes,
            updates: state.updates,
        })
        .collect()
}
