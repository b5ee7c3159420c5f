//! The state of a search for a period that continues from one run to the next.

use crate::Cycle;

/// A search for a period that continues from run to run.
#[derive(Debug)]
pub(super) struct PiecewiseSearch {
    /// Counts of activity to and from the outside, which must not change during the search.
    pub outside: (u64, u64),
    pub stage: Stage,
}

/// What a search waits for.
#[derive(Clone, Copy, Debug)]
pub(super) enum Stage {
    /// The microengines return to an earlier state.
    Candidate {
        begin: Cycle,
        /// The reference cycle, and the digest of the microengines there.
        reference: (Cycle, u64),
        samples: u32,
        renew: u32,
    },
    /// States at distances that are multiples of a candidate are compared.
    Verification(Verification),
}

/// A comparison of three states.
#[derive(Clone, Copy, Debug)]
pub(super) struct Verification {
    /// The cycle of the first state, and the shortest distance.
    pub at: Cycle,
    pub unit: Cycle,
    pub multiple: u64,
    pub multiples: u64,
    /// Length of a timestamp step, in cycles.
    pub step: Cycle,
    /// Values outside of the state's numbers that must not change.
    pub quiet: (u64, u64),
    /// Digest of how far ahead timers were set between the first two states, once a period joins
    /// these.
    pub timers: Option<u64>,
}

impl Stage {
    /// Whether this stage tests the period that was found last.
    pub fn is_of_last_period(self) -> bool {
        matches!(self, Self::Verification(it) if it.multiples == 1)
    }
}
