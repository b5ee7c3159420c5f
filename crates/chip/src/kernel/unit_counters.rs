//! What a memory or hash unit counts about its own service.

use npsim_isa::CommandOp;
use serde::{Deserialize, Serialize};

use crate::Cycle;

const OPERATIONS: usize = CommandOp::ALL.len();

/// Which way a unit's data path was used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathDirection {
    /// Out of the memory.
    Read,
    /// Into the memory.
    Write,
}

/// Counts of one unit or channel.
///
/// Counters that are incremented together stand apart from one another: where two are neighbours
/// the compiler makes one vector of them, which takes more than two additions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitCounters {
    #[serde(with = "serde_big_array::BigArray")]
    served: [u64; OPERATIONS],
    /// Longwords moved.
    pub words: u64,
    /// Cycles in which the unit's data path was busy reading.
    pub busy_reading: Cycle,
    /// Sum over commands of the cycles from being able to start to the start.
    pub waiting: Cycle,
    /// Cycles in which the unit's data path was busy writing.
    pub busy_writing: Cycle,
    /// Cycles in which the unit was busy with neither.
    pub busy_otherwise: Cycle,
    /// Commands at the unit now.
    queue: u64,
    /// Most commands that were at the unit at one time.
    pub queue_peak: u64,
    /// The cycles in which commands went, without those in which they came: with the
    /// present cycle for each that is still there it is the time integral of their number.
    /// It wraps.
    stays: Cycle,
}

impl Default for UnitCounters {
    fn default() -> Self {
        Self {
            served: [0; OPERATIONS],
            words: 0,
            busy_reading: 0,
            waiting: 0,
            busy_writing: 0,
            busy_otherwise: 0,
            queue: 0,
            queue_peak: 0,
            stays: 0,
        }
    }
}

impl UnitCounters {
    /// A command was started that waited and moves `words` longwords.
    #[inline]
    pub fn started(&mut self, op: CommandOp, words: u8, waited: Cycle) {
        self.served[op as usize] += 1;
        self.words += u64::from(words);
        self.waiting += waited;
    }

    /// The data path is taken for so many cycles more.
    #[inline]
    pub fn used(&mut self, way: PathDirection, cycles: Cycle) {
        match way {
            PathDirection::Read => self.busy_reading += cycles,
            PathDirection::Write => self.busy_writing += cycles,
        }
    }

    /// A command comes and goes within the cycle.
    #[inline]
    pub fn pass(&mut self) {
        self.queue_peak = self.queue_peak.max(self.queue.wrapping_add(1));
    }

    /// A command has come.
    #[inline]
    pub fn came(&mut self, now: Cycle) {
        self.queue = self.queue.wrapping_add(1);
        self.queue_peak = self.queue_peak.max(self.queue);
        self.stays = self.stays.wrapping_sub(now);
    }

    /// A command that came is no longer there.
    #[inline]
    pub fn went(&mut self, now: Cycle) {
        self.queue = self.queue.wrapping_sub(1);
        self.stays = self.stays.wrapping_add(now);
    }

    /// Cycles in which the unit was busy.
    #[must_use]
    pub const fn busy(&self) -> Cycle {
        self.busy_reading + self.busy_writing + self.busy_otherwise
    }

    /// Time integral of the number of commands that wait at the unit: divided
    /// by the time it is the mean depth of the queue.
    #[must_use]
    pub const fn queue_cycles_at(&self, now: Cycle) -> Cycle {
        self.stays.wrapping_add(self.queue.wrapping_mul(now))
    }

    /// Commands that were served, with their counts, in the order of the
    /// instruction set; those that never came are left out.
    pub fn served(&self) -> impl Iterator<Item = (CommandOp, u64)> + '_ {
        CommandOp::ALL
            .into_iter()
            .map(|op| (op, self.served[op as usize]))
            .filter(|(_, n)| *n > 0)
    }

    /// All commands that were served.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.served.iter().sum()
    }
}
