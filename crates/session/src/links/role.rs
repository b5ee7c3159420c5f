//! The kinds of source that a chip's lines can be connected to.

use npsim_chip::Cycle;
use npsim_chip::kernel::port_io::{Departure, MediaDrop};
use npsim_net::LineFrame;
use npsim_net::capture::CaptureError;

use super::Frames;
use super::link::{FrameOrigin, Inlet};

/// The next frame to arrive.
#[derive(Debug)]
pub enum NextFrame {
    /// The frame, or the error that prevents reading it.
    Frame(Result<LineFrame, CaptureError>),
    /// No more frames, or none yet if the lines are [polled](LineRole::is_polled).
    Nothing,
    /// Unknown as yet: it depends on a node that has not run far enough.
    Unknown,
}

/// The far end of a chip's lines: the source of incoming frames, notified of departures and losses.
pub trait LineRole {
    /// Takes the next incoming frame.
    fn next(&mut self) -> NextFrame;

    /// The cycle up to which the chip may run without polling for a frame that is not yet known.
    fn known_until(&self) -> Cycle {
        Cycle::MAX
    }

    /// Whether a frame may still come after [`Self::next`] had none, so that it is called again
    /// whenever the chip polls.
    fn is_polled(&self) -> bool {
        false
    }

    /// Where a departing frame entered the network, if that can be traced.
    fn origin(&self, departure: &Departure<'_>) -> Option<FrameOrigin>;

    /// Called when a frame begins to leave.
    fn departing(&mut self, _departure: &Departure<'_>) {}

    /// The earliest cycle at which an answer to a frame that has begun to leave may arrive.
    fn answer_deadline(&self) -> Cycle {
        Cycle::MAX
    }

    /// Called when a frame is lost at the media interface.
    fn dropped(&mut self, _cycle: Cycle, _frame: Option<u64>, _reason: MediaDrop) {}

    /// The receiving end of a link from another node, if there is one.
    fn inlet(&self) -> Option<&Inlet> {
        None
    }

    /// The receiving end of a link from another node, for restoring its state.
    fn inlet_mut(&mut self) -> Option<&mut Inlet> {
        None
    }
}

/// Frames from a capture or a generator, at the first or only node.
pub struct Stream(pub Frames);

impl LineRole for Stream {
    fn next(&mut self) -> NextFrame {
        self.0.next().map_or(NextFrame::Nothing, NextFrame::Frame)
    }

    fn origin(&self, departure: &Departure<'_>) -> Option<FrameOrigin> {
        Some(FrameOrigin {
            frame: departure.frame?,
            arrived: departure.arrived?,
        })
    }
}
