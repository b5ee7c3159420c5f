//! The event queue: what happens when, in one total order.
//!
//! Events order by (time, rank, sequence). The rank puts data and signals that
//! reach registers before units, units before the media interface, and
//! microengines last, so a microengine that looks at a cycle sees everything
//! that happened up to and at that cycle.
//!
//! Nearly all events lie less than four thousand cycles ahead. They stand in a
//! wheel of one bucket per cycle, each bucket a short list in order; a bitmap
//! finds the next bucket that is not empty. Later events wait in a heap and
//! move to the wheel when their time comes near. Turns of microengines, half of
//! all events, are last in their cycle and one each, so in the wheel they are but
//! a bit for each microengine.

use serde::{Deserialize, Serialize};
use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::Cycle;
use crate::kernel::command::Slot;
use crate::kernel::raiser::Raiser;
use crate::kernel::target::Target;

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
        /// Who raised it.
        by: Raiser,
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
    /// A stall of a context is over that held a microengine back (rank 0).
    StallOver(u8),
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
    #[inline]
    const fn rank(self) -> u8 {
        match self {
            Self::Push(_)
            | Self::Pull(_)
            | Self::Signal { .. }
            | Self::Timer { .. }
            | Self::StallOver(_)
            | Self::NnPut { .. } => 0,
            Self::CommandBus(_) | Self::Arrive(_) | Self::Ready(_) | Self::Turn(_) => 1,
            Self::Media(_) => 2,
            Self::Gpp(_) => 3,
            Self::Microengine(me) => 4 + me,
        }
    }
}

/// Cycles that the wheel covers: as many as 64 words of 64 bits have bits, so
/// that one more word tells which of them have any.
const SPAN: usize = 64 * 64;
const MASK: Cycle = SPAN as Cycle - 1;
const WORDS: usize = SPAN / 64;
/// Microengines of the largest chip.
const MICROENGINES: usize = 16;
/// End of a bucket's list and of the list of free nodes.
const NIL: u32 = u32::MAX;

/// The turn of a microengine that has none.
const NEVER: Cycle = Cycle::MAX;

/// What happens in one cycle.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    /// The first of the list of events but turns.
    first: u32,
    /// Bit m: microengine m has its turn.
    turns: u16,
}

const EMPTY: Bucket = Bucket {
    first: NIL,
    turns: 0,
};

impl Bucket {
    #[inline]
    const fn is_empty(self) -> bool {
        self.first == NIL && self.turns == 0
    }
}

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
    /// Every event in the wheel has a time in `base .. base + SPAN`.
    buckets: Box<[Bucket; SPAN]>,
    /// Bit per bucket that is not empty, and bit per word of them that is not 0.
    occupied: [u64; WORDS],
    words: u64,
    nodes: Vec<Node>,
    free: u32,
    /// Nodes that are not free.
    used: usize,
    /// Events of `base + SPAN` and later.
    far: BinaryHeap<Reverse<Far>>,
    /// When each microengine takes its turn; `NEVER` for not at all. Turns come last
    /// in their cycle, by the microengine's number.
    turns: [Cycle; MICROENGINES],
    base: Cycle,
    /// The earliest of `far`, and of all.
    next_far: Cycle,
    next: Cycle,
    sequence: u64,
}

impl Default for EventQueue {
    fn default() -> Self {
        Self {
            buckets: vec![EMPTY; SPAN].try_into().expect("one for each cycle"),
            occupied: [0; WORDS],
            words: 0,
            nodes: Vec::new(),
            free: NIL,
            used: 0,
            far: BinaryHeap::new(),
            turns: [NEVER; MICROENGINES],
            base: 0,
            next_far: Cycle::MAX,
            next: Cycle::MAX,
            sequence: 0,
        }
    }
}

impl EventQueue {
    /// Adds an event. A time before the last event that was taken counts as
    /// that event's time. A microengine has one turn to come: of two the earlier
    /// one stands.
    #[inline(always)]
    #[allow(clippy::inline_always)] // What is left of it depends on the kind, which callers know.
    pub fn post(&mut self, time: Cycle, event: Event) {
        debug_assert!(time >= self.base, "{event:?} is posted into the past");
        // The kind is a constant where this is inlined, so that the test and the rank cost
        // nothing and what is left is one call.
        if let Event::Microengine(me) = event {
            self.post_turn(time, me);
        } else {
            self.post_other(time, u64::from(event.rank()) << 56, event);
        }
    }

    #[inline]
    fn post_turn(&mut self, time: Cycle, me: u8) {
        let time = time.max(self.base);
        let me = me as usize % MICROENGINES;
        // A microengine that goes on attends to all that has happened, whoever woke it. So the
        // later of two turns would find nothing to do, and the earlier one posts what it
        // needs.
        let turn = self.turns[me];
        if turn <= time {
            return;
        }
        if turn != NEVER {
            self.withdraw_turn(turn, me);
        }
        self.turns[me] = time;
        self.next = self.next.min(time);
        if time - self.base < SPAN as Cycle {
            self.insert_turn(time, me);
        } else {
            let event = Event::Microengine(me as u8);
            self.post_far(time, u64::from(event.rank()) << 56, event);
        }
    }

