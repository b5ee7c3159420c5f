//! The event queue, which puts all pending events in one total order.
//!
//! Events are ordered by (time, rank, place, sequence). The rank puts data that reaches registers
//! before signals, signals before units, units before the media interface, and microengines last,
//! so that a microengine examining a cycle sees everything that happened up to and at that cycle.
//! Only timers, signals and jobs from outside have a place, which makes their order independent of
//! when they were posted.
//!
//! Nearly all events lie less than a thousand cycles ahead. They are held in a wheel of one bucket
//! per cycle, each bucket with a queue for each rank; a bitmap finds the next non-empty bucket.
//! Three out of four events find the queue of their rank empty, and nearly all others find one or
//! two events there, so the first three events of data and of units are stored in the bucket
//! itself, and only later ones are linked. Events further ahead wait in a heap and move to the
//! wheel when their time comes near, before anything else can be posted there, so that the order of
//! posting holds for them too.
//!
//! Turns of microengines, two out of five events, come last in their cycle, at most one per
//! microengine, so the wheel holds just a bit for each microengine.

mod cancel;
mod count;
mod kind;
mod order;
mod overflow;
#[cfg(test)]
mod tests;

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use crate::Cycle;
pub use kind::Event;
use kind::QUEUES;
pub(crate) use kind::{DATA, OTHERS, SIGNALS, UNITS};

/// Cycles that the wheel covers; a power of two.
const SPAN: usize = 16 * 64;
const MASK: Cycle = SPAN as Cycle - 1;
const WORDS: usize = SPAN / 64;
/// Microengines of the largest chip; a power of two.
pub(crate) const MICROENGINES: usize = npsim_profile::MICROENGINES;
/// End of the list of free nodes.
const NIL: u16 = u16::MAX;

/// Time of the turn of a microengine that has none pending.
const NEVER: Cycle = Cycle::MAX;

/// Bit q of [`EventQueue::pending`]: queue q is not empty.
const ANY: u32 = (1 << QUEUES) - 1;
/// Bit `MORE + q`: queue q, one of the first [`TRIPLES`], has two or more events.
const MORE: u32 = 8;
/// Bit `THIRD + q`: queue q has three or more events. As for `MORE + q`, every queue has such a
/// bit, but it is clear for queues after the first [`TRIPLES`].
const THIRD: u32 = 4;
/// Bit `LINKED + q`: queue q has linked events after those in the bucket.
const LINKED: u32 = 12;
/// Number of queues with three events in the bucket: data and units.
const TRIPLES: usize = 2;
/// Bit `TURNS + m`: microengine m has a turn.
const TURNS: u32 = 16;

const _: () = assert!((TURNS as usize).is_multiple_of(MICROENGINES));

/// The events of one cycle except for turns. A bucket fills a host cache line.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Bucket {
    /// The first event of each non-empty queue.
    first: [Event; QUEUES],
    /// The second event of the queues of data and units.
    second: [Event; TRIPLES],
    /// The third event of the queues of data and units.
    third: [Event; TRIPLES],
}

/// The set of queues and turns pending in a cycle.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Pending(u32);

impl Pending {
    /// Whether nothing is pending.
    #[inline]
    pub const fn is_none(self) -> bool {
        self.0 == 0
    }

    /// Whether only turns are pending, which come last in a cycle.
    #[inline]
    pub const fn has_only_turns(self) -> bool {
        self.0 & ANY == 0
    }

    /// Whether a queue is not empty.
    #[inline]
    pub const fn has(self, queue: usize) -> bool {
        self.0 >> queue & 1 != 0
    }

    /// The non-empty queue that comes next, if any.
    #[inline]
    pub fn queue(self) -> Option<usize> {
        let mut all = [DATA, SIGNALS, UNITS, OTHERS].into_iter();
        all.find(|&queue| self.has(queue))
    }
}

