use proptest::prelude::*;

use super::*;
use crate::kernel::command::CommandId;
use crate::kernel::signal_source::SignalSource;

/// The reference definition: the first event by (time, rank, place, sequence).
#[derive(Default)]
struct Plain {
    pending: Vec<(Cycle, Event)>,
}

impl Plain {
    fn post(&mut self, time: Cycle, event: Event) {
        if let Event::Microengine(_) = event {
            if { self.pending.iter() }.any(|it| it.1 == event && it.0 <= time) {
                return;
            }
            self.pending.retain(|it| it.1 != event);
        }
        self.pending.push((time, event));
    }

    fn cancel(&mut self, time: Cycle, event: Event) {
        let found = { self.pending.iter() }.position(|it| *it == (time, event));
        found.map(|at| self.pending.remove(at));
    }

    fn pop(&mut self) -> Option<(Cycle, Event)> {
        // Of equal events, the one posted first.
        let first = (0..self.pending.len()).min_by_key(|&at| {
            let (time, event) = self.pending[at];
            (time, event.rank(), event.place())
        })?;
        Some(self.pending.remove(first))
    }
}

fn event(kind: u8, number: u32) -> Event {
    match kind % 9 {
        0 => Event::Push(CommandId(number), 1),
        1 => Event::Arrive(CommandId(number)),
        2 => Event::Ready(CommandId(number)),
        3 => Event::Media(number),
        4 => Event::Gpp(number as u16),
        5 => Event::NnPut {
            me: 1,
            index: 2,
            value: number,
            ring: true,
        },
        6 => Event::Timer {
            me: (number % 3) as u8,
            context: (number % 5) as u8,
        },
        7 => Event::Signal {
            me: (number % 3) as u8,
            context: (number % 5) as u8,
            signal: 1 + (number % 2) as u8,
            by: SignalSource::at((number % 7) as u8, 0, 0),
        },
        _ => Event::Microengine((number % 16) as u8),
    }
}

proptest! {
    #[test]
    fn event_wheel_matches_a_naive_queue(
        steps in prop::collection::vec((any::<u8>(), prop_oneof![0u64..4, 0u64..300, Just(5), SPAN as u64 - 200..SPAN as u64 + 200, 0u64..100_000], any::<bool>()), 1..400)
    ) {
        let (mut wheel, mut plain) = (EventQueue::default(), Plain::default());
        let mut now = 0;
        let mut posted = Vec::new();
        for (number, (kind, delay, take)) in steps.into_iter().enumerate() {
            if kind % 5 == 4
                && let Some(&(time, event)) = posted.get(delay as usize % (number + 1))
            {
                wheel.cancel(time, event);
                plain.cancel(time, event);
            }
            let event = event(kind, number as u32);
            if !matches!(event, Event::Microengine(_)) {
                posted.push((now + delay, event));
            }
            wheel.post(now + delay, event);
            plain.post(now + delay, event);
            prop_assert_eq!(wheel.next_time(), plain.pending.iter().map(|it| it.0).min().unwrap_or(Cycle::MAX));
            if take {
                let (a, b) = (wheel.pop(), plain.pop());
                prop_assert_eq!(a, b);
                now = a.map_or(now, |(time, _)| time);
            }
            prop_assert_eq!(wheel.len(), plain.pending.len());
        }
        loop {
            let (a, b) = (wheel.pop(), plain.pop());
            prop_assert_eq!(a, b);
            if a.is_none() { break; }
        }
        prop_assert_eq!(wheel.next_time(), Cycle::MAX);
    }
}

#[test]
fn events_of_one_cycle_are_ordered_by_rank() {
    let mut queue = EventQueue::default();
    queue.post(5, Event::Microengine(1));
    queue.post(5, Event::Microengine(0));
    queue.post(5, Event::Gpp(0));
    queue.post(5, Event::Media(0));
    queue.post(5, Event::Arrive(CommandId(3)));
    queue.post(
        5,
        Event::Signal {
            me: 0,
            context: 0,
            signal: 1,
            by: SignalSource::UNKNOWN,
        },
    );
    queue.post(5, Event::Push(CommandId(4), 0));
    let order: Vec<_> = std::iter::from_fn(|| queue.pop())
        .map(|(_, event)| event.rank())
        .collect();
    assert_eq!(order, [0, 1, 2, 3, 4, 5, 6]);
}

#[test]
fn far_event_keeps_its_order_among_later_near_events() {
    let mut queue = EventQueue::default();
    queue.post(9000, Event::Arrive(CommandId(1)));
    queue.post(8500, Event::Arrive(CommandId(0)));
    assert_eq!(queue.pop(), Some((8500, Event::Arrive(CommandId(0)))));
    queue.post(9000, Event::Arrive(CommandId(2)));
    queue.post(9000, Event::Push(CommandId(3), 2));
    assert_eq!(queue.pop(), Some((9000, Event::Push(CommandId(3), 2))));
    assert_eq!(queue.pop(), Some((9000, Event::Arrive(CommandId(1)))));
    assert_eq!(queue.pop(), Some((9000, Event::Arrive(CommandId(2)))));
    assert_eq!(queue.pop(), None);
}

#[test]
fn overflow_of_one_event_queue_leaves_others_unchanged() {
    let mut queue = EventQueue::default();
    let signal = |number| event(6, number);
    for number in 0..5 {
        queue.post(7, signal(number));
        queue.post(7, Event::Arrive(CommandId(number)));
    }
    queue.post(7, Event::Gpp(1));
    queue.post(7, Event::Media(2));
    assert_eq!(queue.len(), 12);
    queue.cancel(7, Event::Gpp(1));
    queue.cancel(7, signal(2));
    queue.cancel(7, Event::Arrive(CommandId(1)));
    queue.cancel(7, Event::Media(2));
    assert_eq!(queue.len(), 8);
    // In receiver order.
    let signals = [0, 3, 1, 4].map(|number| (7, signal(number)));
    let arrivals = [0, 2, 3, 4].map(|number| (7, Event::Arrive(CommandId(number))));
    for taken in signals.into_iter().chain(arrivals) {
        assert_eq!(queue.pop(), Some(taken));
    }
    assert!(queue.is_empty());
}
