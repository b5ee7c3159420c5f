//! Counts of a run, with their values at earlier times.

use std::collections::BTreeMap;

use npsim_chip::Cycle;
use npsim_chip::kernel::recurring_state::RecurringState;

/// Initial interval between notes, in cycles.
const FIRST_INTERVAL: Cycle = 1000;
/// Maximum number of notes; when there are more, every second one is dropped.
const KEPT: usize = 512;

/// Counts of the whole run by key, with notes of their earlier values.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct CountsOverTime<K> {
    counts: BTreeMap<K, u64>,
    /// The counts before a cycle, oldest first.
    notes: Vec<(Cycle, BTreeMap<K, u64>)>,
    interval: Cycle,
}

impl<K> Default for CountsOverTime<K> {
    fn default() -> Self {
        Self {
            counts: BTreeMap::new(),
            notes: Vec::new(),
            interval: FIRST_INTERVAL,
        }
    }
}

impl<K: Copy + Ord> CountsOverTime<K> {
    /// Adds to a count. Calls must be in order of time.
    pub fn add(&mut self, at: Cycle, key: K, count: u64) {
        let noted = self.notes.last().map_or(0, |(cycle, _)| *cycle);
        if at >= noted + self.interval {
            let cycle = at / self.interval * self.interval;
            self.notes.push((cycle, self.counts.clone()));
            if self.notes.len() > KEPT {
                self.thin();
            }
        }
        *self.counts.entry(key).or_default() += count;
    }

    /// Visits the state that additions change. A stretch of equal periods ends at the next note.
    pub fn visit_state(&mut self, at: Cycle, state: &mut RecurringState<'_>) {
        let noted = self.notes.last().map_or(0, |(cycle, _)| *cycle);
        let mut due = noted + self.interval;
        // The note is taken with the next addition, if there is one.
        let overdue = due <= at;
        state.value(if overdue {
            self.counts.values().sum()
        } else {
            0
        });
        state.time(&mut due);
        state.value(self.counts.len() as u64);
        self.counts.values_mut().for_each(|it| state.count(it));
    }

    fn thin(&mut self) {
        self.interval *= 2;
        let mut at = 0;
        self.notes.retain(|_| {
            at += 1;
            at % 2 == 0
        });
    }

    /// The counts before a cycle, or those of the first note after it.
    pub fn before(&self, cycle: Cycle) -> &BTreeMap<K, u64> {
        let note = self.notes.partition_point(|(at, _)| *at < cycle);
        self.notes
            .get(note)
            .map_or(&self.counts, |(_, counts)| counts)
    }
}

#[cfg(test)]
mod tests {
    use super::CountsOverTime;

    #[test]
    fn counts_at_any_time_are_approximately_known() {
        let mut counts = CountsOverTime::default();
        for n in 0..10_000 {
            counts.add(n * 700, 3, 2);
        }
        assert!(counts.notes.len() <= 512);
        assert_eq!(counts.before(u64::MAX)[&3], 20_000);
        for cycle in [40_000, 700_000, 5_000_000] {
            let exact = cycle / 700 * 2;
            let known = counts.before(cycle)[&3];
            // Off by no more than the distance of two notes, at two per 700 cycles.
            assert!(
                known.abs_diff(exact) <= 2 * counts.interval / 700 * 2,
                "{known}, {exact}"
            );
        }
    }
}
