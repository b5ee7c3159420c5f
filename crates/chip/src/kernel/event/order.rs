//! The event queue in a saved state: the pending events in their order, whatever
//! list, bucket or heap they stand in.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{Event, EventQueue, NEVER, NIL, SPAN};
use crate::Cycle;

/// What a queue is made again from.
#[derive(Serialize, Deserialize)]
struct Pending {
    base: Cycle,
    sequence: Order,
    events: Vec<(Cycle, Order, Event)>,
}

/// What orders the events of a cycle. A type of its own, since it is no time:
/// [`crate::quiescence`] knows it by its name.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct Order(u64);

impl EventQueue {
    /// All pending events, in their order.
    pub(crate) fn pending(&self) -> impl Iterator<Item = Event> {
        self.in_order().into_iter().map(|(_, _, event)| event)
    }

    /// All pending events in the order in which they will be taken.
    fn in_order(&self) -> Vec<(Cycle, Order, Event)> {
        let start = self.base % SPAN as Cycle;
        let mut all = Vec::new();
        for (bucket, first) in self.buckets.iter().map(|it| it.first).enumerate() {
            // Every bucket stands for one cycle of `base .. base + SPAN`.
            let ahead = (bucket as Cycle + SPAN as Cycle - start) % SPAN as Cycle;
            let mut index = first;
            while index != NIL {
                let node = &self.nodes[index as usize];
                all.push((self.base + ahead, Order(node.order), node.event));
                index = node.next;
            }
        }
        let far = self.far.iter().map(|far| far.0);
        let far = far.filter(|far| !matches!(far.event, Event::Microengine(_)));
        all.extend(far.map(|far| (far.time, Order(far.order), far.event)));
        let turns = (0u8..).zip(&self.turns);
        all.extend(
            turns
                .filter(|(_, time)| **time != NEVER)
                .map(|(me, &time)| {
                    let event = Event::Microengine(me);
                    (time, Order(u64::from(event.rank()) << 56), event)
                }),
        );
        all.sort_unstable_by_key(|&(time, order, _)| (time, order));
        all
    }
}

impl Serialize for EventQueue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let pending = Pending {
            base: self.base,
            sequence: Order(self.sequence),
            events: self.in_order(),
        };
        pending.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for EventQueue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let pending = Pending::deserialize(deserializer)?;
        let mut queue = Self {
            base: pending.base,
            sequence: pending.sequence.0,
            ..Self::default()
        };
        for (time, order, event) in pending.events {
            if time < queue.base {
                return Err(de::Error::custom("an event lies in the past"));
            }
            match event {
                Event::Microengine(me) => queue.post_turn(time, me),
                _ => queue.put(time, order.0, event),
            }
        }
        Ok(queue)
    }
}

#[cfg(test)]
mod tests {
    use super::{EventQueue, SPAN};
    use crate::kernel::event::Event;

    #[test]
    fn what_was_saved_comes_in_the_same_order() {
        let mut queue = EventQueue::default();
        for step in 0..200u64 {
            queue.post(step * 37 % 4000, Event::Gpp(step as u16));
            queue.post(step * 37 % 4000, Event::Microengine(step as u8));
        }
        for _ in 0..150 {
            queue.pop();
        }
        let bytes = postcard::to_allocvec(&queue).unwrap();
        let mut again: EventQueue = postcard::from_bytes(&bytes).unwrap();
        assert_eq!(again.len(), queue.len());
        let base = queue.base;
        for queue in [&mut queue, &mut again] {
            queue.post(base + SPAN as u64 / 2, Event::Gpp(999));
        }
        while let Some(taken) = queue.pop() {
            assert_eq!(again.next_time(), taken.0);
            assert_eq!(again.pop(), Some(taken));
        }
        assert!(again.is_empty());
    }

    #[test]
    fn an_event_of_the_past_is_refused() {
        let pending = super::Pending {
            base: 10,
            sequence: super::Order(1),
            events: vec![(9, super::Order(0), Event::Gpp(0))],
        };
        let bytes = postcard::to_allocvec(&pending).unwrap();
        assert!(postcard::from_bytes::<EventQueue>(&bytes).is_err());
    }
}
