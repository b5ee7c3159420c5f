//! What a microengine remembers of what it did ahead of the chip, so that its counts can be
//! cut at any cycle of it.
//!
//! Microengines run ahead of the chip, and a fault elsewhere may end the run at a
//! cycle that lies behind what they have done. What they do ahead of the chip's
//! present issues instructions and throws slots away; besides it only posts events behind that
//! cycle, which then never come. So the slots and their cycles are enough.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use npsim_chip::Cycle;

/// More entries than most turns make: only where there are as many, those that lie before the
/// chip's present are looked for and forgotten.
const MANY: usize = 32;

/// The issue slots that were aborted, some of them before the chip's present, in their order. A context gives
/// up the pipeline in the chip's present, so of those before that nothing is kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct AbortedSlots {
    /// The slots with which a context yielded the pipeline last: the first cycle and the one after the
    /// last.
    swap: (Cycle, Cycle),
    /// The aborted slots behind them.
    behind: Vec<(Cycle, Cycle)>,
}

impl AbortedSlots {
    /// A turn begins at a cycle. It can lie within the slots of the last swap, if a signal comes
    /// during them. Those of earlier turns are forgotten once there are many.
    #[inline]
    pub fn begin_turn(&mut self, now: Cycle) {
        if self.behind.len() > MANY {
            self.forget_turns(now);
        }
    }

    #[cold]
    #[inline(never)]
    fn forget_turns(&mut self, now: Cycle) {
        self.behind.retain(|(_, end)| *end > now);
    }

    /// Slots are aborted from a cycle on, since a context yields the pipeline in the one
    /// before.
    #[inline]
    pub fn swap(&mut self, from: Cycle, slots: Cycle) {
        self.behind.clear();
        self.swap = (from, from + slots);
    }

    /// Slots are aborted from a cycle on.
    #[inline]
    pub fn add(&mut self, from: Cycle, slots: Cycle) {
        self.behind.push((from, from + slots));
    }

    /// The cycle of the last instruction before one that executes at a cycle.
    pub fn before(&self, cycle: Cycle) -> Cycle {
        match self.behind.last() {
            Some((from, end)) if *end == cycle => from - 1,
            _ => cycle - 1,
        }
    }

    /// Forgets those that end before a cycle.
    pub fn forget_before(&mut self, now: Cycle) {
        if self.swap.1 <= now {
            self.swap = (0, 0);
        }
        self.forget_turns(now);
    }

    /// The first slot of each and the cycle after the last.
    pub fn iter(&self) -> impl Iterator<Item = (Cycle, Cycle)> {
        let swap = (self.swap.1 != self.swap.0).then_some(self.swap);
        swap.into_iter().chain(self.behind.iter().copied())
    }
}

// Each is written for itself, so that a state says nothing of how it was come by.

impl Serialize for AbortedSlots {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.iter().collect::<Vec<_>>())
    }
}

impl<'de> Deserialize<'de> for AbortedSlots {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut aborted_slots = Self::default();
        for (from, end) in Vec::<(Cycle, Cycle)>::deserialize(from)? {
            aborted_slots.add(from, end.saturating_sub(from));
        }
        Ok(aborted_slots)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots(aborted_slots: &AbortedSlots) -> Vec<(Cycle, Cycle)> {
        aborted_slots.iter().collect()
    }

    #[test]
    fn of_those_before_a_swap_nothing_is_kept() {
        let mut aborted_slots = AbortedSlots::default();
        aborted_slots.add(3, 2);
        aborted_slots.swap(8, 1);
        aborted_slots.add(12, 3);
        assert_eq!(slots(&aborted_slots), [(8, 9), (12, 15)]);
        let bytes = postcard::to_allocvec(&aborted_slots).unwrap();
        let again: AbortedSlots = postcard::from_bytes(&bytes).unwrap();
        assert_eq!(slots(&again), slots(&aborted_slots));
        aborted_slots.forget_before(9);
        assert_eq!(slots(&aborted_slots), [(12, 15)]);
        aborted_slots.swap(20, 0);
        assert_eq!(slots(&aborted_slots), []);
    }
}