const EMPTY: Bucket = Bucket {
    first: [Event::Microengine(0); QUEUES],
    second: [Event::Microengine(0); TRIPLES],
    third: [Event::Microengine(0); TRIPLES],
};

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Far {
    time: Cycle,
    /// Rank in the top byte, sequence below it, so that one comparison orders both.
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

/// An event after the first of its queue, or a free node.
#[derive(Clone, Copy, Debug)]
struct EventNode {
    event: Event,
    /// The next node; the list is circular.
    next: u16,
}

/// All pending events.
#[derive(Clone, Debug)]
pub struct EventQueue {
    /// Events whose time is in `base .. base + SPAN`. They are on the heap, since a chip is moved
    /// by value.
    buckets: Box<[Bucket; SPAN]>,
    /// What is pending in each cycle, as the bits of [`Pending`]. It is separate from the buckets,
    /// since nothing else is read for a cycle that has only turns.
    pending: [u32; SPAN],
    /// One bit per cycle, set if anything is pending there.
    occupied: [u64; WORDS],
    nodes: Vec<EventNode>,
    /// The last linked node of each queue that has linked nodes, for each cycle; its `next` is the
    /// first of them.
    last: Box<[[u16; QUEUES]; SPAN]>,
    free: u16,
    /// Events at `base + SPAN` and later.
    far: BinaryHeap<Reverse<Far>>,
    /// The time of each microengine's turn, or `NEVER`. Turns come last in their cycle, ordered by
    /// microengine.
    turns: [Cycle; MICROENGINES],
    base: Cycle,
    /// The earliest time in `far`, and of all events.
    next_far: Cycle,
    next: Cycle,
    /// While `base` is at most this, all of `far` lies beyond the wheel's span.
    reach: Cycle,
    /// The cycle at which the event loop has other work to do.
    wake: Cycle,
    /// The earlier of `wake` and the first cycle beyond `reach`.
    alarm: Cycle,
    /// Number of events that were posted to `far`.
    sequence: u64,
}

impl Default for EventQueue {
    fn default() -> Self {
        Self {
            buckets: boxed(EMPTY),
            pending: [0; SPAN],
            occupied: [0; WORDS],
            nodes: Vec::new(),
            last: boxed([NIL; QUEUES]),
            free: NIL,
            far: BinaryHeap::new(),
            turns: [NEVER; MICROENGINES],
            base: 0,
            next_far: Cycle::MAX,
            next: Cycle::MAX,
            reach: Cycle::MAX,
            wake: 0,
            alarm: 0,
            sequence: 0,
        }
    }
}

/// Creates a boxed array with one element for each cycle of the wheel.
fn boxed<T: Copy>(one: T) -> Box<[T; SPAN]> {
    Box::<[T]>::from(vec![one; SPAN])
        .try_into()
        .unwrap_or_else(|_| unreachable!("it is as long"))
}

impl EventQueue {
    /// Adds an event. A time before the last event taken is treated as that event's time. A
    /// microengine has at most one pending turn: the earlier of two is kept.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Callers pass a constant kind, which removes most of the body.
    pub fn post(&mut self, time: Cycle, event: Event) {
        debug_assert!(time >= self.base, "{event:?} is posted into the past");
        if let Event::Microengine(me) = event {
            return self.post_turn(time, me);
        }
        // One comparison covers both the past and the far future.
        if time.wrapping_sub(self.base) >= SPAN as Cycle {
            return self.post_outside_span(time, event);
        }
        self.append(time, event.queue(), event);
    }

    /// Posts the next turn of a microengine that takes one now and therefore has none pending.
    #[inline(always)]
    #[allow(clippy::inline_always)] // The end of a turn.
    pub fn post_next_turn(&mut self, time: Cycle, me: u8) {
        let at = me as usize % MICROENGINES;
        if self.turns[at] != NEVER || time.wrapping_sub(self.base) >= SPAN as Cycle {
            return self.post_turn(time, me);
        }
        self.turns[at] = time;
        self.insert_turn(time, at);
    }

    #[inline(never)]
    fn post_turn(&mut self, time: Cycle, me: u8) {
        let time = time.max(self.base);
        let me = me as usize % MICROENGINES;
        // A microengine that resumes takes account of everything that has happened since, whichever
        // event woke it. The later of two turns would therefore have nothing to do, and the earlier
        // one posts what it needs.
        let turn = self.turns[me];
        if turn <= time {
            return;
        }
        self.turns[me] = time;
        if turn != NEVER || time - self.base >= SPAN as Cycle {
            return self.post_turn_rarely(turn, time, me);
        }
        self.insert_turn(time, me);
    }

    #[cold]
    #[inline(never)]
    fn post_turn_rarely(&mut self, instead_of: Cycle, time: Cycle, me: usize) {
        if instead_of != NEVER {
            self.withdraw_turn(instead_of, me);
        }
        if time - self.base < SPAN as Cycle {
            self.insert_turn(time, me);
        } else {
            self.post_far(time, Event::Microengine(me as u8));
        }
    }

    #[inline]
    fn insert_turn(&mut self, time: Cycle, me: usize) {
        let bucket = time as usize % SPAN;
        let pending = self.pending[bucket];
        self.pending[bucket] = pending | 1 << (TURNS + me as u32);
        if pending == 0 {
            self.occupy(bucket, time);
        }
    }

    /// Withdraws a turn.
    fn withdraw_turn(&mut self, time: Cycle, me: usize) {
        if time - self.base < SPAN as Cycle {
            let bucket = (time & MASK) as usize;
            self.pending[bucket] &= !(1 << (TURNS + me as u32));
            self.clear_if_empty(bucket);
        } else {
            let turn = Event::Microengine(me as u8);
            self.far.retain(|far| far.0.event != turn);
            self.update_far();
        }
    }

    /// Marks the bucket of a cycle that receives its first event. Later events in the bucket cannot
    /// change the known next time.
    #[inline]
    fn occupy(&mut self, bucket: usize, time: Cycle) {
        self.occupied[bucket / 64] |= 1 << (bucket % 64);
        if time < self.next {
            self.next = time;
        }
    }

    #[inline]
    fn clear_if_empty(&mut self, bucket: usize) {
        if self.pending[bucket] == 0 {
            self.occupied[bucket / 64] &= !(1 << (bucket % 64));
        }
    }

    /// Posts an event that lies in the past or beyond the wheel's span.
    #[cold]
    #[inline(never)]
    fn post_outside_span(&mut self, time: Cycle, event: Event) {
        let time = time.max(self.base);
        if time - self.base >= SPAN as Cycle {
            return self.post_far(time, event);
        }
        self.append(time, event.queue(), event);
    }

    #[cold]
    #[inline(never)]
    fn post_far(&mut self, time: Cycle, event: Event) {
        self.next = self.next.min(time);
        let order = u64::from(event.rank()) << 56 | self.sequence;
        self.sequence += 1;
        self.far.push(Reverse(Far { time, order, event }));
        self.update_far();
    }

    /// Updates the earliest time of the far events.
    fn update_far(&mut self) {
        self.next_far = self.far.peek().map_or(Cycle::MAX, |far| far.0.time);
        self.reach = self.next_far.saturating_sub(SPAN as Cycle);
        self.set_alarm(self.wake);
    }

    /// Sets the cycle at which the event loop has other work to do.
    pub(crate) fn set_alarm(&mut self, wake: Cycle) {
        self.wake = wake;
        self.alarm = wake.min(self.reach.saturating_add(1));
    }

    /// Whether a cycle requires more than to [step](Self::step_to) to it: the alarm that was set,
    /// or far events to [bring near](Self::bring_near).
    #[inline]
    pub(crate) const fn is_alarm(&self, time: Cycle) -> bool {
        time >= self.alarm
    }

    /// Appends an event within the wheel's span to its queue.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Callers pass a constant queue.
    fn append(&mut self, time: Cycle, queue: usize, event: Event) {
        let bucket = time as usize % SPAN;
        let queue = queue % QUEUES;
        let pending = self.pending[bucket];
        if pending >> queue & 1 != 0 {
            return self.append_to_nonempty(bucket, queue, event);
        }
        self.pending[bucket] = pending | 1 << queue;
        self.buckets[bucket].first[queue] = event;
        if pending == 0 {
            self.occupy(bucket, time);
        }
    }

    /// Whether a cycle lies in the wheel.
    #[inline]
    #[must_use]
    pub const fn is_in_wheel(&self, time: Cycle) -> bool {
        time.wrapping_sub(self.base) < SPAN as Cycle
    }

    /// The time of the next event; `Cycle::MAX` if nothing is pending.
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
        let bucket = self.advance_to_event(time);
        let pending = self.pending_in(bucket);
        let event = match pending.queue() {
            Some(queue) => self.take(bucket, queue, pending),
            None => Event::Microengine(self.take_turn(bucket, pending)),
        };
        self.leave_if_empty(bucket);
        Some((time, event))
    }

    /// Advances to the time of the next event, which must exist, and returns its bucket.
    fn advance_to_event(&mut self, time: Cycle) -> usize {
        self.bring_near(time);
        self.step_to(time)
    }

    /// Advances to a time up to which no event moves from the heap to the wheel.
    #[inline]
    pub(crate) fn step_to(&mut self, time: Cycle) -> usize {
        debug_assert!(time <= self.reach, "something comes near");
        self.base = time;
        time as usize % SPAN
    }

    /// Advances to a cycle and moves events that come within reach from the heap to the wheel.
    pub(crate) fn bring_near(&mut self, time: Cycle) {
        self.base = time;
        if time > self.reach {
            self.refill_wheel();
        }
    }

    /// What is pending in the present cycle, given its bucket.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Part of the event loop.
    pub(crate) fn pending_in(&self, bucket: usize) -> Pending {
        Pending(self.pending[bucket % SPAN])
    }

    /// Takes the first event of a non-empty queue. The caller that takes the last event of a cycle
    /// must then [leave](Self::leave) it.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Part of the event loop, which passes a constant queue.
    pub(crate) fn take(&mut self, bucket: usize, queue: usize, pending: Pending) -> Event {
        let (bucket, queue) = (bucket % SPAN, queue % QUEUES);
        let event = self.buckets[bucket].first[queue];
        if pending.0 >> queue & (1 << MORE | 1 << LINKED) == 0 {
            self.pending[bucket] = pending.0 & !(1 << queue);
        } else {
            self.move_up(bucket, queue);
        }
        event
    }

    /// Takes the first turn of the present cycle, in which nothing else is pending.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Part of the event loop.
    pub(crate) fn take_turn(&mut self, bucket: usize, pending: Pending) -> u8 {
        // The bits of turns begin at a multiple of `MICROENGINES`.
        let me = pending.0.trailing_zeros() as usize % MICROENGINES;
        let left = pending.0 & pending.0.wrapping_sub(1);
        self.pending[bucket % SPAN] = left;
        self.turns[me] = NEVER;
        if left == 0 {
            self.leave();
        }
        me as u8
    }

    /// Leaves the present cycle if nothing more is pending in it.
    #[inline(never)]
    pub(crate) fn leave_if_empty(&mut self, bucket: usize) {
        if self.pending_in(bucket).is_none() {
            self.leave();
        }
    }

    /// Leaves the present cycle, of which the last event has been taken. Until then it counts as
    /// the next, so that no bitmap needs to be read.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Part of the event loop.
    pub(crate) fn leave(&mut self) {
        // Recomputed: once per cycle, this is cheaper than keeping it up to date.
        let base = self.base;
        let (at, bit) = ((base & MASK) as usize / 64, base % 64);
        let word = self.occupied[at] & !(1 << bit);
        self.occupied[at] = word;
        // The next event is nearly always within the same 64 cycles.
        let later = word >> bit;
        if later != 0 {
            self.next = base + Cycle::from(later.trailing_zeros());
        } else {
            self.next = self.find_next();
        }
    }

    /// Advances to a cycle before which no event is pending. Otherwise the queue would retain the
    /// position of the last turn in a run that was stopped there.
    pub fn advance_to(&mut self, time: Cycle) {
        debug_assert!(time <= self.next, "an event is passed over");
        self.base = self.base.max(time);
        if self.base > self.reach {
            self.refill_wheel();
        }
    }

    /// Moves events that are now within the wheel's span from the heap to the wheel.
    #[cold]
    #[inline(never)]
    fn refill_wheel(&mut self) {
        while let Some(&Reverse(far)) = self.far.peek()
            && far.time - self.base < SPAN as Cycle
        {
            self.far.pop();
            match far.event {
                Event::Microengine(me) => self.insert_turn(far.time, me as usize % MICROENGINES),
                event => self.append(far.time, event.queue(), event),
            }
        }
        self.update_far();
    }

    /// The earliest time in the wheel from `base` on, or else in the heap.
    #[inline(never)]
    fn find_next(&self) -> Cycle {
        let start = (self.base & MASK) as usize;
        let mut at = start / 64;
        let mut bits = self.occupied[at] & u64::MAX << (start % 64);
        // The words after the first one, wrapping around to the bits before `start` in it.
        let mut others = 0;
        while bits == 0 {
            if others == WORDS {
                return self.next_far;
            }
            others += 1;
            at = (at + 1) % WORDS;
            bits = self.occupied[at];
        }
        // Buckets before `start` belong to the next lap of the wheel; the mask turns the negative
        // distance into a positive one.
        let bucket = at * 64 + bits.trailing_zeros() as usize;
        self.base + (bucket.wrapping_sub(start) as Cycle & MASK)
    }
}
