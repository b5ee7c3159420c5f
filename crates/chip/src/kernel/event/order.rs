//! The event queue in a saved state: the pending events in order, independent of the list, bucket
//! or heap that holds them.

use serde::{Deserialize, Deserializer, Serialize, Serializer, de};

use super::{Event, EventQueue, NEVER};
use crate::Cycle;

/// More events than the fullest chip has; the wheel can link no more than twice as many.
const MAX_EVENTS: usize = 1 << 15;

/// The data from which a queue is rebuilt.
#[derive(Serialize, Deserialize)]
struct PendingEvents {
    base: Cycle,
    events: Vec<(Cycle, Event)>,
}

impl EventQueue {
    /// All pending events, in order.
    pub fn pending(&self) -> impl Iterator<Item = Event> {
        self.in_order().into_iter().map(|(_, event)| event)
    }

    /// All pending events, in the order in which they will be taken.
    #[must_use]
    pub fn in_order(&self) -> Vec<(Cycle, Event)> {
        let mut far: Vec<_> = self.far.iter().map(|far| &far.0).collect();
        far.sort_unstable_by_key(|far| (far.time, far.order));
        let far = far.into_iter().map(|far| (far.time, far.event));
        let far = far.filter(|(_, event)| !matches!(event, Event::Microengine(_)));
        let turns = (0u8..).zip(&self.turns);
        let turns = turns.map(|(me, &time)| (time, Event::Microengine(me)));
        let turns = turns.filter(|(time, _)| *time != NEVER);
        let mut all: Vec<_> = self.near().chain(far).chain(turns).collect();
        // A stable sort: of equal time, rank and place, the event posted first comes first.
        all.sort_by_key(|(time, event)| (*time, event.rank(), event.place()));
        all
    }
}

impl Serialize for EventQueue {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        let pending = PendingEvents {
            base: self.base,
            events: self.in_order(),
        };
        pending.serialize(serializer)
    }
}

impl<'de> Deserialize<'de> for EventQueue {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        let pending = PendingEvents::deserialize(deserializer)?;
        if pending.events.len() > MAX_EVENTS {
            return Err(de::Error::custom("more events than a chip has"));
        }
        let mut queue = Self {
            base: pending.base,
            ..Self::default()
        };
        for (time, event) in pending.events {
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
    fn saved_event_queue_keeps_its_order() {
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
    fn saved_queue_with_too_many_events_is_refused() {
        let saved = |count| {
            // Only a few per cycle, since each is appended at the end of a list.
            let events = (0..count as u64)
                .map(|it| (10 + it / 8, Event::Gpp(0)))
                .collect();
            let pending = super::PendingEvents { base: 10, events };
            postcard::from_bytes::<EventQueue>(&postcard::to_allocvec(&pending).unwrap())
        };
        assert_eq!(
            saved(super::MAX_EVENTS).map(|it| it.len()),
            Ok(super::MAX_EVENTS)
        );
        assert!(saved(super::MAX_EVENTS + 1).is_err());
    }

    #[test]
    fn saved_event_in_the_past_is_refused() {
        let pending = super::PendingEvents {
            base: 10,
            events: vec![(9, Event::Gpp(0))],
        };
        let bytes = postcard::to_allocvec(&pending).unwrap();
        assert!(postcard::from_bytes::<EventQueue>(&bytes).is_err());
    }
}
