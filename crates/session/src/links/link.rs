//! The two ends of a link between nodes: a frame arrives at the far end bit by bit as it left,
//! after the link's delay.

use std::collections::VecDeque;

use npsim_chip::Cycle;
use npsim_chip::kernel::port_io::Departure;
use npsim_net::LineFrame;
use serde::{Deserialize, Serialize};

/// The number of past frames whose origin a node remembers.
const REMEMBERED: usize = 1 << 18;

pub(super) const PICO: u128 = 1_000_000_000_000;

/// Where a frame entered the network.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FrameOrigin {
    /// The frame's number at the first node.
    pub frame: u64,
    /// The frame's last bit there.
    pub arrived: Cycle,
}

/// A frame between two nodes.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkFrame {
    /// First preamble bit.
    pub start: Cycle,
    /// Last bit of the check sequence.
    pub end: Cycle,
    /// Port, from 0.
    pub port: u8,
    /// The frame without its check sequence.
    pub bytes: Vec<u8>,
    /// Where the frame entered the network, if known.
    pub origin: Option<FrameOrigin>,
}

/// The sending end of a link.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outlet {
    /// Frames that have left and are held back, because others that began to
    /// leave before them may still be on the line.
    left: Vec<LinkFrame>,
}

impl Outlet {
    /// The number of frames held back.
    #[cfg(test)]
    pub fn waiting(&self) -> usize {
        self.left.len()
    }

    /// Records a departed frame.
    pub fn take(&mut self, departure: &Departure<'_>, origin: Option<FrameOrigin>) {
        self.left.push(LinkFrame {
            start: departure.start,
            end: departure.end,
            port: departure.port,
            bytes: departure.bytes.to_vec(),
            origin,
        });
    }

    /// Takes the frames whose first bit left before `known`, in the order of their first bit. All
    /// such frames must have been recorded.
    pub fn release(&mut self, known: Cycle) -> Vec<LinkFrame> {
        self.left.sort_by_key(|frame| (frame.start, frame.port));
        let count = self.left.partition_point(|frame| frame.start < known);
        self.left.drain(..count).collect()
    }
}

/// The receiving end of a link.
#[derive(Clone, Debug)]
pub struct Inlet {
    state: InletState,
    delay: Cycle,
    hertz: u64,
}

/// The frames on a link, and the remembered origins of earlier ones.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct InletState {
    pub(super) queue: VecDeque<LinkFrame>,
    /// No frames follow those in the queue. A previous node that has ended reports it again when
    /// the run is resumed.
    #[serde(skip)]
    pub(super) closed: bool,
    /// First bit of the last known frame, at this node.
    pub(super) last_start: Cycle,
    origins: Origins,
}

impl InletState {
    /// Whether the state is consistent: frames in order, and no more origins than are remembered.
    pub fn is_sound(&self) -> bool {
        self.queue.iter().is_sorted_by_key(|frame| frame.start)
            && self.origins.list.len() <= REMEMBERED
    }
}

impl Inlet {
    /// The end of a link with a delay of `delay` cycles, on which nothing has arrived yet.
    pub fn new(delay: Cycle, hertz: u64) -> Self {
        Self {
            state: InletState::default(),
            delay,
            hertz,
        }
    }

    pub(super) fn delay(&self) -> Cycle {
        self.delay
    }

    pub(super) fn state(&self) -> &InletState {
        &self.state
    }

    pub(super) fn state_mut(&mut self) -> &mut InletState {
        &mut self.state
    }

    /// Where a frame entered the network; `None` if a node made it, or so many
    /// frames have arrived since that it is forgotten.
    pub fn origin(&self, frame: u64) -> Option<FrameOrigin> {
        self.state.origins.of(frame)
    }

    /// Removes the first frame from the link.
    pub fn pop(&mut self) -> Option<LineFrame> {
        let frame = self.state.queue.pop_front()?;
        self.state.origins.push(frame.origin);
        Some(LineFrame {
            start_ps: self.picoseconds(frame.start),
            end_ps: self.picoseconds(frame.end),
            port: u32::from(frame.port),
            bytes: frame.bytes,
        })
    }

    /// Rounded down; converting back to cycles rounds up.
    fn picoseconds(&self, cycle: Cycle) -> u128 {
        let cycle = u128::from(cycle.saturating_add(self.delay));
        cycle * PICO / u128::from(self.hertz.max(1))
    }
}

/// Where the latest frames at a node entered the network, by their number at
/// this node.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
struct Origins {
    /// Number of the first remembered frame.
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
    use super::{FrameOrigin, Origins, REMEMBERED};

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
}
