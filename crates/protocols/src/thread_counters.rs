//! Counters that fast-path threads keep in memory: a record per thread and group of ports. The slow
//! path reads one record after the other and takes differences.

use npsim_chip::Cycle;
use npsim_chip::gpp::{Access, LoadError, LongwordAddress, Start};
use serde::{Deserialize, Serialize};

/// Counters of one thread for one group. Each counter only grows, modulo its width.
pub trait ThreadRecord<const WORDS: usize>: Copy + Default {
    /// Bytes from one record to the next.
    const STRIDE: u32 = 4 * WORDS.next_power_of_two() as u32;

    /// Reads a record from memory. 64-bit counters have their low half first.
    fn from_words(words: [u32; WORDS]) -> Self;

    /// Returns the increase since `earlier`.
    #[must_use]
    fn since(&self, earlier: &Self) -> Self;

    /// Adds the counters of another thread.
    fn add(&mut self, other: &Self);
}

/// The location of the records.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ThreadCounters {
    /// The record of thread 0 for the first group.
    pub place: LongwordAddress,
    /// The threads that count; the layout has room for those in between as well.
    pub threads: Vec<u16>,
}

impl ThreadCounters {
    /// Checks that the records of `groups` groups, `stride` bytes each, are within memory.
    pub(crate) fn check(
        &self,
        groups: usize,
        stride: u32,
        start: &Start<'_>,
    ) -> Result<(), LoadError> {
        let last = self.threads.iter().max();
        let threads = last.map_or(0, |last| u32::from(*last) + 1);
        start.check(self.place, threads * groups as u32 * stride)
    }
}

/// Counts of all threads for one group, as far as their records have been read.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct GroupCounters<C, const WORDS: usize> {
    /// The group, and the number of groups.
    group: (usize, usize),
    /// Each thread's record as last read.
    seen: Vec<C>,
    /// The differences not yet [taken](Self::take).
    arrived: C,
}

impl<C: ThreadRecord<WORDS>, const WORDS: usize> GroupCounters<C, WORDS> {
    /// Creates the counters of `group`, one of `groups`, before any is read.
    pub fn new(threads: usize, group: usize, groups: usize) -> Self {
        Self {
            group: (group, groups),
            seen: vec![C::default(); threads],
            arrived: C::default(),
        }
    }

    /// The sum of the records as last read.
    pub fn counted(&self) -> C {
        let mut all = C::default();
        for thread in &self.seen {
            all.add(thread);
        }
        all
    }

    /// Takes the contents of the records before the first cycle as already counted.
    pub fn prepare(&mut self, of: &ThreadCounters, start: &Start<'_>) {
        let (group, groups) = self.group;
        for (seen, thread) in self.seen.iter_mut().zip(&of.threads) {
            let record = of.place.of_thread(*thread, groups, group, C::STRIDE);
            let word = |at: usize| start.read(record.after(4 * at as u32));
            *seen = C::from_words(std::array::from_fn(word));
        }
    }

    /// Reads the record of the thread at `index`, if there is one; returns the cycles that this
    /// takes, and whether it was the last.
    pub fn read(
        &mut self,
        index: usize,
        of: &ThreadCounters,
        access: &mut Access<'_>,
    ) -> (Cycle, bool) {
        let Some(&thread) = of.threads.get(index) else {
            return (0, true);
        };
        let (group, groups) = self.group;
        let record = of.place.of_thread(thread, groups, group, C::STRIDE);
        let (words, cost) = access.read(record);
        let now = C::from_words(words);
        self.arrived.add(&now.since(&self.seen[index]));
        self.seen[index] = now;
        (cost, index + 1 == of.threads.len())
    }

    /// Returns what was counted since the last call.
    pub fn take(&mut self) -> C {
        std::mem::take(&mut self.arrived)
    }
}