    #[inline]
    fn insert_turn(&mut self, time: Cycle, me: usize) {
        let bucket = (time & MASK) as usize;
        self.buckets[bucket].turns |= 1 << me;
        self.occupied[bucket / 64] |= 1 << (bucket % 64);
        self.words |= 1 << (bucket / 64);
    }

    /// Takes a turn back.
    #[inline(never)]
    fn withdraw_turn(&mut self, time: Cycle, me: usize) {
        if time - self.base < SPAN as Cycle {
            let bucket = (time & MASK) as usize;
            self.buckets[bucket].turns &= !(1 << me);
            self.clear_if_empty(bucket);
        } else {
            let turn = Event::Microengine(me as u8);
            self.far.retain(|far| far.0.event != turn);
            self.next_far = self.far.peek().map_or(Cycle::MAX, |far| far.0.time);
        }
    }

    #[inline]
    fn clear_if_empty(&mut self, bucket: usize) {
        if self.buckets[bucket].is_empty() {
            let word = &mut self.occupied[bucket / 64];
            *word &= !(1 << (bucket % 64));
            self.words &= !(u64::from(*word == 0) << (bucket / 64));
        }
    }

    #[inline(never)]
    fn post_other(&mut self, time: Cycle, rank: u64, event: Event) {
        let order = rank | self.sequence;
        self.sequence += 1;
        self.put(time.max(self.base), order, event);
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // It is what its one busy caller does.
    fn put(&mut self, time: Cycle, order: u64, event: Event) {
        // Calls are last, so that what is done nearly always need not keep registers for them.
        if self.free == NIL || time - self.base >= SPAN as Cycle {
            return self.put_rarely(time, order, event);
        }
        self.next = self.next.min(time);
        self.insert(time, order, event);
    }

    #[cold]
    #[inline(never)]
    fn put_rarely(&mut self, time: Cycle, order: u64, event: Event) {
        self.next = self.next.min(time);
        if time - self.base < SPAN as Cycle {
            self.grow();
            self.insert(time, order, event);
        } else {
            self.post_far(time, order, event);
        }
    }

    #[cold]
    #[inline(never)]
    fn post_far(&mut self, time: Cycle, order: u64, event: Event) {
        self.next_far = self.next_far.min(time);
        self.far.push(Reverse(Far { time, order, event }));
    }

    /// Takes an event back that was posted for a time, if it is still pending; not a
    /// turn. Of several alike the first one goes.
    pub fn cancel(&mut self, time: Cycle, event: Event) {
        let near = time.wrapping_sub(self.base) < SPAN as Cycle;
        let found = near && self.remove(time, event);
        if !found {
            let before = self.far.len();
            let mut first = true;
            self.far.retain(|far| {
                let it = first && far.0.time == time && far.0.event == event;
                first &= !it;
                !it
            });
            if self.far.len() == before {
                return;
            }
            self.next_far = self.far.peek().map_or(Cycle::MAX, |far| far.0.time);
        }
        self.next = self.find_next();
    }

    /// Takes an event out of the bucket of a cycle; whether it was there.
    fn remove(&mut self, time: Cycle, event: Event) -> bool {
        let bucket = (time & MASK) as usize;
        let (mut before, mut index) = (NIL, self.buckets[bucket].first);
        while index != NIL && self.nodes[index as usize].event != event {
            (before, index) = (index, self.nodes[index as usize].next);
        }
        if index == NIL {
            return false;
        }
        let next = self.nodes[index as usize].next;
        if before == NIL {
            self.buckets[bucket].first = next;
        } else {
            self.nodes[before as usize].next = next;
        }
        self.nodes[index as usize].next = self.free;
        self.free = index;
        self.used -= 1;
        self.clear_if_empty(bucket);
        true
    }

    /// The time of the next event; `Cycle::MAX` when nothing is pending.
    #[must_use]
    #[inline]
    pub fn next_time(&self) -> Cycle {
        self.next
    }

    /// Takes the next event.
    pub fn pop(&mut self) -> Option<(Cycle, Event)> {
        let time = self.next;
        if time == Cycle::MAX {
            return None;
        }
        self.come_to(time);
        let event = match self.take_other() {
            Some(event) => event,
            None => Event::Microengine(self.take_turn()),
        };
        Some((time, event))
    }

    /// The time comes to that of the next event, which there is.
    #[inline]
    pub(crate) fn come_to(&mut self, time: Cycle) {
        self.base = time;
        // An empty heap says `Cycle::MAX`, which lies beyond every span: one comparison stands
        // for "is there any, and is it near".
        if self.next_far.wrapping_sub(time) < SPAN as Cycle {
            self.come_near();
        }
    }

    /// Takes the next event of the present cycle but for turns. Turns have the last
    /// ranks of a cycle, so any other event comes before them.
    #[inline(always)]
    #[allow(clippy::inline_always)] // It is a part of the event loop.
    pub(crate) fn take_other(&mut self) -> Option<Event> {
        let bucket = (self.base & MASK) as usize;
        let first = self.buckets[bucket].first;
        let node = self.nodes.get_mut(first as usize)?;
        let event = node.event;
        let next = std::mem::replace(&mut node.next, self.free);
        self.free = first;
        self.used -= 1;
        self.buckets[bucket].first = next;
        self.leave(bucket);
        Some(event)
    }

    /// Takes the first turn of the present cycle; there is one when there is no other
    /// event.
    #[inline]
    pub(crate) fn take_turn(&mut self) -> u8 {
        let bucket = (self.base & MASK) as usize;
        let turns = &mut self.buckets[bucket].turns;
        let me = turns.trailing_zeros() as usize % MICROENGINES;
        *turns &= turns.wrapping_sub(1);
        self.turns[me] = NEVER;
        self.leave(bucket);
        me as u8
    }

    /// An event of the present cycle has been taken. As long as there are more the
    /// next is of this cycle too, and no bitmap need be read.
    #[inline]
    fn leave(&mut self, bucket: usize) {
        if self.buckets[bucket].is_empty() {
            self.clear_if_empty(bucket);
            self.next = self.find_next();
        }
    }

    /// The time has come to this cycle, and no event before it is pending. Without
    /// it the queue would show where a run that was stopped there had a turn.
    pub fn advance_to(&mut self, time: Cycle) {
        debug_assert!(time <= self.next, "an event is passed over");
        self.base = self.base.max(time);
        if self.next_far.wrapping_sub(self.base) < SPAN as Cycle {
            self.come_near();
        }
    }

    /// Number of pending events.
    #[must_use]
    pub fn len(&self) -> usize {
        let near = |turn: &&Cycle| turn.wrapping_sub(self.base) < SPAN as Cycle;
        self.used + self.far.len() + self.turns.iter().filter(near).count()
    }

    /// Whether nothing is pending.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.next == Cycle::MAX
    }

