//! What each microengine has given on to which end until when.

use std::collections::BTreeMap;

use npsim_chip::Cycle;

use super::WorkEnd;

/// Cycles between the first notes.
const FIRST_INTERVAL: Cycle = 1000;
/// Notes that are kept; when there are more, every second one goes.
const KEPT: usize = 512;

type EndCounts = BTreeMap<(u8, WorkEnd), u64>;

/// Counts of the whole run, with notes of what they were before.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct Given {
    counts: EndCounts,
    /// What they were before a cycle, oldest first.
    notes: Vec<(Cycle, EndCounts)>,
    interval: Cycle,
}

impl Default for Given {
    fn default() -> Self {
        Self {
            counts: EndCounts::new(),
            notes: Vec::new(),
            interval: FIRST_INTERVAL,
        }
    }
}

impl Given {
    /// Adds work that is given, not before what was added earlier.
    pub fn add(&mut self, at: Cycle, me: u8, end: WorkEnd, count: u64) {
        let noted = self.notes.last().map_or(0, |(cycle, _)| *cycle);
        if at >= noted + self.interval {
            let cycle = at / self.interval * self.interval;
            self.notes.push((cycle, self.counts.clone()));
            if self.notes.len() > KEPT {
                self.thin();
            }
        }
        *self.counts.entry((me, end)).or_default() += count;
    }

    fn thin(&mut self) {
        self.interval *= 2;
        let mut at = 0;
        self.notes.retain(|_| {
            at += 1;
            at % 2 == 0
        });
    }

    /// The counts before a cycle, or those of the first note behind it.
    pub fn before(&self, cycle: Cycle) -> &EndCounts {
        let note = self.notes.partition_point(|(at, _)| *at < cycle);
        self.notes
            .get(note)
            .map_or(&self.counts, |(_, counts)| counts)
    }
}

#[cfg(test)]
mod tests {
    use super::{Given, WorkEnd};

    #[test]
    fn counts_are_known_for_each_time_of_a_long_run() {
        let mut given = Given::default();
        for n in 0..10_000 {
            given.add(n * 700, 3, WorkEnd::Ring(1), 2);
        }
        assert!(given.notes.len() <= 512);
        assert_eq!(given.before(u64::MAX)[&(3, WorkEnd::Ring(1))], 20_000);
        for cycle in [40_000, 700_000, 5_000_000] {
            let exact = cycle / 700 * 2;
            let known = given.before(cycle)[&(3, WorkEnd::Ring(1))];
            // No farther off than two notes lie apart, at two each 700 cycles.
            assert!(
                known.abs_diff(exact) <= 2 * given.interval / 700 * 2,
                "{known}, {exact}"
            );
        }
    }
}
