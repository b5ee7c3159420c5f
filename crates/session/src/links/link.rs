//! The link from one node to the next: what has left one comes in at the other, bit
//! by bit as it left, after the link's delay.
//!
//! In a chain a node has to know which frame is next before it goes on. An
//! [open](Inlet::open) end of a link is fed by a network, in which what comes next may
//! depend on what the node sends now: there a frame is handed out when the node has come to
//! its first bit, and whoever feeds the link says how far the node may go.

use std::collections::VecDeque;

use npsim_chip::Cycle;
use npsim_chip::kernel::lines::Departure;
use npsim_net::LineFrame;
use serde::{Deserialize, Serialize};

/// How many frames back a node knows where a frame came from.
const REMEMBERED: usize = 1 << 18;

const PICO: u128 = 1_000_000_000_000;

/// Where a frame came into the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Origin {
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
    pub origin: Option<Origin>,
}

/// The end of a link that frames leave by.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outlet {
    /// Frames that have left and do not go on yet, because others that began to
    /// leave before them may still be on the line.
    left: Vec<Crossing>,
}

impl Outlet {
    /// A frame has left.
    pub fn take(&mut self, departure: &Departure<'_>, origin: Option<Origin>) {
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

/// What comes next on a link.
#[derive(Debug)]
pub enum Next {
    /// This frame.
    Frame(LineFrame),
    /// Nothing any more.
    Nothing,
    /// The node before has not come so far that it could be told.
    Unknown,
}

/// The end of a link at the node that frames come to.
#[derive(Clone, Debug)]
pub struct Inlet {
    state: InletState,
    delay: Cycle,
    hertz: u64,
    /// Of an open one: the node has come to this cycle.
    come: Option<Cycle>,
}

/// What is on a link, and what is remembered of what was.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InletState {
    queue: VecDeque<Crossing>,
    /// No frames come after those in the queue. A node before that has ended says so
    /// again when the run is taken up.
    #[serde(skip)]
    closed: bool,
    /// First bit of the last frame that is known, at this node.
    last_start: Cycle,
    origins: Origins,
}

impl InletState {
    /// Whether the numbers in it are in the order in which they have to be.
    pub fn is_sound(&self) -> bool {
        self.queue.iter().is_sorted_by_key(|frame| frame.start)
            && self.origins.list.len() <= REMEMBERED
    }
}

impl Inlet {
    /// Of a link that takes `delay` cycles, on which nothing has come yet.
    pub fn new(delay: Cycle, hertz: u64) -> Self {
        Self {
            state: InletState::default(),
            delay,
            hertz,
            come: None,
        }
    }

    /// An open one, on which nothing has come yet.
    pub fn open(hertz: u64) -> Self {
        Self {
            come: Some(0),
            ..Self::new(0, hertz)
        }
    }

    /// Whether it is open.
    pub const fn is_open(&self) -> bool {
        self.come.is_some()
    }

    /// A frame for an open one, at any place among those that the node has not come to.
    /// Frames whose first bits come in one cycle come by port.
    pub fn put(&mut self, frame: Crossing) {
        let key = |frame: &Crossing| (frame.start, frame.port);
        let new = key(&frame);
        let at = { &self.state.queue }.partition_point(|other| key(other) <= new);
        self.state.queue.insert(at, frame);
    }

    /// First bit of the next frame; `Cycle::MAX` if there is none.
    pub fn next_start(&self) -> Cycle {
        { self.state.queue.front() }.map_or(Cycle::MAX, |frame| frame.start)
    }

    /// The node has come to this cycle, to which all frames are known.
    pub fn come_to(&mut self, cycle: Cycle) {
        self.come = Some(cycle);
    }

    /// How far an open one knows the node to have come.
    pub fn come(&self) -> Cycle {
        self.come.unwrap_or(0)
    }

    /// Frames that have left the node before, in the order of their first bit.
    pub fn feed(&mut self, frames: Vec<Crossing>) {
        if let Some(last) = frames.last() {
            self.state.last_start = last.start.saturating_add(self.delay);
        }
        self.state.queue.extend(frames);
    }

    /// The node before has come to its end.
    pub fn close(&mut self) {
        self.state.closed = true;
    }