    /// Moves what lies in the wheel's span now from the heap to the wheel.
    #[cold]
    #[inline(never)]
    fn come_near(&mut self) {
        while let Some(&Reverse(far)) = self.far.peek()
            && far.time - self.base < SPAN as Cycle
        {
            self.far.pop();
            match far.event {
                Event::Microengine(me) => self.insert_turn(far.time, me as usize % MICROENGINES),
                event => {
                    if self.free == NIL {
                        self.grow();
                    }
                    self.insert(far.time, far.order, event);
                }
            }
        }
        self.next_far = self.far.peek().map_or(Cycle::MAX, |far| far.0.time);
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // All posts but the far ones end here, by way of one function.
    fn insert(&mut self, time: Cycle, order: u64, event: Event) {
        let index = self.free;
        let bucket = (time & MASK) as usize;
        let (mut before, mut after) = (NIL, self.buckets[bucket].first);
        if after == NIL {
            self.occupied[bucket / 64] |= 1 << (bucket % 64);
            self.words |= 1 << (bucket / 64);
        }
        // A bucket is one cycle and holds one or two events as a rule, so walking its list in
        // order is cheaper than any structure that would bound the walk. Equal ranks end
        // behind their like: the sequence number in `order` only grows.
        while after != NIL {
            let node = &self.nodes[after as usize];
            if node.order > order {
                break;
            }
            (before, after) = (after, node.next);
        }
        let node = &mut self.nodes[index as usize];
        self.free = node.next;
        self.used += 1;
        node.order = order;
        node.event = event;
        node.next = after;
        if before == NIL {
            self.buckets[bucket].first = index;
        } else {
            self.nodes[before as usize].next = index;
        }
    }

    /// Adds a free node; there never are more than were pending at one time.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        self.free = self.nodes.len() as u32;
        self.nodes.push(Node {
            order: 0,
            event: Event::Microengine(0),
            next: NIL,
        });
    }

    /// The earliest time in the wheel from `base` on, else in the heap.
    #[inline]
    fn find_next(&self) -> Cycle {
        let start = (self.base & MASK) as usize;
        let mut at = start / 64;
        let mut bits = self.occupied[at] & u64::MAX << (start % 64);
        if bits == 0 {
            if self.words == 0 {
                return self.next_far;
            }
            // The words after this one, round to what lies before `start` in it.
            let next = (at + 1) % WORDS;
            at = (next + self.words.rotate_right(next as u32).trailing_zeros() as usize) % WORDS;
            bits = self.occupied[at];
        }
        // Buckets before `start` belong to the next lap of the wheel; the mask turns the
        // negative distance into that.
        let bucket = at * 64 + bits.trailing_zeros() as usize;
        self.base + (bucket.wrapping_sub(start) as Cycle & MASK)
    }
}

mod order;
#[cfg(test)]
mod tests;
