//! What a microengine remembers of what it did ahead of the chip, so that its counts can be
//! cut at any cycle of it.
//!
//! Microengines run ahead of the chip, and a fault elsewhere may end the run at a
//! cycle that lies behind what they have done. What they do ahead of the chip's
//! present issues instructions and throws slots away; besides it only posts events behind that
//! cycle, which then never come. So the slots and their cycles are enough.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::Cycle;

/// More entries than most turns make: only where there are as many, those that lie before the
/// chip's present are looked for and forgotten.
const MANY: usize = 32;

/// The issue slots that were thrown away, some of them before the chip's present, in their order. A context gives
/// up the pipeline in the chip's present, so of those before that nothing is kept.
#[derive(Clone, Debug, Default)]
pub(super) struct Thrown {
    /// Those with which a context gave up the pipeline last: the first and the cycle after the
    /// last.
    swap: (Cycle, Cycle),
    /// Those behind them.
    behind: Vec<Aborted>,
}

/// Slots that were thrown away together, or those of a line that goes round, which are
/// as many in each round.
#[derive(Clone, Copy, Debug)]
struct Aborted {
    from: Cycle,
    /// The cycle after the last of all.
    end: Cycle,
    /// How many there are at a time.
    slots: Cycle,
    /// Cycles from one time to the next; 0 if there is only one.
    period: Cycle,
}

impl Aborted {
    /// The first slot of each time and the cycle after its last.
    fn times(self) -> impl Iterator<Item = (Cycle, Cycle)> {
        let last = self.end - self.slots;
        (self.from..=last)
            .step_by(self.period.max(1) as usize)
            .map(move |from| (from, from + self.slots))
    }

    /// Leaves out those that end before a cycle or at it; false if that is all.
    fn forget_before(&mut self, now: Cycle) -> bool {
        if self.end <= now {
            return false;
        }
        while self.from + self.slots <= now {
            self.from += self.period;
        }
        true
    }
}

impl Thrown {
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
        self.behind.retain(|slots| slots.end > now);
    }

    /// Slots are thrown away from a cycle on, since a context gives up the pipeline in the one
    /// before.
    #[inline]
    pub fn swap(&mut self, from: Cycle, slots: Cycle) {
        self.behind.clear();
        self.swap = (from, from + slots);
    }

    /// Slots are thrown away from a cycle on.
    #[inline]
    pub fn add(&mut self, from: Cycle, slots: Cycle) {
        self.behind.push(Aborted {
            from,
            end: from + slots,
            slots,
            period: 0,
        });
    }

    /// Slots are thrown away from a cycle on, so many times, which is not 0, a number of
    /// cycles apart.
    pub fn add_every(&mut self, from: Cycle, slots: Cycle, (times, period): (Cycle, Cycle)) {
        self.behind.push(Aborted {
            from,
            end: from + (times - 1) * period + slots,
            slots,
            period,
        });
    }

    /// The cycle of the last instruction before one that executes at a cycle.
    pub fn before(&self, cycle: Cycle) -> Cycle {
        match self.behind.last() {
            Some(last) if last.end == cycle => last.end - last.slots - 1,
            _ => cycle - 1,
        }
    }

    /// Forgets those that end before a cycle.
    pub fn forget_before(&mut self, now: Cycle) {
        if self.swap.1 <= now {
            self.swap = (0, 0);
        }
        self.behind.retain_mut(|slots| slots.forget_before(now));
    }

    /// The first slot of each and the cycle after the last.
    pub fn iter(&self) -> impl Iterator<Item = (Cycle, Cycle)> {
        let swap = (self.swap.1 != self.swap.0).then_some(self.swap);
        let behind = self.behind.iter().flat_map(|slots| slots.times());
        swap.into_iter().chain(behind)
    }
}

// Each is written for itself, so that a state says nothing of how it was come by.

impl Serialize for Thrown {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_seq(self.iter().collect::<Vec<_>>())
    }
}

impl<'de> Deserialize<'de> for Thrown {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let mut thrown = Self::default();
        for (from, end) in Vec::<(Cycle, Cycle)>::deserialize(from)? {
            thrown.add(from, end.saturating_sub(from));
        }
        Ok(thrown)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn slots(thrown: &Thrown) -> Vec<(Cycle, Cycle)> {
        thrown.iter().collect()
    }

    #[test]
    fn of_those_before_a_swap_nothing_is_kept() {
        let mut thrown = Thrown::default();
        thrown.add(3, 2);
        thrown.swap(8, 1);
        thrown.add(12, 3);
        assert_eq!(slots(&thrown), [(8, 9), (12, 15)]);
        let bytes = postcard::to_allocvec(&thrown).unwrap();
        let again: Thrown = postcard::from_bytes(&bytes).unwrap();
        assert_eq!(slots(&again), slots(&thrown));
        thrown.forget_before(9);
        assert_eq!(slots(&thrown), [(12, 15)]);
        thrown.swap(20, 0);
        assert_eq!(slots(&thrown), []);
    }

    #[test]
    fn slots_of_rounds_are_like_those_of_one_branch_after_another() {
        let (mut together, mut apart) = (Thrown::default(), Thrown::default());
        together.add(3, 2);
        together.add_every(10, 3, (4, 9));
        together.add(50, 1);
        apart.add(3, 2);
        (0..4).for_each(|round| apart.add(10 + 9 * round, 3));
        apart.add(50, 1);
        assert_eq!(slots(&together), slots(&apart));
        let bytes = postcard::to_allocvec(&together).unwrap();
        assert_eq!(bytes, postcard::to_allocvec(&apart).unwrap());
        let again: Thrown = postcard::from_bytes(&bytes).unwrap();
        assert_eq!(slots(&again), slots(&apart));
        for now in 0..60 {
            let (mut together, mut apart) = (together.clone(), apart.clone());
            together.forget_before(now);
            apart.forget_before(now);
            assert_eq!(slots(&together), slots(&apart), "before {now}");
            together.begin_turn(now);
            apart.begin_turn(now);
            assert_eq!(slots(&together), slots(&apart), "a turn at {now}");
        }
    }
}
