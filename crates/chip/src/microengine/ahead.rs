//! What a microengine remembers of the present turn so that its counts can be cut
//! at any cycle of it.
//!
//! Microengines run ahead of the chip, and a fault elsewhere may end the run at a
//! cycle that lies behind what they have done. What they do ahead of the chip's
//! present issues instructions and throws slots away, and nothing else, so the slots
//! and their cycles are enough. Those of earlier turns lie before the chip's present.

use serde::{Deserialize, Serialize};

use crate::Cycle;

/// The issue slots that were thrown away in the present turn.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct Thrown(Vec<(Cycle, Cycle)>);

impl Thrown {
    /// A turn begins at a cycle. It can lie within the slots of the last swap, if a
    /// signal comes during them.
    #[inline]
    pub fn begin_turn(&mut self, now: Cycle) {
        if self.0.last().is_some_and(|last| last.1 <= now) {
            self.0.clear();
        }
    }

    /// Slots are thrown away from a cycle on.
    #[inline]
    pub fn add(&mut self, from: Cycle, slots: Cycle) {
        self.0.push((from, from + slots));
    }

    /// Forgets those that end before a cycle.
    pub fn forget_before(&mut self, now: Cycle) {
        self.0.retain(|slots| slots.1 > now);
    }

    /// The first slot of each and the cycle after the last.
    pub fn iter(&self) -> impl Iterator<Item = (Cycle, Cycle)> {
        self.0.iter().copied()
    }
}
