//! Where a microengine's time went.

use crate::Cycle;
use crate::kernel::target::CommandTarget;
use npsim_isa::CONTEXTS;
use serde::{Deserialize, Serialize};

/// Cycles of a context by its state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextTimes {
    /// The context had the pipeline, with the aborted slots of its branches and swaps.
    pub executing: Cycle,
    /// The context could have run but another one did.
    pub ready: Cycle,
    /// The context waited for signals.
    pub sleeping: Cycle,
    /// The context was not enabled.
    pub inactive: Cycle,
}

impl ContextTimes {
    /// The sum of all times.
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
    /// Commands issued, by where they went, in the order of [`CommandTarget::index`].
    pub references: [u64; CommandTarget::COUNT],
    /// By context.
    pub contexts: [ContextTimes; CONTEXTS as usize],
}

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

    /// Takes back what a core has counted ahead of a cycle: its local time is
    /// `local`, its last refill after an idle time and the slots that were thrown
    /// away lie `from..until`. All other cycles up to the local time issued an
    /// instruction each.
    pub fn take_back(
        &mut self,
        now: Cycle,
        local: Cycle,
        refill: (Cycle, Cycle),
        aborted: impl Iterator<Item = (Cycle, Cycle)>,
    ) {
        let idle = ahead(now, refill);
        let aborted = aborted.map(|slots| ahead(now, slots)).sum::<Cycle>();
        let issued = local.saturating_sub(now).saturating_sub(idle + aborted);
        // What a file says of a core need not add up.
        self.idle = self.idle.saturating_sub(idle);
        self.aborted = self.aborted.saturating_sub(aborted);
        self.instructions = self.instructions.saturating_sub(issued);
    }
}

/// How much of a time lies at or after a cycle.
#[must_use]
pub fn ahead(now: Cycle, (from, until): (Cycle, Cycle)) -> Cycle {
    until.saturating_sub(from.max(now))
}
