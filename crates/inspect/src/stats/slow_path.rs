//! Collects the statistics of the general-purpose core and of devices beside SRAM.

use super::{DeviceStats, Devices, DropStats, GppStats, TaskRows, TaskStats};
use npsim_chip::chip::Chip;
use npsim_chip::gpp::Memories;

/// The counts of the core and the data that its tasks expose.
pub(super) fn gpp(chip: &Chip) -> GppStats {
    let (gpp, now) = (&chip.gpp(), chip.counts_complete_until());
    let memories = Memories {
        scratch: &chip.units().scratch,
        sram: &chip.units().sram,
    };
    let mut rows = TaskRows::of_kinds(gpp.kinds());
    let (mut tasks, mut reasons) = (Vec::new(), Vec::new());
    let mut polls = 0;
    for (index, task) in gpp.tasks().iter().enumerate() {
        let counts = gpp.counts(index, now);
        if task.polls() {
            polls += counts.jobs;
        }
        let own = task.rows(memories);
        if !own.is_empty() {
            rows.add(task.name(), own);
        }
        let packets = task.packets().into_iter();
        reasons.extend(packets.map(|(reason, frames)| DropStats { reason, frames }));
        tasks.push(TaskStats {
            name: task.name().to_owned(),
            counts,
            summary: task.summary(memories),
        });
    }
    GppStats {
        busy: tasks.iter().map(|task| task.counts.busy).sum(),
        route_words: gpp.route_words,
        polls,
        interrupts: gpp.interrupts,
        made: gpp.tasks().iter().map(|task| task.made()).sum(),
        exceptions: reasons.iter().map(|reason| reason.frames).sum(),
        reasons,
        tasks,
        rows,
    }
}

/// The devices attached to SRAM channels.
pub(super) fn devices(chip: &Chip) -> Devices {
    let cycles = chip.counts_complete_until();
    let devices = chip.units().sram.devices();
    let stats = devices.map(|device| {
        let own = device.attachment();
        DeviceStats {
            kind: device.kind(),
            name: own.name.clone(),
            channel: own.channel,
            address: own.address,
            counts: device.counts(cycles),
            modules: device.modules(cycles),
            summary: device.summary(cycles),
        }
    });
    Devices(stats.collect())
}
