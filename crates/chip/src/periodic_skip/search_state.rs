//! How far a search for a period is that goes on from one run to the next.

use crate::Cycle;

/// A search for a period that goes on from run to run.
#[derive(Debug)]
pub(super) struct PiecewiseSearch {
    /// What must not change while it goes on: what reached the outside or came from it.
    pub outside: (u64, u64),
    pub stage: Stage,
}

/// What a search waits to see.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stage {
    /// The microengines are to stand again as they did before.
    Candidate {
        begin: Cycle,
        /// A cycle and how they stood there.
        reference: (Cycle, u64),
        samples: u32,
        renew: u32,
    },
    /// States at distances that are multiples of a candidate are compared.
    Verification(Verification),
}

/// The comparison of three states.
#[derive(Clone, Copy, Debug)]
pub(super) struct Verification {
    /// The cycle of the first state, and the distance.
    pub at: Cycle,
    pub unit: Cycle,
    pub multiple: u64,
    pub multiples: u64,
    /// The timestamp's step.
    pub step: Cycle,
    /// What must not change beside the state's numbers.
    pub quiet: (u64, u64),
    /// How far ahead timers were set from the first state to the second, once both are joined by a
    /// period.
    pub timers: Option<u64>,
}

impl Stage {
    /// Whether the period is tried that was found last.
    pub fn is_of_last_period(self) -> bool {
        matches!(self, Self::Verification(it) if it.multiples == 1)
    }
}
