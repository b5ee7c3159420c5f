//! The event queue: what happens when, in one total order.
//!
//! Events order by (time, rank, place, sequence). The rank puts data that reaches registers
//! before signals, these before units, units before the media interface, and
//! microengines last, so a microengine that looks at a cycle sees everything
//! that happened up to and at that cycle. Only timers, signals and jobs from outside have a
//! place: it does not matter when they were posted.
//!
//! Nearly all events lie less than a thousand cycles ahead. They stand in a
//! wheel of one bucket per cycle, each bucket a queue for each rank; a bitmap finds the
//! next bucket that is not empty. Three of four events find the queue of their rank
//! empty, and nearly all others find one event or two there, so the first three of data
//! and of units stand in the bucket itself, and only those behind them are linked. Later
//! events wait in a heap and move to the wheel when their time comes near, before anything
//! else can be posted there, so that the order of posting holds for them too.
//!
//! Turns of microengines, two of five events, are last in their cycle and one each, so
//! in the wheel they are but a bit for each microengine.

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

/// Cycles that the wheel covers, a power of two.
const SPAN: usize = 16 * 64;
const MASK: Cycle = SPAN as Cycle - 1;
const WORDS: usize = SPAN / 64;
/// Microengines of the largest chip, a power of two.
pub(crate) const MICROENGINES: usize = npsim_profile::MICROENGINES;
/// End of the list of free nodes.
const NIL: u16 = u16::MAX;

/// The turn of a microengine that has none.
const NEVER: Cycle = Cycle::MAX;

/// Bit q of [`EventQueue::pending`]: queue q is not empty.
const ANY: u32 = (1 << QUEUES) - 1;
/// Bit `MORE + q`: two or more events are in queue q, of the first [`TRIPLES`].
const MORE: u32 = 8;
/// Bit `THIRD + q`: three or more events are in queue q. Like `MORE + q` it has a place for every
/// queue, though it is clear for those behind the first [`TRIPLES`].
const THIRD: u32 = 4;
/// Bit `LINKED + q`: more events are linked behind those of queue q that stand in the bucket.
const LINKED: u32 = 12;
/// Queues of which three events stand in the bucket: data, and units.
const TRIPLES: usize = 2;
/// Bit `TURNS + m`: microengine m has its turn.
const TURNS: u32 = 16;

const _: () = assert!((TURNS as usize).is_multiple_of(MICROENGINES));

/// What happens in one cycle but for turns. It fills a line of the host's cache.
#[derive(Clone, Copy, Debug)]
#[repr(align(64))]
struct Bucket {
    /// The first event of each queue that is not empty.
    first: [Event; QUEUES],
    /// The second event.
    second: [Event; TRIPLES],
    /// The third.
    third: [Event; TRIPLES],
}

/// What is pending in a cycle.
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
    pub const fn is_turns_only(self) -> bool {
        self.0 & ANY == 0
    }

    /// Whether a queue is not empty.
    #[inline]
    pub const fn has(self, queue: usize) -> bool {
        self.0 >> queue & 1 != 0
    }

    /// The queue that comes next, if any is not empty.
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

/// An event behind the first of its queue, or a free place for one.
#[derive(Clone, Copy, Debug)]
struct EventNode {
    event: Event,
    /// The node behind it, round to the first.
    next: u16,
}

