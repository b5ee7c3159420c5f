//! A record of the slots aborted ahead of the chip, with which a microengine's counts can be cut at
//! any cycle of its lead.
//!
//! Microengines run ahead of the chip, and a fault elsewhere may end the run at a cycle before
//! those that they have executed. Ahead of the chip, a microengine only issues instructions, aborts
//! slots, and posts events for later cycles, which then never come. The slots and their cycles are
//! therefore a sufficient record.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use npsim_chip::Cycle;

/// More entries than most turns add: only beyond this number are entries before the chip's present
/// searched for and dropped.
const MANY: usize = 32;

/// The aborted issue slots, in order, some of them before the chip's present. A context yields the
/// pipeline in the chip's present, so nothing before that is kept.
#[derive(Clone, Debug, Default)]
pub(crate) struct AbortedSlots {
    /// The slots with which a context last yielded the pipeline: the first cycle, and the one after
    /// the last.
    swap: (Cycle, Cycle),
    /// The aborted slots after those.
    behind: Vec<(Cycle, Cycle)>,
}

impl AbortedSlots {
    /// Begins a turn at a cycle, which can lie within the slots of the last swap if a signal
    /// arrives during them. Slots of earlier turns are dropped once there are many.
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

    /// Records slots aborted from a cycle on because a context yields the pipeline in the cycle
    /// before.
    #[inline]
    pub fn swap(&mut self, from: Cycle, slots: Cycle) {
        self.behind.clear();
        self.swap = (from, from + slots);
    }

    /// Records slots aborted from a cycle on.
    #[inline]
    pub fn add(&mut self, from: Cycle, slots: Cycle) {
        self.behind.push((from, from + slots));
    }

    /// The cycle of the last instruction before the one that executes at a cycle.
    pub fn before(&self, cycle: Cycle) -> Cycle {
        match self.behind.last() {
            Some((from, end)) if *end == cycle => from - 1,
            _ => cycle - 1,
        }
    }

    /// Drops the slots that end before a cycle.
    pub fn forget_before(&mut self, now: Cycle) {
        if self.swap.1 <= now {
            self.swap = (0, 0);
        }
        self.forget_turns(now);
    }

    /// The first cycle of each group of slots, and the cycle after its last.
    pub fn iter(&self) -> impl Iterator<Item = (Cycle, Cycle)> {
        let swap = (self.swap.1 != self.swap.0).then_some(self.swap);
        swap.into_iter().chain(self.behind.iter().copied())
    }
}

// Each group is written separately, so that the saved state does not depend on how it came about.

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
    fn forget_before_drops_earlier_aborted_slots() {
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