    /// Up to where a node may run that has to know, when a frame begins to come,
    /// which one is next.
    pub fn known_until(&self) -> Cycle {
        if self.state.closed || self.is_open() {
            Cycle::MAX
        } else {
            self.state.last_start
        }
    }

    /// Frames that wait for their time.
    pub fn backlog(&self) -> usize {
        self.state.queue.len()
    }

    pub fn state(&self) -> &InletState {
        &self.state
    }

    pub fn restore(&mut self, state: InletState) {
        self.state = state;
    }

    /// Where a frame came into the network; nothing if a node made it, or so many
    /// have come since that it is forgotten.
    pub fn origin(&self, frame: u64) -> Option<Origin> {
        self.state.origins.of(frame)
    }

    pub fn next(&mut self) -> Next {
        if self.come.is_some_and(|come| come < self.next_start()) {
            return Next::Nothing;
        }
        let Some(frame) = self.state.queue.pop_front() else {
            return if self.state.closed {
                Next::Nothing
            } else {
                Next::Unknown
            };
        };
        self.state.origins.push(frame.origin);
        Next::Frame(LineFrame {
            start_ps: self.picoseconds(frame.start),
            end_ps: self.picoseconds(frame.end),
            port: u32::from(frame.port),
            bytes: frame.bytes,
        })
    }

    /// Rounded down, which the way back to cycles makes good.
    fn picoseconds(&self, cycle: Cycle) -> u64 {
        let cycle = u128::from(cycle.saturating_add(self.delay));
        u64::try_from(cycle * PICO / u128::from(self.hertz.max(1))).unwrap_or(u64::MAX)
    }
}

/// Where the last frames that came to a node came into the network, by their number
/// at this node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Origins {
    /// Number of the first one that is remembered.
    first: u64,
    list: VecDeque<Option<Origin>>,
}

impl Origins {
    fn push(&mut self, origin: Option<Origin>) {
        if self.list.len() == REMEMBERED {
            self.list.pop_front();
            self.first += 1;
        }
        self.list.push_back(origin);
    }

    fn of(&self, frame: u64) -> Option<Origin> {
        let place = usize::try_from(frame.checked_sub(self.first)?).ok()?;
        self.list.get(place).copied().flatten()
    }
}

#[cfg(test)]
mod tests {
    use super::{Inlet, Next, Origin, Origins, Outlet, PICO, REMEMBERED};
    use npsim_chip::Cycle;
    use npsim_chip::kernel::lines::Departure;

    const HERTZ: u64 = 600_000_000;

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
        let mut inlet = Inlet::new(5, HERTZ);
        for (start, port) in [(40, 1), (10, 2), (90, 0), (40, 0)] {
            let origin = Origin {
                frame: start,
                arrived: start + 1,
            };
            outlet.take(&departure(start, port), Some(origin));
        }
        assert!(matches!(inlet.next(), Next::Unknown));
        inlet.feed(outlet.release(90));
        assert_eq!((outlet.left.len(), inlet.known_until()), (1, 45));
        inlet.feed(outlet.release(Cycle::MAX));
        inlet.close();
        assert_eq!(inlet.known_until(), Cycle::MAX);
        let mut seen = Vec::new();
        while let Next::Frame(frame) = inlet.next() {
            let cycles = |ps: u64| (u128::from(ps) * u128::from(HERTZ)).div_ceil(PICO) as u64;
            seen.push((cycles(frame.start_ps), cycles(frame.end_ps), frame.port));
        }
        assert!(matches!(inlet.next(), Next::Nothing));
        let at = |start: Cycle, port| (start + 5, start + 351, port);
        assert_eq!(seen, [at(10, 2), at(40, 0), at(40, 1), at(90, 0)]);
        let origin = inlet.origin(3).unwrap();
        assert_eq!((origin.frame, origin.arrived), (90, 91));
        assert_eq!(inlet.origin(4), None);
    }

    #[test]
    fn old_frames_are_forgotten() {
        let mut origins = Origins::default();
        let origin = |frame| Origin { frame, arrived: 0 };
        for frame in 0..REMEMBERED as u64 + 2 {
            origins.push(Some(origin(frame)));
        }
        assert_eq!((origins.of(1), origins.of(2)), (None, Some(origin(2))));
        assert_eq!(origins.list.len(), REMEMBERED);
    }
}
