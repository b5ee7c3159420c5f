//! What ties the lines of a node to a network, where what it sends may be answered.

use std::mem;

use npsim_chip::Cycle;
use npsim_chip::kernel::port_io::MediaDrop;

use super::link::FrameOrigin;

/// A frame that was lost at the media interface of a node in a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostFrame {
    /// When.
    pub cycle: Cycle,
    /// Where it came from, if that is known.
    pub origin: Option<FrameOrigin>,
    /// Why.
    pub reason: MediaDrop,
}

/// Answers that a node in a network has to wait for, and what it lost.
#[derive(Debug)]
pub struct NetworkPort {
    /// By port: the shortest time from a frame's first bit out to an answer's first bit in.
    answer: Vec<Cycle>,
    latest: Cycle,
    lost: Vec<LostFrame>,
}

impl NetworkPort {
    /// Ports by which nothing has left yet. `answer` has by port the shortest time from a
    /// frame's first bit out to the first bit in of what may answer it.
    pub fn new(answer: Vec<Cycle>) -> Self {
        Self {
            answer,
            latest: Cycle::MAX,
            lost: Vec::new(),
        }
    }

    /// A frame begins to leave by a port.
    pub fn sends(&mut self, port: u8, start: Cycle) {
        let answer = self.answer.get(usize::from(port));
        let answer = answer.map_or(Cycle::MAX, |wait| start.saturating_add(*wait));
        self.latest = self.latest.min(answer);
    }

    /// Before which cycle an answer to what has begun to leave may come.
    pub fn latest(&self) -> Cycle {
        self.latest
    }

    /// All nodes know what has left, so that no answer is outstanding.
    pub fn set_free(&mut self) {
        self.latest = Cycle::MAX;
    }

    /// A frame is lost at the media interface.
    pub fn lose(&mut self, lost: LostFrame) {
        self.lost.push(lost);
    }

    /// Takes what was lost at the media interface since the last call.
    pub fn take_lost(&mut self) -> Vec<LostFrame> {
        mem::take(&mut self.lost)
    }
}