/// All pending events.
#[derive(Clone, Debug)]
pub struct EventQueue {
    /// Every event in the wheel has a time in `base .. base + SPAN`. On the heap, since a chip is
    /// handed on by value.
    buckets: Box<[Bucket; SPAN]>,
    /// What there is in each cycle, the lowest bit what comes next. Apart from the buckets,
    /// since of a cycle that has but turns nothing else is looked at.
    pending: [u32; SPAN],
    /// Bit per cycle in which there is something.
    occupied: [u64; WORDS],
    nodes: Vec<EventNode>,
    /// The last linked node of each queue of a cycle that has any; it is followed by the first
    /// of them.
    last: Box<[[u16; QUEUES]; SPAN]>,
    free: u16,
    /// Events of `base + SPAN` and later.
    far: BinaryHeap<Reverse<Far>>,
    /// When each microengine takes its turn; `NEVER` for not at all. Turns come last
    /// in their cycle, by the microengine's number.
    turns: [Cycle; MICROENGINES],
    base: Cycle,
    /// The earliest of `far`, and of all.
    next_far: Cycle,
    next: Cycle,
    /// While `base` is no later than this, all of `far` lies beyond the wheel's span.
    reach: Cycle,
    /// The event loop has something else to do at this cycle.
    wake: Cycle,
    /// The cycle of `wake`, or the first one beyond `reach`.
    alarm: Cycle,
    /// Events that were posted to `far`.
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

/// One for each cycle of the wheel.
fn boxed<T: Copy>(one: T) -> Box<[T; SPAN]> {
    Box::<[T]>::from(vec![one; SPAN])
        .try_into()
        .unwrap_or_else(|_| unreachable!("it is as long"))
}

impl EventQueue {
    /// Adds an event. A time before the last event that was taken counts as
    /// that event's time. A microengine has one turn to come: of two the earlier
    /// one stands.
    #[inline(always)]
    #[allow(clippy::inline_always)] // What is left of it depends on the kind, which callers know.
    pub fn post(&mut self, time: Cycle, event: Event) {
        debug_assert!(time >= self.base, "{event:?} is posted into the past");
        if let Event::Microengine(me) = event {
            return self.post_turn(time, me);
        }
        // One comparison for the past and for what is far away.
        if time.wrapping_sub(self.base) >= SPAN as Cycle {
            return self.post_apart(time, event);
        }
        self.append(time, event.queue(), event);
    }

