//! The observable state of a chip, for comparison.

use std::fmt::Debug;

use npsim_chip::chip::Chip;
use npsim_inspect::Inspect;
use npsim_inspect::stats::Stats;

use super::course::Ended;
use super::view_of;

/// Longwords at the beginning of each memory that are compared, the rings among them.
const LONGWORDS: u32 = 1536;

/// The observed values, by name.
pub type View = Vec<(String, String)>;

/// Everything observable about a chip at its end.
pub fn view(ended: &Ended) -> View {
    let Ended {
        chip, stop, frames, ..
    } = ended;
    let mut seen = vec![
        ("stop".to_owned(), format!("{stop:?}")),
        ("frames".to_owned(), format!("{frames:?}")),
    ];
    for (me, core) in chip.microengines().iter().enumerate() {
        seen.extend(view_of(me, core.as_ref(), chip.fabric()));
    }
    seen.extend(chip_view(chip));
    seen
}

/// Everything observable about a chip before its end except the inside of its microengines, which
/// may have run ahead.
pub fn view_mid_run(chip: &Chip) -> View {
    let inspect = Inspect::new(chip);
    let mut seen = chip_view(chip);
    let mut see = |name: String, what: &dyn Debug| seen.push((name, format!("{what:?}")));
    see("cycle".to_owned(), &inspect.now());
    see("commands".to_owned(), &inspect.flights());
    for me in inspect.microengines() {
        for context in 0..8 {
            let it = me.context(context);
            see(
                format!("microengine {}, context {context}", me.index()),
                &(it.phase, it.signals, it.wakeup, it.any, it.yielded_at),
            );
        }
        let index = me.index();
        see(format!("ring of {index}"), &inspect.neighbour_ring(index));
        see(format!("held in {index}"), &me.held());
    }
    seen
}

/// The state around the microengines, and their counts.
fn chip_view(chip: &Chip) -> View {
    let mut seen = Vec::new();
    let inspect = Inspect::new(chip);
    let named = |it: &dyn Debug| ("media, rings and queues".to_owned(), format!("{it:?}"));
    seen.extend(inspect.rbuf().map(|it| named(&it)));
    seen.extend(inspect.tbuf().map(|it| named(&it)));
    seen.extend(inspect.freelists().map(|it| named(&it)));
    seen.extend(inspect.queues().map(|it| named(&it)));
    seen.extend(inspect.rings().map(|it| named(&it)));
    let units = chip.units();
    for address in (0..LONGWORDS).map(|n| 4 * n) {
        let words = [
            units.scratch.read(address),
            units.sram.read_word(address),
            units.sram.read_word(1 << 30 | address),
            units.dram.read_word(address),
        ];
        seen.push((format!("memories at {address:#x}"), format!("{words:?}")));
    }
    seen.push(("counts".to_owned(), format!("{:?}", Stats::collect(chip))));
    seen
}
