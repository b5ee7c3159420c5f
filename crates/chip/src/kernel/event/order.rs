//! The event queue in a saved state: the pending events in their order, whatever
//! list, bucket or heap they stand in.

use std::collections::BTreeMap;

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{Event, EventQueue, NEVER};
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
        let far: BTreeMap<_, _> = { self.far.iter() }
            .map(|far| ((far.0.time, far.0.order), far.0.event))
            .collect();
        let far = far.into_iter().map(|((time, _), event)| (time, event));
        let far = far.filter(|(_, event)| !matches!(event, Event::Microengine(_)));
        let turns = (0u8..).zip(&self.turns);
        let turns = turns.map(|(me, &time)| (time, Event::Microengine(me)));
        let turns = turns.filter(|(time, _)| *time != NEVER);
        let all = self.near().chain(far).chain(turns);
        // What was posted first comes first where time and rank are the same.
        let mut all: Vec<_> = (0..)
            .zip(all)
            .map(|(place, (time, event))| {
                let order = Order(u64::from(event.rank()) << 56 | place);
                (time, order, event)
            })
            .collect();
        all.sort_unstable_by_key(|&(time, order, _)| (time, order));
        all
    }
}

impl Serialize for EventQueue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let events = self.in_order();
        let pending = Pending {
            base: self.base,
            sequence: Order(events.len() as u64),
            events,
        };
        pending.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for EventQueue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let pending = Pending::deserialize(deserializer)?;
        let mut queue = Self {
            base: pending.base,
            ..Self::default()
        };
        for (time, _, event) in pending.events {
            if time < queue.base {
                return Err(de::Error::custom("an event lies in the past"));
            }
            queue.post(time, event);
        }
        Ok(queue)
    }
}

#[cfg(test)]
mod tests {
    use super::EventQueue;
    use crate::kernel::event::{Event, SPAN};

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
