//! What the lines of a chip are connected to.

use npsim_chip::Cycle;
use npsim_chip::kernel::port_io::{Departure, MediaDrop};
use npsim_net::LineFrame;
use npsim_net::capture::CaptureError;

use super::Frames;
use super::link::{FrameOrigin, Inlet};

/// What comes in next.
#[derive(Debug)]
pub enum NextFrame {
    /// The frame, or why it cannot be read.
    Frame(Result<LineFrame, CaptureError>),
    /// No more frames, or none yet where the lines are [asked again](LineRole::is_polled).
    Nothing,
    /// The next frame depends on a node that has not come so far.
    Unknown,
}

/// What the lines of a chip are connected to: it says which frames come in, and takes
/// notice of those that leave or are lost.
pub trait LineRole {
    /// Takes the frame that comes in next.
    fn next(&mut self) -> NextFrame;

    /// The chip may run up to this cycle without asking for a frame that is not known yet.
    fn known_until(&self) -> Cycle {
        Cycle::MAX
    }

    /// Whether a frame may come after [`Self::next`] had none, so that it is asked for
    /// whenever the chip asks.
    fn is_polled(&self) -> bool {
        false
    }

    /// Where a frame that leaves came into the network, if that can be traced.
    fn origin(&self, departure: &Departure<'_>) -> Option<FrameOrigin>;

    /// A frame begins to leave.
    fn departing(&mut self, _departure: &Departure<'_>) {}

    /// Before which cycle an answer to what has begun to leave may come.
    fn latest(&self) -> Cycle {
        Cycle::MAX
    }

    /// A frame was lost at the media interface.
    fn dropped(&mut self, _cycle: Cycle, _frame: Option<u64>, _reason: MediaDrop) {}

    /// The end of a link from another node, where one leads here.
    fn inlet(&self) -> Option<&Inlet> {
        None
    }

    /// The end of a link from another node, to put its state back.
    fn inlet_mut(&mut self) -> Option<&mut Inlet> {
        None
    }
}

/// Frames of a capture or a generator, at the first node or the only one.
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
