//! Where a microengine's time went.

use crate::Cycle;
use crate::kernel::target::Target;
use serde::{Deserialize, Serialize};

/// Cycles of a context by its state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextTimes {
    /// It had the pipeline, with the aborted slots of its branches and swaps.
    pub executing: Cycle,
    /// It could have run but another context did.
    pub ready: Cycle,
    /// It waited for signals.
    pub sleeping: Cycle,
    /// It was not enabled.
    pub inactive: Cycle,
}

impl ContextTimes {
    /// All of it.
    #[must_use]
    pub const fn total(&self) -> Cycle {
        self.executing + self.ready + self.sleeping + self.inactive
    }
}

/// Cycles of a microengine by what they were spent on, since it was started.
/// A cycle issues at most one instruction, so instructions are cycles.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct MeStats {
    /// Cycle of the start.
    pub started: Cycle,
    /// Instructions issued.
    pub instructions: u64,
    /// Issue slots thrown away after taken branches and context swaps.
    pub aborted: Cycle,
    /// Cycles in which a full command FIFO held the pipeline.
    pub stalled: Cycle,
    /// Cycles in which no context was ready, and refills after them.
    pub idle: Cycle,
    /// Context swaps.
    pub swaps: u64,
    /// Commands issued, by where they went, in the order of [`Target::index`].
    pub references: [u64; Target::COUNT],
    /// By context.
    pub contexts: [ContextTimes; 8],
}

/// More slots than any branch or swap throws away.
const MOST_SLOTS: Cycle = 8;

impl MeStats {
    /// Commands issued.
    #[must_use]
    pub fn commands(&self) -> u64 {
        self.references.iter().sum()
    }

    /// Cycles accounted for.
    #[must_use]
    pub const fn total(&self) -> Cycle {
        self.instructions + self.aborted + self.stalled + self.idle
    }

    /// Takes the last busy cycles off. A few are the slots of the last branch or
    /// swap, unless its penalty is still to come (`slots` says which); many mean
    /// that the microengine ran ahead of a fault elsewhere, and what it did then
    /// was like what it did before.
    pub(crate) fn clip(&mut self, beyond: Cycle, slots: bool) {
        let busy = self.instructions + self.aborted;
        let slots = if beyond <= MOST_SLOTS {
            beyond.min(self.aborted) * Cycle::from(slots)
        } else {
            let share = u128::from(beyond) * u128::from(self.aborted) / u128::from(busy.max(1));
            (share as u64).min(self.aborted)
        };
        self.aborted -= slots;
        self.instructions -= (beyond - slots).min(self.instructions);
    }
}
