//! Several chips on fewer threads, in one window.
//!
//! A window is as long for each chip, so that whole windows leave threads idle where the chips are
//! no multiple of them: three on two take the time of two. Each is therefore run in slices, and a
//! thread goes on with the one that is least far. A slice ends nothing: the chip goes on as if it had
//! not been stopped.

use std::ops::ControlFlow;
use std::sync::{Mutex, PoisonError};

use npsim_chip::Cycle;
use rayon::ThreadPool;

use crate::chips::ChipNode;

/// Slices of a window, where there are more chips than threads.
const SLICES: u64 = 8;
/// The shortest slice: to change chips costs a thread some microseconds.
const SHORTEST: Cycle = 2_000;

/// A chip in a window.
struct WorkSlice<'a> {
    node: &'a mut ChipNode,
    horizon: Cycle,
    slice: Cycle,
    /// Slices that it has run.
    done: u64,
}

impl<'a> WorkSlice<'a> {
    fn new(node: &'a mut ChipNode, horizon: Cycle, slices: u64) -> Self {
        let window = horizon.saturating_sub(node.node.handled());
        Self {
            slice: (window / slices).max(SHORTEST),
            node,
            horizon,
            done: 0,
        }
    }

    /// Runs a slice; whether there is another one to run.
    fn run(&mut self, progress: &mut dyn FnMut() -> ControlFlow<()>) -> bool {
        let from = self.node.node.handled();
        let until = from.saturating_add(self.slice).min(self.horizon);
        let progress = &mut |_| progress();
        if self.done == 0 {
            self.node.run_to(until, progress);
        } else {
            self.node.go_on_to(until, progress);
        }
        self.done += 1;
        // One that has sent stops before an answer could come.
        self.node.node.ending().is_none()
            && self.node.node.handled() == until
            && until < self.horizon
    }
}

/// Runs each chip to its horizon, or less far where it has sent something or is broken off.
pub fn run(
    chosen: Vec<(&mut ChipNode, Cycle)>,
    pool: &ThreadPool,
    progress: &(dyn Fn() -> ControlFlow<()> + Sync),
) {
    // With a thread for each there is nothing to share out.
    let slices = if chosen.len() > pool.current_num_threads() {
        SLICES
    } else {
        1
    };
    let turns = chosen.into_iter();
    let turns: Vec<_> = turns
        .map(|(node, horizon)| WorkSlice::new(node, horizon, slices))
        .collect();
    let waiting = Mutex::new(turns);
    let take = || {
        let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        let least = { waiting.iter().enumerate() }.min_by_key(|(_, turn)| turn.done);
        let least = least.map(|(place, _)| place)?;
        Some(waiting.remove(least))
    };
    let put_back = |turn| {
        let mut waiting = waiting.lock().unwrap_or_else(PoisonError::into_inner);
        waiting.push(turn);
    };
    pool.scope(|scope| {
        for _ in 0..pool.current_num_threads() {
            // One that finds nothing to do leaves no more chips than there are other threads.
            scope.spawn(|_| {
                while let Some(mut turn) = take() {
                    if turn.run(&mut || progress()) {
                        put_back(turn);
                    }
                }
            });
        }
    });
}
