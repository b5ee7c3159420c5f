//! The stalls of a microengine: injected faults that keep a context from the pipeline for a time.

use serde::{Deserialize, Serialize};

use npsim_chip::Cycle;
use npsim_chip::kernel::fault_injection::Stall;

/// The stalls of a microengine.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Stalls {
    pub all: Vec<Stall>,
    /// The cycle at which the microengine is woken for the end of a stall; [`Cycle::MAX`] if it is
    /// not.
    pub due: Cycle,
}

impl Stalls {
    pub const fn none() -> Self {
        Self {
            all: Vec::new(),
            due: Cycle::MAX,
        }
    }

    #[inline]
    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }

    /// The stalls in effect at a cycle.
    pub fn at(&self, at: Cycle) -> impl Iterator<Item = &Stall> {
        self.all.iter().filter(move |stall| stall.holds_at(at))
    }
}
