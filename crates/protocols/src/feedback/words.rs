//! The coprocessor in the summary of a run.

use npsim_chip::Cycle;
use npsim_chip::kernel::row::permille;
use npsim_chip::units::sram::device::Device;
use npsim_project::quantity::grouped;

use super::Coprocessor;
use super::clock::Module;

/// One line per module that received requests, or one line saying that there were
/// none.
pub(super) fn summary(device: &Coprocessor, cycles: Cycle) -> Vec<String> {
    let (quick_start, xcp) = (&device.quick_start, &device.xcp);
    let own = device.attachment();
    let place = format!("{} on sram{}", own.name, own.channel);
    let mut lines = Vec::new();
    let counts = &quick_start.counts;
    if counts.requests > 0 {
        lines.push(format!(
            "{place}: {} Quick-Start requests, granted {}, reduced {}, denied {}; {}",
            grouped(counts.requests),
            grouped(counts.granted),
            grouped(counts.reduced),
            grouped(counts.denied),
            utilisation_text(&quick_start.module, counts.requests, cycles)
        ));
    }
    let counts = &xcp.counts;
    if counts.requests > 0 {
        lines.push(format!(
            "{place}: {} XCP requests, passed {}, reduced {}; {}",
            grouped(counts.requests),
            grouped(counts.passed),
            grouped(counts.reduced),
            utilisation_text(&xcp.module, counts.requests, cycles)
        ));
    }
    if lines.is_empty() {
        lines.push(format!("{place}: no requests"));
    }
    lines
}

fn utilisation_text(module: &Module, requests: u64, cycles: Cycle) -> String {
    let busy = permille(module.busy(requests), cycles);
    format!(
        "busy {}.{}%, mean wait {} cycles",
        busy / 10,
        busy % 10,
        module.waiting() / requests.max(1)
    )
}