    /// Posts the turn of a microengine that takes one now: it has none to come.
    #[inline(always)]
    #[allow(clippy::inline_always)] // It is the end of a turn.
    pub fn post_again(&mut self, time: Cycle, me: u8) {
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
        // A microengine that resumes takes up everything that has happened since, no matter which
        // event woke it. So the later of two turns would find nothing to do, and the earlier one
        // posts what it needs.
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

    /// Takes a turn back.
    fn withdraw_turn(&mut self, time: Cycle, me: usize) {
        if time - self.base < SPAN as Cycle {
            let bucket = (time & MASK) as usize;
            self.pending[bucket] &= !(1 << (TURNS + me as u32));
            self.clear_if_empty(bucket);
        } else {
            let turn = Event::Microengine(me as u8);
            self.far.retain(|far| far.0.event != turn);
            self.see_far();
        }
    }

    /// The first event of a cycle has come into its bucket. Those behind it are not earlier
    /// than what is already known to be next.
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
    fn post_apart(&mut self, time: Cycle, event: Event) {
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
        self.see_far();
    }

    /// Finds anew which of the far events is the earliest.
    fn see_far(&mut self) {
        self.next_far = self.far.peek().map_or(Cycle::MAX, |far| far.0.time);
        self.reach = self.next_far.saturating_sub(SPAN as Cycle);
        self.set_alarm(self.wake);
    }

    /// The event loop has something else to do at this cycle.
    pub(crate) fn set_alarm(&mut self, wake: Cycle) {
        self.wake = wake;
        self.alarm = wake.min(self.reach.saturating_add(1));
    }

    /// Whether at a cycle there is more to do than to [step](Self::step_to) to it: what was
    /// set, or to [bring near](Self::bring_near) what was far.
    #[inline]
    pub(crate) const fn is_alarm(&self, time: Cycle) -> bool {
        time >= self.alarm
    }

    /// Puts an event of the wheel's span behind those of its queue.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Its callers know the queue.
    fn append(&mut self, time: Cycle, queue: usize, event: Event) {
        let bucket = time as usize % SPAN;
        let queue = queue % QUEUES;
        let pending = self.pending[bucket];
        if pending >> queue & 1 != 0 {
            return self.append_behind(bucket, queue, event);
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
    pub const fn is_near(&self, time: Cycle) -> bool {
        time.wrapping_sub(self.base) < SPAN as Cycle
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
        let bucket = self.come_to(time);
        let pending = self.pending_in(bucket);
        let event = match pending.queue() {
            Some(queue) => self.take(bucket, queue, pending),
            None => Event::Microengine(self.take_turn(bucket, pending)),
        };
        self.leave_if_empty(bucket);
        Some((time, event))
    }

    /// The time comes to that of the next event, which there is; gives its bucket.
    fn come_to(&mut self, time: Cycle) -> usize {
        self.bring_near(time);
        self.step_to(time)
    }

    /// Advances to a time up to which no event moves from the overflow to the buckets.
    #[inline]
    pub(crate) fn step_to(&mut self, time: Cycle) -> usize {
        debug_assert!(time <= self.reach, "something comes near");
        self.base = time;
        time as usize % SPAN
    }

    /// Brings what was far into the wheel where the time comes to this cycle.
    pub(crate) fn bring_near(&mut self, time: Cycle) {
        self.base = time;
        if time > self.reach {
            self.come_near();
        }
    }

    /// What is pending in the present cycle, whose bucket this is.
    #[inline(always)]
    #[allow(clippy::inline_always)] // It is a part of the event loop.
    pub(crate) fn pending_in(&self, bucket: usize) -> Pending {
        Pending(self.pending[bucket % SPAN])
    }

    /// Takes the first event of a queue that is not empty. Who takes the last of a cycle
    /// [leaves](Self::leave) it then.
    #[inline(always)]
    #[allow(clippy::inline_always)] // It is a part of the event loop, which knows the queue.
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
    #[allow(clippy::inline_always)] // It is a part of the event loop.
    pub(crate) fn take_turn(&mut self, bucket: usize, pending: Pending) -> u8 {
        // The bits of turns begin at a multiple of that.
        let me = pending.0.trailing_zeros() as usize % MICROENGINES;
        let left = pending.0 & pending.0.wrapping_sub(1);
        self.pending[bucket % SPAN] = left;
        self.turns[me] = NEVER;
        if left == 0 {
            self.leave();
        }
        me as u8
    }

    /// Leaves the present cycle if nothing is pending in it any more.
    #[inline(never)]
    pub(crate) fn leave_if_empty(&mut self, bucket: usize) {
        if self.pending_in(bucket).is_none() {
            self.leave();
        }
    }

    /// The last event of the present cycle has been taken. Until it is left it counts as the
    /// next, and no bitmap need be read.
    #[inline(always)]
    #[allow(clippy::inline_always)] // It is a part of the event loop.
    pub(crate) fn leave(&mut self) {
        // Found anew: once in a cycle this is cheaper than to have it at hand all the time.
        let base = self.base;
        let (at, bit) = ((base & MASK) as usize / 64, base % 64);
        let word = self.occupied[at] & !(1 << bit);
        self.occupied[at] = word;
        // Nearly always the next is one of the same 64 cycles.
        let later = word >> bit;
        if later != 0 {
            self.next = base + Cycle::from(later.trailing_zeros());
        } else {
            self.next = self.find_next();
        }
    }

    /// The time has come to this cycle, and no event before it is pending. Without
    /// it the queue would show where a run that was stopped there had a turn.
    pub fn advance_to(&mut self, time: Cycle) {
        debug_assert!(time <= self.next, "an event is passed over");
        self.base = self.base.max(time);
        if self.base > self.reach {
            self.come_near();
        }
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
                event => self.append(far.time, event.queue(), event),
            }
        }
        self.see_far();
    }

    /// The earliest time in the wheel from `base` on, else in the heap.
    #[inline(never)]
    fn find_next(&self) -> Cycle {
        let start = (self.base & MASK) as usize;
        let mut at = start / 64;
        let mut bits = self.occupied[at] & u64::MAX << (start % 64);
        // The words after the first one, round to what lies before `start` in it.
        let mut others = 0;
        while bits == 0 {
            if others == WORDS {
                return self.next_far;
            }
            others += 1;
            at = (at + 1) % WORDS;
            bits = self.occupied[at];
        }
        // Buckets before `start` belong to the next lap of the wheel; the mask turns the
        // negative distance into that.
        let bucket = at * 64 + bits.trailing_zeros() as usize;
        self.base + (bucket.wrapping_sub(start) as Cycle & MASK)
    }
}
