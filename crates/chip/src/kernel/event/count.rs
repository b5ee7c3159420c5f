//! Inspection of the pending events.

use super::{ANY, Event, EventQueue, LINKED, MASK, MORE, QUEUES, SPAN, THIRD, TRIPLES};
use crate::Cycle;

impl EventQueue {
    /// Number of pending events.
    #[must_use]
    pub fn len(&self) -> usize {
        let turns = { self.turns.iter() }
            .filter(|turn| turn.wrapping_sub(self.base) < SPAN as Cycle)
            .count();
        self.count_near() + self.far.len() + turns
    }

    /// The number of events in the wheel except for turns. Counting here saves maintaining a count
    /// wherever events come and go.
    fn count_near(&self) -> usize {
        let words = (0..).zip(&self.occupied);
        let buckets = words.flat_map(|(at, &word)| {
            // Bit by bit, since nearly all are 0.
            let some = |word: u64| (word != 0).then_some(word);
            let bits = std::iter::successors(some(word), move |left| some(left & (left - 1)));
            bits.map(move |left| (at * 64 + left.trailing_zeros() as usize) % SPAN)
        });
        buckets.map(|bucket| self.count_in(bucket)).sum()
    }

    fn count_in(&self, bucket: usize) -> usize {
        let (last, pending) = (&self.last[bucket], self.pending[bucket]);
        let linked = (0..QUEUES).filter(|queue| pending >> LINKED >> queue & 1 == 1);
        let linked: usize = linked.map(|queue| self.linked(last[queue]).count()).sum();
        let firsts = pending & ANY;
        let [seconds, thirds] = [MORE, THIRD].map(|bit| pending >> bit & ((1 << TRIPLES) - 1));
        let ones = [firsts, seconds, thirds].map(u32::count_ones);
        ones.iter().sum::<u32>() as usize + linked
    }

    /// The events linked in a queue, in order, given its last node.
    fn linked(&self, last: u16) -> impl Iterator<Item = Event> + '_ {
        let next = |at: u16| self.nodes[usize::from(at)].next;
        let nodes =
            std::iter::successors(Some(next(last)), move |at| (*at != last).then(|| next(*at)));
        nodes.map(|at| self.nodes[usize::from(at)].event)
    }

    /// Whether nothing is pending.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.next == Cycle::MAX
    }

    /// The events in the wheel except for turns, cycle by cycle, in order.
    pub(super) fn near(&self) -> impl Iterator<Item = (Cycle, Event)> + '_ {
        let times = (self.base..self.base.saturating_add(SPAN as Cycle)).filter(|time| {
            let bucket = (time & MASK) as usize;
            self.occupied[bucket / 64] >> (bucket % 64) & 1 == 1
        });
        times.flat_map(move |time| {
            let bucket = (time & MASK) as usize;
            let (it, pending) = (self.buckets[bucket], self.pending[bucket]);
            let queues = (0..QUEUES).filter(move |queue| pending >> queue & 1 == 1);
            queues.flat_map(move |queue| {
                let last = self.last[bucket][queue];
                let has = |what: u32| pending >> (what + queue as u32) & 1 == 1;
                let second = has(MORE).then(|| it.second[queue]);
                let third = has(THIRD).then(|| it.third[queue]);
                let linked = has(LINKED).then(|| self.linked(last));
                let linked = linked.into_iter().flatten();
                let all = std::iter::once(it.first[queue]).chain(second).chain(third);
                let all = all.chain(linked);
                all.map(move |event| (time, event))
            })
        })
    }
}
