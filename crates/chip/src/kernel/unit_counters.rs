//! Counters of a memory or hash unit about its own service.

use npsim_isa::CommandOp;
use serde::{Deserialize, Serialize};

use crate::Cycle;

const OPERATIONS: usize = CommandOp::ALL.len();

/// The direction in which a unit's data path is used.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum PathDirection {
    /// Out of the memory.
    Read,
    /// Into the memory.
    Write,
}

/// Counters of one unit or channel.
///
/// Counters that are incremented together are kept apart: the compiler would combine neighbours
/// into a vector addition, which takes longer than two scalar additions.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitCounters {
    #[serde(with = "serde_big_array::BigArray")]
    served: [u64; OPERATIONS],
    /// Longwords moved.
    pub words: u64,
    /// Cycles in which the unit's data path was busy reading.
    pub busy_reading: Cycle,
    /// Sum over commands of the cycles between readiness to start and the start.
    pub waiting: Cycle,
    /// Cycles in which the unit's data path was busy writing.
    pub busy_writing: Cycle,
    /// Cycles in which the unit was busy with neither reading nor writing.
    pub busy_otherwise: Cycle,
    /// Number of commands at the unit now.
    queue: u64,
    /// Most commands at the unit at one time.
    pub queue_peak: u64,
    /// Sum of departure cycles minus sum of arrival cycles, wrapping. With the present cycle added
    /// for each command still there, it is the time integral of their number.
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
    /// Counts the start of a command that waited and moves `words` longwords.
    #[inline]
    pub fn started(&mut self, op: CommandOp, words: u8, waited: Cycle) {
        self.served[op as usize] += 1;
        self.words += u64::from(words);
        self.waiting += waited;
    }

    /// Counts cycles of use of the data path.
    #[inline]
    pub fn used(&mut self, way: PathDirection, cycles: Cycle) {
        match way {
            PathDirection::Read => self.busy_reading += cycles,
            PathDirection::Write => self.busy_writing += cycles,
        }
    }

    /// Counts a command that comes and goes within the cycle.
    #[inline]
    pub fn count_immediate(&mut self) {
        self.queue_peak = self.queue_peak.max(self.queue.wrapping_add(1));
    }

    /// Counts the arrival of a command.
    #[inline]
    pub fn count_arrival(&mut self, now: Cycle) {
        self.queue = self.queue.wrapping_add(1);
        self.queue_peak = self.queue_peak.max(self.queue);
        self.stays = self.stays.wrapping_sub(now);
    }

    /// Counts the departure of a command.
    #[inline]
    pub fn count_departure(&mut self, now: Cycle) {
        self.queue = self.queue.wrapping_sub(1);
        self.stays = self.stays.wrapping_add(now);
    }

    /// Cycles in which the unit was busy.
    #[must_use]
    pub const fn busy(&self) -> Cycle {
        self.busy_reading + self.busy_writing + self.busy_otherwise
    }

    /// Time integral of the number of commands at the unit; divided by the time, it is the mean
    /// depth of the queue.
    #[must_use]
    pub const fn queue_cycles_at(&self, now: Cycle) -> Cycle {
        self.stays.wrapping_add(self.queue.wrapping_mul(now))
    }

    /// The commands served, with their counts, in the order of the instruction set; commands
    /// without any are left out.
    pub fn served(&self) -> impl Iterator<Item = (CommandOp, u64)> + '_ {
        CommandOp::ALL
            .into_iter()
            .map(|op| (op, self.served[op as usize]))
            .filter(|(_, n)| *n > 0)
    }

    /// The total number of commands served.
    #[must_use]
    pub fn total(&self) -> u64 {
        self.served.iter().sum()
    }
}
