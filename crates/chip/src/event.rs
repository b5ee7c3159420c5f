//! The event queue: everything that will happen, in one total order.
//!
//! Events sort by (time, rank, sequence number), so nothing depends on hash
//! order, threads or addresses.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::Cycle;
use crate::fabric::Slot;

/// Something that happens at a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Event {
    /// The last data word of a command is in the IN registers (rank 0).
    Push(Slot),
    /// A command's data has been taken from the OUT registers (rank 0).
    Pull(Slot),
    /// A signal reaches a context (rank 0).
    Signal {
        /// Index of the microengine, 0 to n - 1.
        me: u8,
        /// Context 0-7.
        context: u8,
        /// Signal number 1-15.
        signal: u8,
    },
    /// A word reaches a microengine's next-neighbour ring (rank 0).
    NnPut {
        /// Index of the receiving microengine.
        me: u8,
        /// Position in the ring, 0-127.
        index: u8,
        /// The word.
        value: u32,
    },
    /// A command reaches its unit's inlet (rank 1).
    Arrive(Slot),
    /// A unit has served a command (rank 1).
    Ready(Slot),
    /// The media interface has something to do: its own code (rank 2).
    Media(u32),
    /// The general-purpose core's task runs (rank 3).
    Gpp(u16),
    /// A microengine goes on (rank 4, then by its number).
    Microengine(u8),
}

impl Event {
    const fn rank(self) -> u8 {
        match self {
            Self::Push(_) | Self::Pull(_) | Self::Signal { .. } | Self::NnPut { .. } => 0,
            Self::Arrive(_) | Self::Ready(_) => 1,
            Self::Media(_) => 2,
            Self::Gpp(_) => 3,
            Self::Microengine(me) => 4 + me,
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Entry {
    time: Cycle,
    /// rank in the top byte, sequence below: one comparison orders both.
    order: u64,
    event: Event,
}

impl Ord for Entry {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.time, self.order).cmp(&(other.time, other.order))
    }
}

impl PartialOrd for Entry {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

/// All pending events.
#[derive(Clone, Debug, Default)]
pub struct EventQueue {
    heap: BinaryHeap<Reverse<Entry>>,
    sequence: u64,
}

impl EventQueue {
    /// Adds an event at a cycle that is not in the past.
    pub fn post(&mut self, time: Cycle, event: Event) {
        let order = u64::from(event.rank()) << 56 | self.sequence;
        self.sequence += 1;
        self.heap.push(Reverse(Entry { time, order, event }));
    }

    /// The time of the next event; `Cycle::MAX` when nothing is pending.
    #[must_use]
    pub fn next_time(&self) -> Cycle {
        self.heap.peek().map_or(Cycle::MAX, |entry| entry.0.time)
    }

    /// Takes the next event.
    pub fn pop(&mut self) -> Option<(Cycle, Event)> {
        self.heap.pop().map(|Reverse(entry)| (entry.time, entry.event))
    }

    /// Number of pending events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.heap.len()
    }

    /// Whether nothing is pending.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.heap.is_empty()
    }
}
