//! Pending events, in order.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use npsim_transport::time::Time;
use serde::{Deserialize, Serialize};

use crate::frame::Frame;
use crate::law::LawTimer;

/// An event.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// The last bit of a frame has arrived over a line.
    Arrive {
        /// The line.
        line: u32,
        /// The frame.
        frame: Box<Frame>,
    },
    /// The CPU of a host has processed a frame that arrived.
    TakeIn {
        /// The host.
        node: u32,
        /// The frame.
        frame: Box<Frame>,
    },
    /// A router or a host has processed a frame, which now goes to the queue of a line.
    Enqueue {
        /// The line that the queue belongs to.
        line: u32,
        /// The frame.
        frame: Box<Frame>,
    },
    /// A line has finished sending a frame while others wait.
    Free {
        /// The line.
        line: u32,
    },
    /// A timer of a router's law expires.
    Law {
        /// The line.
        line: u32,
        /// The timer.
        timer: LawTimer,
    },
    /// A flow begins.
    Open {
        /// The flow.
        flow: u32,
    },
    /// A wake-up time requested by an endpoint.
    Wake {
        /// The endpoint.
        endpoint: u32,
    },
    /// A poll time requested by a host with a stack.
    Rouse {
        /// The host.
        node: u32,
    },
}

impl Event {
    /// Returns the rank among the events of one time and node: events that free space come before those
    /// that need it.
    const fn rank(&self) -> u8 {
        match self {
            Self::Law { .. } => 0,
            Self::Free { .. } => 1,
            Self::Arrive { .. } | Self::TakeIn { .. } => 2,
            Self::Enqueue { .. } => 3,
            Self::Open { .. } => 4,
            Self::Wake { .. } | Self::Rouse { .. } => 5,
        }
    }
}

/// Numbers of events that come from chips, one for each line: after all that are numbered in the order
/// of posting.
const FROM_CHIPS: u64 = 1 << 63;

/// Order by time, then node, then kind, then posting.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
struct EventKey {
    at: Time,
    node: u32,
    rank: u8,
    number: u64,
}

/// Pending events. They are stored in slots, so that the heap moves only keys; frames are boxed, and
/// the boxes move from hop to hop.
#[derive(Debug, Clone, Default, Serialize, Deserialize)]
pub struct Events {
    heap: BinaryHeap<Reverse<(EventKey, u32)>>,
    slots: Vec<Option<Event>>,
    free: Vec<u32>,
    posted: u64,
}

impl Events {
    /// Posts an event at a node.
    pub fn post(&mut self, at: Time, node: usize, event: Event) {
        self.post_as(self.posted, at, node, event);
        self.posted += 1;
    }

    fn post_as(&mut self, number: u64, at: Time, node: usize, event: Event) {
        let key = EventKey {
            at,
            node: node as u32,
            rank: event.rank(),
            number,
        };
        let slot = if let Some(slot) = self.free.pop() {
            self.slots[slot as usize] = Some(event);
            slot
        } else {
            self.slots.push(Some(event));
            self.slots.len() as u32 - 1
        };
        self.heap.push(Reverse((key, slot)));
    }

    /// Posts the arrival of a frame from a chip by a line. When such an arrival becomes known depends
    /// on how chips and the rest of the network alternate, so its order among events of the same time
    /// must not depend on the order of posting.
    pub fn post_from_chip(&mut self, at: Time, node: usize, line: u32, frame: Box<Frame>) {
        let number = FROM_CHIPS + u64::from(line);
        self.post_as(number, at, node, Event::Arrive { line, frame });
    }

    /// Returns the time of the next event.
    pub fn next_at(&self) -> Option<Time> {
        self.heap.peek().map(|Reverse((key, _))| key.at)
    }

    /// Takes the next event if it is not after `until`.
    pub fn take(&mut self, until: Time) -> Option<(Time, Event)> {
        if self.next_at()? > until {
            return None;
        }
        let Reverse((key, slot)) = self.heap.pop()?;
        let event = self.slots[slot as usize].take()?;
        self.free.push(slot);
        Some((key.at, event))
    }

    /// Whether each event of a saved state is in its slot and satisfies `fits`.
    pub fn is_sound(&self, fits: impl Fn(&Event) -> bool) -> bool {
        let mut named = vec![false; self.slots.len()];
        let posted = self.heap.iter().map(|Reverse((_, slot))| (*slot, true));
        let free = self.free.iter().map(|slot| (*slot, false));
        for (slot, taken) in posted.chain(free) {
            let Some(named) = named.get_mut(slot as usize) else {
                return false;
            };
            let event = &self.slots[slot as usize];
            if std::mem::replace(named, true)
                || event.is_some() != taken
                || !event.iter().all(&fits)
            {
                return false;
            }
        }
        named.into_iter().all(|named| named)
    }

    /// Returns the frames on lines, in routers or in hosts.
    pub fn frames(&self) -> impl Iterator<Item = &Frame> {
        self.slots.iter().flatten().filter_map(|event| match event {
            Event::Arrive { frame, .. }
            | Event::TakeIn { frame, .. }
            | Event::Enqueue { frame, .. } => Some(&**frame),
            _ => None,
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn events_are_ordered_by_time_node_kind_and_posting() {
        let mut events = Events::default();
        let wake = |endpoint| Event::Wake { endpoint };
        events.post(5, 1, wake(1));
        events.post(5, 0, wake(2));
        events.post(5, 0, Event::Free { line: 9 });
        events.post(3, 7, wake(3));
        events.post(5, 0, wake(4));
        assert_eq!(events.take(2), None);
        let mut order = Vec::new();
        while let Some((at, event)) = events.take(5) {
            order.push((at, event));
        }
        let expected = [
            (3, wake(3)),
            (5, Event::Free { line: 9 }),
            (5, wake(2)),
            (5, wake(4)),
            (5, wake(1)),
        ];
        assert_eq!(order, expected);
        assert_eq!(events.free.len(), 4 + 1);
    }
}
