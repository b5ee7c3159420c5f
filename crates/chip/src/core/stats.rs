//! Where a microengine's time went.

use crate::Cycle;
use crate::kernel::target::CommandTarget;
use npsim_isa::CONTEXTS;
use serde::{Deserialize, Serialize};

/// Cycles of a context by state.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ContextTimes {
    /// The context had the pipeline, including the aborted slots of its branches and swaps.
    pub executing: Cycle,
    /// The context could have run but another one did.
    pub ready: Cycle,
    /// The context waited for signals.
    pub sleeping: Cycle,
    /// The context was not enabled.
    pub inactive: Cycle,
}

impl ContextTimes {
    /// The sum of all cycles.
    #[must_use]
    pub const fn total(&self) -> Cycle {
        self.executing + self.ready + self.sleeping + self.inactive
    }
}

/// Cycles of a microengine since its start, by what they were spent on. A cycle issues at most one
/// instruction, so instructions are cycles.
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
    /// Cycles in which no context was ready, including the refills that follow them.
    pub idle: Cycle,
    /// Context swaps.
    pub swaps: u64,
    /// Commands issued, by target, in the order of [`CommandTarget::index`].
    pub references: [u64; CommandTarget::COUNT],
    /// Cycles of each context.
    pub contexts: [ContextTimes; CONTEXTS as usize],
}

impl MeStats {
    /// The number of commands issued.
    #[must_use]
    pub fn commands(&self) -> u64 {
        self.references.iter().sum()
    }

    /// The number of cycles accounted for.
    #[must_use]
    pub const fn total(&self) -> Cycle {
        self.instructions + self.aborted + self.stalled + self.idle
    }

    /// Subtracts what a core has counted from cycle `now` on, given its local time `local` and, as
    /// `from..until`, its last refill after an idle time and its aborted slots. All other cycles up
    /// to the local time issued an instruction each.
    pub fn subtract_after(
        &mut self,
        now: Cycle,
        local: Cycle,
        refill: (Cycle, Cycle),
        aborted: impl Iterator<Item = (Cycle, Cycle)>,
    ) {
        let idle = ahead(now, refill);
        let aborted = aborted.map(|slots| ahead(now, slots)).sum::<Cycle>();
        let issued = local.saturating_sub(now).saturating_sub(idle + aborted);
        // Counts read from a state file may be inconsistent.
        self.idle = self.idle.saturating_sub(idle);
        self.aborted = self.aborted.saturating_sub(aborted);
        self.instructions = self.instructions.saturating_sub(issued);
    }
}

/// The part of the interval `from..until` that lies at or after a cycle.
#[must_use]
pub fn ahead(now: Cycle, (from, until): (Cycle, Cycle)) -> Cycle {
    until.saturating_sub(from.max(now))
}
