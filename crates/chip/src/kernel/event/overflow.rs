//! Events after the first of a queue: two more in the bucket, and the linked ones.

use super::{Event, EventNode, EventQueue, LINKED, MORE, NIL, QUEUES, SPAN, THIRD, TRIPLES};

impl EventQueue {
    /// Puts an event into a non-empty queue.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Callers pass a constant queue.
    pub(super) fn append_to_nonempty(&mut self, bucket: usize, queue: usize, event: Event) {
        if queue >= TRIPLES {
            return self.append_in_place(bucket, queue, event);
        }
        let pending = &mut self.pending[bucket];
        if let Some(second) = self.buckets[bucket].second.get_mut(queue)
            && *pending >> (MORE + queue as u32) & 1 == 0
        {
            *pending |= 1 << (MORE + queue as u32);
            *second = event;
        } else {
            self.append_third(bucket, queue, event);
        }
    }

    /// Puts an event into a non-empty queue whose order is not only that of posting.
    #[inline(never)]
    fn append_in_place(&mut self, bucket: usize, queue: usize, event: Event) {
        let (bucket, queue) = (bucket % SPAN, queue % QUEUES);
        if self.pending[bucket] >> (LINKED + queue as u32) & 1 != 0 {
            return self.put_among(bucket, queue, event);
        }
        let first = &mut self.buckets[bucket].first[queue];
        let second = if is_before(event, *first) {
            std::mem::replace(first, event)
        } else {
            event
        };
        self.link(bucket, queue, second);
    }

    /// Puts an event at its place among several of its queue.
    #[cold]
    #[inline(never)]
    fn put_among(&mut self, bucket: usize, queue: usize, event: Event) {
        let mut all = vec![self.buckets[bucket].first[queue]];
        while self.pending[bucket] >> (LINKED + queue as u32) & 1 != 0 {
            all.push(self.take_linked(bucket, queue));
        }
        let at = all.partition_point(|&it| !is_before(event, it));
        all.insert(at, event);
        self.buckets[bucket].first[queue] = all[0];
        for &event in &all[1..] {
            self.link(bucket, queue, event);
        }
    }

    /// Puts an event into a queue whose slot for a second event is taken or does not exist.
    #[inline(never)]
    fn append_third(&mut self, bucket: usize, queue: usize, event: Event) {
        let pending = &mut self.pending[bucket % SPAN];
        if let Some(third) = self.buckets[bucket % SPAN].third.get_mut(queue)
            && *pending >> (THIRD + queue as u32) & 1 == 0
        {
            *pending |= 1 << (THIRD + queue as u32);
            *third = event;
        } else {
            self.link(bucket % SPAN, queue % QUEUES, event);
        }
    }

    /// Links an event after those of a queue that are in the bucket.
    #[inline(never)]
    fn link(&mut self, bucket: usize, queue: usize, event: Event) {
        if self.free == NIL {
            self.grow();
        }
        let index = self.free;
        self.free = self.nodes[usize::from(index)].next;
        let pending = &mut self.pending[bucket];
        let last = std::mem::replace(&mut self.last[bucket][queue], index);
        let mut next = index;
        if *pending >> (LINKED + queue as u32) & 1 != 0 {
            next = std::mem::replace(&mut self.nodes[usize::from(last)].next, index);
        }
        *pending |= 1 << (LINKED + queue as u32);
        self.nodes[usize::from(index)] = EventNode { event, next };
    }

    /// Removes the node after a given one from a queue and returns its event.
    #[inline]
    pub(super) fn unlink(&mut self, bucket: usize, queue: usize, before: u16) -> Event {
        let index = self.nodes[usize::from(before)].next;
        let EventNode { event, next } = self.nodes[usize::from(index)];
        self.nodes[usize::from(before)].next = next;
        self.nodes[usize::from(index)].next = self.free;
        self.free = index;
        let last = &mut self.last[bucket][queue];
        if index == before {
            self.pending[bucket] &= !(1 << (LINKED + queue as u32));
        } else if index == *last {
            *last = before;
        }
        event
    }

    /// Makes the second event of a queue its first.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Part of the event loop.
    pub(super) fn move_up(&mut self, bucket: usize, queue: usize) {
        let it = &mut self.buckets[bucket];
        if let Some(&second) = it.second.get(queue) {
            it.first[queue] = second;
            self.take_second(bucket, queue);
        } else {
            self.buckets[bucket].first[queue] = self.take_linked(bucket, queue);
        }
    }

    /// Moves the third event of a queue, if any, into the slot of the second, which is free.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Part of the event loop.
    pub(super) fn take_second(&mut self, bucket: usize, queue: usize) {
        let pending = self.pending[bucket];
        if pending >> (THIRD + queue as u32) & 1 == 0 {
            self.pending[bucket] = pending & !(1 << (MORE + queue as u32));
        } else {
            self.move_third_up(bucket, queue);
        }
    }

    /// Makes the third event of a queue, which must exist, the second.
    #[inline(never)]
    fn move_third_up(&mut self, bucket: usize, queue: usize) {
        let (bucket, queue) = (bucket % SPAN, queue % TRIPLES);
        let it = &mut self.buckets[bucket];
        it.second[queue] = it.third[queue];
        self.take_third(bucket, queue);
    }

    /// Moves the fourth event of a queue, if any, into the slot of the third, which is free.
    pub(super) fn take_third(&mut self, bucket: usize, queue: usize) {
        if self.pending[bucket] >> (LINKED + queue as u32) & 1 == 0 {
            self.pending[bucket] &= !(1 << (THIRD + queue as u32));
        } else {
            self.buckets[bucket].third[queue] = self.take_linked(bucket, queue);
        }
    }

    /// Takes the first linked event of a queue, which must exist.
    #[inline(never)]
    fn take_linked(&mut self, bucket: usize, queue: usize) -> Event {
        let last = self.last[bucket][queue];
        self.unlink(bucket, queue, last)
    }

    /// Adds a free node. There are never more nodes than the most events pending at one time.
    #[cold]
    #[inline(never)]
    fn grow(&mut self) {
        assert!(
            self.nodes.len() < usize::from(NIL),
            "too many events in a cycle"
        );
        self.free = self.nodes.len() as u16;
        self.nodes.push(EventNode {
            event: Event::Microengine(0),
            next: NIL,
        });
    }
}

/// Whether an event comes before another of its cycle, regardless of which was posted first.
#[inline(always)]
#[allow(clippy::inline_always)] // Just two comparisons.
const fn is_before(event: Event, other: Event) -> bool {
    event.rank() < other.rank() || event.rank() == other.rank() && event.place() < other.place()
}
