//! The ports of a node in a network, which feeds the node while it runs.
//!
//! The next frame may depend on what the node sends now: a frame is handed out when the node
//! reaches its first bit, and the network limits how far the node may run.

use std::mem;

use npsim_chip::Cycle;
use npsim_chip::kernel::port_io::{Departure, MediaDrop};

use super::link::{FrameOrigin, Inlet, LinkFrame, Outlet};
use super::role::{LineRole, NextFrame};

/// A frame that was lost at the media interface of a node in a network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LostFrame {
    /// The cycle of the loss.
    pub cycle: Cycle,
    /// Where the frame entered the network, if known.
    pub origin: Option<FrameOrigin>,
    /// The reason.
    pub reason: MediaDrop,
}

/// The ports of a node in a network.
#[derive(Debug)]
pub struct NetworkPort {
    inlet: Inlet,
    /// The cycle that the node has reached, up to which all frames are known.
    reached: Cycle,
    /// Frames that have begun to leave since departures were last taken.
    pub(super) outlet: Outlet,
    /// The minimum time from an outgoing frame's first bit to the first bit of an answer, per port.
    answer: Vec<Cycle>,
    answer_deadline: Cycle,
    lost: Vec<LostFrame>,
}

impl NetworkPort {
    /// Ports on which nothing has arrived yet. `answer` is, per port, the minimum time from the
    /// first bit of an outgoing frame to the first bit of a frame that may answer it.
    pub fn new(hertz: u64, answer: Vec<Cycle>) -> Self {
        Self {
            inlet: Inlet::new(0, hertz),
            reached: 0,
            outlet: Outlet::default(),
            answer,
            answer_deadline: Cycle::MAX,
            lost: Vec::new(),
        }
    }

    /// Inserts a frame among those that the node has not reached yet. Frames whose first bits
    /// arrive in the same cycle are ordered by port.
    pub fn put(&mut self, frame: LinkFrame) {
        let key = |frame: &LinkFrame| (frame.start, frame.port);
        let queue = &mut self.inlet.state_mut().queue;
        let at = queue.partition_point(|other| key(other) <= key(&frame));
        queue.insert(at, frame);
    }

    /// First bit of the next frame; `Cycle::MAX` if there is none.
    pub fn next_start(&self) -> Cycle {
        let queue = &self.inlet.state().queue;
        queue.front().map_or(Cycle::MAX, |frame| frame.start)
    }

    /// First bit of the next frame after the cycle that the node has reached; `Cycle::MAX` if there
    /// is none. The chip gets the frames of that cycle itself as soon as it polls.
    pub fn next_pending_start(&self) -> Cycle {
        let queue = &self.inlet.state().queue;
        let reached = queue.partition_point(|frame| frame.start <= self.reached);
        queue.get(reached).map_or(Cycle::MAX, |frame| frame.start)
    }

    /// Notes that the node has reached this cycle, up to which all frames are known.
    pub fn set_reached(&mut self, cycle: Cycle) {
        self.reached = cycle;
    }

    /// The cycle that the node is known to have reached.
    pub fn reached(&self) -> Cycle {
        self.reached
    }

    /// Notes that all nodes know what has left, so that no answer is outstanding.
    pub fn clear_answer_deadline(&mut self) {
        self.answer_deadline = Cycle::MAX;
    }

    /// Takes the frames that were lost at the media interface since the last call.
    pub fn take_lost(&mut self) -> Vec<LostFrame> {
        mem::take(&mut self.lost)
    }
}

impl LineRole for NetworkPort {
    fn next(&mut self) -> NextFrame {
        if self.reached < self.next_start() {
            return NextFrame::Nothing;
        }
        let frame = self.inlet.pop();
        frame.map_or(NextFrame::Unknown, |frame| NextFrame::Frame(Ok(frame)))
    }

    fn is_polled(&self) -> bool {
        true
    }

    fn origin(&self, departure: &Departure<'_>) -> Option<FrameOrigin> {
        self.inlet.origin(departure.frame?)
    }

    fn departing(&mut self, departure: &Departure<'_>) {
        let origin = self.origin(departure);
        self.outlet.take(departure, origin);
        let answer = self.answer.get(usize::from(departure.port));
        let answer = answer.map_or(Cycle::MAX, |wait| departure.start.saturating_add(*wait));
        self.answer_deadline = self.answer_deadline.min(answer);
    }

    fn answer_deadline(&self) -> Cycle {
        self.answer_deadline
    }

    fn dropped(&mut self, cycle: Cycle, frame: Option<u64>, reason: MediaDrop) {
        let origin = frame.and_then(|frame| self.inlet.origin(frame));
        self.lost.push(LostFrame {
            cycle,
            origin,
            reason,
        });
    }

    fn inlet(&self) -> Option<&Inlet> {
        Some(&self.inlet)
    }

    fn inlet_mut(&mut self) -> Option<&mut Inlet> {
        Some(&mut self.inlet)
    }
}
