//! The two ends of a link between nodes: what has left one comes in at the other, bit by
//! bit as it left, after the link's delay.

use std::collections::VecDeque;

use npsim_chip::Cycle;
use npsim_chip::kernel::port_io::Departure;
use serde::{Deserialize, Serialize};

/// How many frames back a node knows where a frame came from.
const REMEMBERED: usize = 1 << 18;

/// Where a frame came into the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameOrigin {
    /// Its number at the first node.
    pub frame: u64,
    /// Its last bit there.
    pub arrived: Cycle,
}

/// A frame between two nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Crossing {
    /// First preamble bit.
    pub start: Cycle,
    /// Last bit of the check sequence.
    pub end: Cycle,
    /// Port, from 0.
    pub port: u8,
    /// The frame without its check sequence.
    pub bytes: Vec<u8>,
    /// Where it came into the network, if that is known.
    pub origin: Option<FrameOrigin>,
}

/// The end of a link that frames leave by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outlet {
    /// Frames that have left and do not go on yet, because others that began to
    /// leave before them may still be on the line.
    left: Vec<Crossing>,
}

impl Outlet {
    /// Frames that do not go on yet.
    #[cfg(test)]
    pub fn waiting(&self) -> usize {
        self.left.len()
    }

    /// A frame has left.
    pub fn take(&mut self, departure: &Departure<'_>, origin: Option<FrameOrigin>) {
        self.left.push(Crossing {
            start: departure.start,
            end: departure.end,
            port: departure.port,
            bytes: departure.bytes.to_vec(),
            origin,
        });
    }

    /// The frames whose first bit left before `known`, of which there are no others,
    /// in the order of their first bit.
    pub fn release(&mut self, known: Cycle) -> Vec<Crossing> {
        self.left.sort_by_key(|frame| (frame.start, frame.port));
        let count = self.left.partition_point(|frame| frame.start < known);
        self.left.drain(..count).collect()
    }
}

/// The end of links at a node that frames come to from others.
///
/// In a chain frames are fed in the order of their first bits, and all that are known can be
/// handed to the chip. In a network what the node sends may be answered before a frame that is
/// known already, so that a frame is handed to the chip when that has come to its first bit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inlet {
    /// Frames that have not been handed to the chip, at the times at which they come here.
    queue: VecDeque<Crossing>,
    /// First bit of the last frame that was fed.
    last_start: Cycle,
    origins: Origins,
    /// The last cycle at which a frame may begin that is handed to the chip.
    #[serde(skip)]
    reached: Cycle,
    /// Cycles from a bit's way out of the node before to its way in here.
    #[serde(skip)]
    delay: Cycle,
    /// No frames come after those in the queue. A node before that has ended says so
    /// again when the run is taken up.
    #[serde(skip)]
    closed: bool,
}

impl Inlet {
    /// The link from the node before in a chain, which takes `delay` cycles.
    pub fn chained(delay: Cycle) -> Self {
        Self {
            queue: VecDeque::new(),
            last_start: 0,
            origins: Origins::default(),
            reached: Cycle::MAX,
            delay,
            closed: false,
        }
    }

    /// The links of a node in a network.
    pub fn networked() -> Self {
        Self {
            reached: 0,
            ..Self::chained(0)
        }
    }

    /// Frames that have left the node before in a chain, in the order of their first bit; none
    /// come behind them if `closes`.
    pub fn feed(&mut self, frames: Vec<Crossing>, closes: bool) {
        for mut frame in frames {
            frame.start = frame.start.saturating_add(self.delay);
            frame.end = frame.end.saturating_add(self.delay);
            self.last_start = frame.start;
            self.queue.push_back(frame);
        }
        self.closed |= closes;
    }

    /// Adds a frame of a network to those that the node has not come to, at any place among them.
    /// Frames whose first bits come in one cycle come by port.
    pub fn put(&mut self, frame: Crossing) {
        let key = |frame: &Crossing| (frame.start, frame.port);
        let at = { &self.queue }.partition_point(|other| key(other) <= key(&frame));
        self.queue.insert(at, frame);
    }

    /// The node has come to this cycle, to which all frames of the network are known.
    pub fn come_to(&mut self, cycle: Cycle) {
        self.reached = self.reached.max(cycle);
    }

    /// First bit of the next frame; `Cycle::MAX` if none is known.
    pub fn next_start(&self) -> Cycle {
        { self.queue.front() }.map_or(Cycle::MAX, |frame| frame.start)
    }

    /// The next frame that can be handed to the chip.
    pub fn front(&self) -> Option<&Crossing> {
        { self.queue.front() }.filter(|frame| frame.start <= self.reached)
    }

    /// Takes the next frame that can be handed to the chip.
    pub fn pop(&mut self) -> Option<Crossing> {
        self.front()?;
        let frame = self.queue.pop_front()?;
        self.origins.push(frame.origin);
        Some(frame)
    }

