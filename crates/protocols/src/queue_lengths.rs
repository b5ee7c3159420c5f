//! Lengths of packet queues, computed from the microcode's counts of bytes in and
//! out.

use npsim_chip::Cycle;
use npsim_chip::gpp::{Access, LoadError, LongwordAddress, Start};
use serde::{Deserialize, Serialize};

/// Bytes of a queue's counters.
const QUEUE_BYTES: u32 = 32;

/// Index of the low longword of the bytes in, among the eight longwords read. The
/// order is packets in, bytes in, packets out, bytes out, each 64 bits with the
/// high half first.
const BYTES_IN: usize = 3;
/// Index of the low longword of the bytes out.
const BYTES_OUT: usize = 7;

/// The queues of one group, read one after the other with one access each.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct QueueLengths {
    /// The counters of each queue.
    queues: Vec<LongwordAddress>,
    next: usize,
    bytes: u32,
}

impl QueueLengths {
    pub fn new(queues: Vec<LongwordAddress>) -> Self {
        Self {
            queues,
            next: 0,
            bytes: 0,
        }
    }

    /// Checks that the counters are within memory.
    pub fn check(&self, start: &Start<'_>) -> Result<(), LoadError> {
        let mut queues = self.queues.iter();
        queues.try_for_each(|queue| start.check(*queue, QUEUE_BYTES))
    }

    /// Whether the group has no queues to read.
    pub fn is_empty(&self) -> bool {
        self.queues.is_empty()
    }

    /// Reads the next queue: returns the cycles that it takes and, after the last
    /// queue, the total bytes in all of them. The total of a group without queues
    /// is 0.
    pub fn step(&mut self, access: &mut Access<'_>) -> (Cycle, Option<u32>) {
        let mut cost = 0;
        if let Some(&place) = self.queues.get(self.next) {
            let (words, lasts) = access.read::<8>(place);
            // The counts in and out are updated by separate accesses: a leaving
            // packet may so far be counted as out only, which makes the difference
            // negative.
            let length = words[BYTES_IN].wrapping_sub(words[BYTES_OUT]);
            self.bytes = self
                .bytes
                .saturating_add(length.cast_signed().max(0) as u32);
            cost = lasts;
            self.next += 1;
        }
        if self.next < self.queues.len() {
            return (cost, None);
        }
        self.next = 0;
        (cost, Some(std::mem::take(&mut self.bytes)))
    }
}
