//! The event queue: what happens when, in one total order.
//!
//! Events order by (time, rank, sequence). The rank puts data and signals that
//! reach registers before units, units before the media interface, and
//! microengines last, so a microengine that looks at a cycle sees everything
//! that happened up to and at that cycle.
//!
//! Nearly all events lie less than a thousand cycles ahead. They stand in a
//! wheel of one bucket per cycle, each bucket a short list in order; a bitmap
//! finds the next bucket that is not empty. Later events wait in a heap and
//! move to the wheel when their time comes near.

use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::Cycle;
use crate::bus::Target;
use crate::fabric::Slot;

/// Something that happens at a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
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
        /// A put to the ring; else a write of one register.
        ring: bool,
    },
    /// A context's future count may have come (rank 0).
    Timer {
        /// Index of the microengine, 0 to n - 1.
        me: u8,
        /// Context 0-7.
        context: u8,
    },
    /// The arbiter of a cluster's command bus looks at what waits (rank 1).
    CommandBus(u8),
    /// A command reaches its unit's inlet (rank 1).
    Arrive(Slot),
    /// A unit has served a command (rank 1).
    Ready(Slot),
    /// A unit that was busy can start its next command (rank 1).
    Turn(Target),
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
            Self::Push(_)
            | Self::Pull(_)
            | Self::Signal { .. }
            | Self::Timer { .. }
            | Self::NnPut { .. } => 0,
            Self::CommandBus(_) | Self::Arrive(_) | Self::Ready(_) | Self::Turn(_) => 1,
            Self::Media(_) => 2,
            Self::Gpp(_) => 3,
            Self::Microengine(me) => 4 + me,
        }
    }
}

/// Cycles that the wheel covers; a power of two.
const SPAN: usize = 1024;
const MASK: Cycle = SPAN as Cycle - 1;
const WORDS: usize = SPAN / 64;
/// End of a bucket's list and of the list of free nodes.
const NIL: u32 = u32::MAX;

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Far {
    time: Cycle,
    /// Rank in the top byte, sequence below: one comparison orders both.
    order: u64,
    event: Event,
}

impl Ord for Far {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        (self.time, self.order).cmp(&(other.time, other.order))
    }
}

impl PartialOrd for Far {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

#[derive(Clone, Copy, Debug)]
struct Node {
    order: u64,
    event: Event,
    next: u32,
}

/// All pending events.
#[derive(Clone, Debug)]
pub struct EventQueue {
    /// First node of each bucket; every event in the wheel has a time in
    /// `base .. base + SPAN`.
    buckets: Vec<u32>,
    occupied: [u64; WORDS],
    nodes: Vec<Node>,
    free: u32,
    /// Events of `base + SPAN` and later.
    far: BinaryHeap<Reverse<Far>>,
    base: Cycle,
    next: Cycle,
    len: usize,
    sequence: u64,
}

impl Default for EventQueue {
    fn default() -> Self {
        Self {
            buckets: vec![NIL; SPAN],
            occupied: [0; WORDS],
            nodes: Vec::new(),
            free: NIL,
            far: BinaryHeap::new(),
            base: 0,
            next: Cycle::MAX,
            len: 0,
            sequence: 0,
        }
    }
}

impl EventQueue {
    /// Adds an event. A time before the last event that was taken counts as
    /// that event's time.
    pub fn post(&mut self, time: Cycle, event: Event) {
        debug_assert!(time >= self.base, "{event:?} is posted into the past");
        let time = time.max(self.base);
        let order = u64::from(event.rank()) << 56 | self.sequence;
        self.sequence += 1;
        self.len += 1;
        if time - self.base < SPAN as Cycle {
            self.insert(time, order, event);
        } else {
            self.far.push(Reverse(Far { time, order, event }));
        }
        self.next = self.next.min(time);
    }

    /// The time of the next event; `Cycle::MAX` when nothing is pending.
    #[must_use]
    pub fn next_time(&self) -> Cycle {
        self.next
    }

    /// Takes the next event.
    pub fn pop(&mut self) -> Option<(Cycle, Event)> {
        if self.len == 0 {
            return None;
        }
        let time = self.next;
        self.base = time;
        while let Some(Reverse(far)) = self.far.peek()
            && far.time - time < SPAN as Cycle
        {
            let far = *far;
            self.far.pop();
            self.insert(far.time, far.order, far.event);
        }
        let bucket = (time & MASK) as usize;
        let index = self.buckets[bucket];
        let node = self.nodes[index as usize];
        self.nodes[index as usize].next = self.free;
        self.free = index;
        self.buckets[bucket] = node.next;
        self.len -= 1;
        if node.next == NIL {
            self.occupied[bucket / 64] &= !(1 << (bucket % 64));
            self.next = self.find_next();
        }
        Some((time, node.event))
    }

    /// Number of pending events.
    #[must_use]
    pub fn len(&self) -> usize {
        self.len
    }

    /// Whether nothing is pending.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.len == 0
    }

    fn insert(&mut self, time: Cycle, order: u64, event: Event) {
        let bucket = (time & MASK) as usize;
        let mut before = NIL;
        let mut after = self.buckets[bucket];
        while after != NIL && self.nodes[after as usize].order < order {
            before = after;
            after = self.nodes[after as usize].next;
        }
        let node = Node {
            order,
            event,
            next: after,
        };
        let index = self.free;
        let index = if index == NIL {
            self.nodes.push(node);
            self.nodes.len() as u32 - 1
        } else {
            self.free = self.nodes[index as usize].next;
            self.nodes[index as usize] = node;
            index
        };
        if before == NIL {
            self.buckets[bucket] = index;
            self.occupied[bucket / 64] |= 1 << (bucket % 64);
        } else {
            self.nodes[before as usize].next = index;
        }
    }

    /// The earliest time in the wheel from `base` on, else in the heap.
    fn find_next(&self) -> Cycle {
        let start = (self.base & MASK) as usize;
        let (word, bit) = (start / 64, start % 64);
        for step in 0..=WORDS {
            let at = (word + step) % WORDS;
            let mut bits = self.occupied[at];
            if step == 0 {
                bits &= u64::MAX << bit;
            } else if step == WORDS {
                bits &= !(u64::MAX << bit);
            }
            if bits != 0 {
                let bucket = at * 64 + bits.trailing_zeros() as usize;
                return self.base + ((bucket.wrapping_sub(start)) as Cycle & MASK);
            }
        }
        self.far.peek().map_or(Cycle::MAX, |far| far.0.time)
    }
}

mod order;
#[cfg(test)]
mod tests;
