//! Where the time of the microengine went.

use npsim_chip::Cycle;
use npsim_chip::core::{MeStats, ahead};

use crate::state::{MicroengineState, Phase};

impl MicroengineState {
    /// All counts up to `now`. What the present instruction loses after it is
    /// counted when it executes, so it may lie beyond.
    pub fn stats_at(&self, now: Cycle) -> MeStats {
        let mut stats = self.stats;
        if !self.started {
            return stats;
        }
        stats.take_back(now, self.cycle, self.refilled, std::iter::once(self.lost));
        let refill = ahead(now, self.refilled);
        let rest = now.saturating_sub(self.cycle);
        if self.phase == Phase::Held {
            stats.stalled += rest;
        } else {
            stats.idle += rest;
        }
        for (number, context) in self.contexts.iter().enumerate() {
            // The last to yield executed until its slots were lost, and is
            // ready after them only if it is the next to get it, too.
            let last = number == usize::from(self.last);
            stats.contexts[number] = context.times_at(now, if last { refill } else { Cycle::MAX });
        }
        stats
    }
}
