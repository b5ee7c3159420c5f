//! Cancelling events.

use super::{Event, EventQueue, LINKED, MASK, MORE, Pending, SPAN, THIRD};
use crate::Cycle;

impl EventQueue {
    /// Cancels an event posted for a time, if it is still pending. Turns cannot be cancelled. Of
    /// several equal events the first is cancelled.
    #[inline]
    pub fn cancel(&mut self, time: Cycle, event: Event) {
        let (bucket, queue) = ((time & MASK) as usize, event.queue());
        let first = self.buckets[bucket].first[queue];
        let pending = &mut self.pending[bucket];
        let alone = *pending >> queue & (1 | 1 << MORE | 1 << LINKED) == 1;
        if !alone || first != event || time.wrapping_sub(self.base) >= SPAN as Cycle {
            return self.cancel_rarely(time, event);
        }
        *pending &= !(1 << queue);
        if *pending == 0 {
            self.clear_if_empty(bucket);
            if time == self.next {
                self.next = self.find_next();
            }
        }
    }

    /// Cancels an event that shares its bucket with others, or lies beyond the wheel.
    #[inline(never)]
    fn cancel_rarely(&mut self, time: Cycle, event: Event) {
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
            self.update_far();
        }
        if time == self.next {
            self.next = self.find_next();
        }
    }

    /// Removes an event from the bucket of a cycle. Returns whether it was there.
    ///
    /// A queue of a bucket has its events in order: the first three in `first`, `second` and `third`
    /// of the bucket, the rest in a circular list of nodes of which `last` is the last, so that the
    /// node after `last` is the first. Bits of `pending` record whether there is a first, a second, a
    /// third, and a list. The slots are searched in that order, since the oldest of several equal
    /// events is removed.
    fn remove(&mut self, time: Cycle, event: Event) -> bool {
        let bucket = (time & MASK) as usize;
        let queue = event.queue();
        let (it, pending) = (&self.buckets[bucket], self.pending[bucket]);
        if pending >> queue & 1 == 0 {
            return false;
        }
        if it.first[queue] == event {
            self.take(bucket, queue, Pending(pending));
            self.clear_if_empty(bucket);
            return true;
        }
        if pending >> (MORE + queue as u32) & 1 != 0 && it.second[queue] == event {
            self.take_second(bucket, queue);
            return true;
        }
        if pending >> (THIRD + queue as u32) & 1 != 0 && it.third[queue] == event {
            self.take_third(bucket, queue);
            return true;
        }
        if pending >> (LINKED + queue as u32) & 1 == 0 {
            return false;
        }
        let last = self.last[bucket][queue];
        let mut before = last;
        loop {
            let index = self.nodes[usize::from(before)].next;
            if self.nodes[usize::from(index)].event == event {
                self.unlink(bucket, queue, before);
                return true;
            }
            if index == last {
                return false;
            }
            before = index;
        }
    }
}
