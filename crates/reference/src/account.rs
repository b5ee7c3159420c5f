//! Accounting of the microengine's time.

use npsim_chip::Cycle;
use npsim_chip::core::{MeStats, ahead};

use crate::state::{MicroengineState, Phase};

impl MicroengineState {
    /// Returns all counts up to `now`. Slots that the current instruction loses
    /// after it are counted when it executes, so they may lie beyond `now`.
    pub fn stats_at(&self, now: Cycle) -> MeStats {
        let mut stats = self.stats;
        if !self.started {
            return stats;
        }
        stats.subtract_after(now, self.cycle, self.refilled, std::iter::once(self.lost));
        let refill = ahead(now, self.refilled);
        let rest = now.saturating_sub(self.cycle);
        if self.phase == Phase::Held {
            stats.stalled += rest;
        } else {
            stats.idle += rest;
        }
        for (number, context) in self.contexts.iter().enumerate() {
            // The last context to yield was executing until its slots were
            // lost, and is ready afterwards only if it is also the next to run.
            let last = number == usize::from(self.last);
            stats.contexts[number] = context.times_at(now, if last { refill } else { Cycle::MAX });
        }
        stats
    }
}