    /// Where a frame came into the network; nothing if a node made it, or so many
    /// have come since that it is forgotten.
    pub fn origin(&self, frame: u64) -> Option<FrameOrigin> {
        self.origins.of(frame)
    }

    /// Frames that wait for their time.
    pub fn backlog(&self) -> usize {
        self.queue.len()
    }

    /// Whether no frame is known of a link by which others may come.
    pub fn is_starved(&self) -> bool {
        self.queue.is_empty() && !self.closed
    }

    /// Whether all frames that come were handed to the chip.
    pub fn is_exhausted(&self) -> bool {
        self.queue.is_empty() && self.closed
    }

    /// The chip of a chain may run up to this cycle without asking for a frame that is not known
    /// yet: which frame is next has to be known before one begins to come.
    pub fn known_until(&self) -> Cycle {
        if self.closed {
            Cycle::MAX
        } else {
            self.last_start
        }
    }

    /// Puts back what another inlet of such a link had in it. False if that is none.
    #[must_use]
    pub fn restore(&mut self, other: Self) -> bool {
        let sound = other.queue.iter().is_sorted_by_key(|frame| frame.start)
            && other.origins.list.len() <= REMEMBERED;
        *self = Self {
            reached: self.reached,
            delay: self.delay,
            ..other
        };
        sound
    }
}

/// Where the last frames that came to a node came into the network, by their number
/// at this node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Origins {
    /// Number of the first one that is remembered.
    first: u64,
    list: VecDeque<Option<FrameOrigin>>,
}

impl Origins {
    fn push(&mut self, origin: Option<FrameOrigin>) {
        if self.list.len() == REMEMBERED {
            self.list.pop_front();
            self.first += 1;
        }
        self.list.push_back(origin);
    }

    fn of(&self, frame: u64) -> Option<FrameOrigin> {
        let place = usize::try_from(frame.checked_sub(self.first)?).ok()?;
        self.list.get(place).copied().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::{FrameOrigin, Inlet, Origins, Outlet, REMEMBERED};
    use npsim_chip::Cycle;
    use npsim_chip::kernel::port_io::Departure;

    #[test]
    fn old_frames_are_forgotten() {
        let mut origins = Origins::default();
        let origin = |frame| FrameOrigin { frame, arrived: 0 };
        for frame in 0..REMEMBERED as u64 + 2 {
            origins.push(Some(origin(frame)));
        }
        assert_eq!((origins.of(1), origins.of(2)), (None, Some(origin(2))));
        assert_eq!(origins.list.len(), REMEMBERED);
    }

    fn departure(start: Cycle, port: u8) -> Departure<'static> {
        Departure {
            start,
            end: start + 346,
            port,
            bytes: &[7; 60],
            frame: None,
            arrived: None,
        }
    }

    #[test]
    fn frames_go_on_in_the_order_of_their_first_bit_and_none_before_it_is_known() {
        let mut outlet = Outlet::default();
        let mut inlet = Inlet::chained(5);
        for (start, port) in [(40, 1), (10, 2), (90, 0), (40, 0)] {
            let origin = FrameOrigin {
                frame: start,
                arrived: start + 1,
            };
            outlet.take(&departure(start, port), Some(origin));
        }
        assert!(inlet.is_starved());
        inlet.feed(outlet.release(90), false);
        assert_eq!((outlet.waiting(), inlet.known_until()), (1, 45));
        inlet.feed(outlet.release(Cycle::MAX), true);
        assert_eq!(inlet.known_until(), Cycle::MAX);
        let frames = std::iter::from_fn(|| inlet.pop());
        let seen: Vec<_> = frames.map(|it| (it.start, it.end, it.port)).collect();
        assert!(inlet.is_exhausted());
        let at = |start: Cycle, port| (start + 5, start + 351, port);
        assert_eq!(seen, [at(10, 2), at(40, 0), at(40, 1), at(90, 0)]);
        let origin = inlet.origin(3).unwrap();
        assert_eq!((origin.frame, origin.arrived), (90, 91));
        assert_eq!(inlet.origin(4), None);
    }

    #[test]
    fn a_network_hands_a_frame_out_when_the_node_has_come_to_it() {
        let mut outlet = Outlet::default();
        for (start, port) in [(30, 0), (20, 1), (20, 0)] {
            outlet.take(&departure(start, port), None);
        }
        let mut inlet = Inlet::networked();
        for frame in outlet.release(Cycle::MAX).into_iter().rev() {
            inlet.put(frame);
        }
        assert_eq!((inlet.next_start(), inlet.pop()), (20, None));
        inlet.come_to(20);
        let ports = [inlet.pop(), inlet.pop()].map(|frame| frame.unwrap().port);
        assert_eq!((ports, inlet.next_start(), inlet.pop()), ([0, 1], 30, None));
    }
}
