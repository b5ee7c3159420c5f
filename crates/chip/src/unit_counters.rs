//! What a memory or hash unit counts about its own service.

use npsim_isa::CommandOp;
use serde::{Deserialize, Serialize};

use crate::Cycle;

const OPERATIONS: usize = CommandOp::ALL.len();

/// Counts of one unit or channel.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct UnitCounters {
    #[serde(with = "serde_big_array::BigArray")]
    served: [u64; OPERATIONS],
    /// Longwords moved.
    pub words: u64,
    /// Cycles in which the unit's data path was busy, both directions together.
    pub busy: Cycle,
    /// Most commands that were at the unit at one time.
    pub queue_peak: u64,
    /// Sum over commands of the cycles from being able to start to the start.
    pub waiting: Cycle,
}

impl Default for UnitCounters {
    fn default() -> Self {
        Self {
            served: [0; OPERATIONS],
            words: 0,
            busy: 0,
            queue_peak: 0,
            waiting: 0,
        }
    }
}

impl UnitCounters {
    /// A command was started that waited and moves `words` longwords.
    pub fn started(&mut self, op: CommandOp, words: u8, waited: Cycle) {
        self.served[op as usize] += 1;
        self.words += u64::from(words);
        self.waiting += waited;
    }

    /// There are now this many commands at the unit.
    pub fn queue(&mut self, len: usize) {
        self.queue_peak = self.queue_peak.max(len as u64);
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
