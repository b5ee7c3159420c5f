//! Divides a window into slices when several chips run on fewer [threads](Workers).
//!
//! A window is equally long for each chip, so whole windows leave threads idle if the number of
//! chips is not a multiple of theirs: three chips on two threads take the time of two each. The end
//! of a slice has no effect: the chip continues as if it had not been stopped.

use std::ops::ControlFlow;

use npsim_chip::Cycle;
use npsim_session::workers::Workers;

use crate::chips::ChipNode;

/// Number of slices of a window if there are more chips than threads.
const SLICES: u64 = 8;
/// Shortest slice in cycles: switching chips costs a thread a few microseconds.
const MIN_SLICE: Cycle = 2_000;

/// A chip in a window.
struct WorkSlice<'a> {
    node: &'a mut ChipNode,
    horizon: Cycle,
    slice: Cycle,
    /// Whether it has run its first slice.
    begun: bool,
}

impl<'a> WorkSlice<'a> {
    fn new(node: &'a mut ChipNode, horizon: Cycle, slices: u64) -> Self {
        let window = horizon.saturating_sub(node.node.handled());
        Self {
            slice: (window / slices).max(MIN_SLICE),
            node,
            horizon,
            begun: false,
        }
    }

    /// Runs a slice; returns true if there is another one to run.
    fn run(&mut self, progress: &mut dyn FnMut() -> ControlFlow<()>) -> bool {
        let from = self.node.node.handled();
        let until = from.saturating_add(self.slice).min(self.horizon);
        let progress = &mut |_| progress();
        if self.begun {
            self.node.continue_to(until, progress);
        } else {
            self.node.run_to(until, progress);
        }
        self.begun = true;
        // A node that has sent stops before an answer could arrive.
        self.node.node.ending().is_none()
            && self.node.node.handled() == until
            && until < self.horizon
    }
}

/// Runs each chip to its horizon, or less far if it has sent something or is interrupted.
pub fn run(
    chosen: Vec<(&mut ChipNode, Cycle)>,
    workers: &Workers,
    progress: &(dyn Fn() -> ControlFlow<()> + Sync),
) {
    // With one thread per chip, or a single thread for all, there is nothing to distribute.
    let slices = match workers.count() {
        1 => 1,
        threads if chosen.len() <= threads => 1,
        _ => SLICES,
    };
    let work = chosen.into_iter();
    let work = work.map(|(node, horizon)| WorkSlice::new(node, horizon, slices));
    workers.run(work.collect(), |piece| piece.run(&mut || progress()));
}
