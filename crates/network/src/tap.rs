//! Observers of a network.

use npsim_transport::time::Time;
use serde::{Deserialize, Serialize};

use crate::frame::Frame;
use crate::host::FlowView;
use crate::line::DropReason;

/// The sender of a flow after it has acted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SenderSeen {
    /// The state of the flow's sender.
    pub view: FlowView,
    /// Segments that it has sent again, so far.
    pub retransmitted: u64,
    /// Expiries of its retransmission timer, so far.
    pub timeouts: u64,
}

/// Sees what goes over lines, and what senders do.
pub trait Tap {
    /// Whether it wants to see what goes over a line.
    fn watches(&self, line: usize) -> bool {
        let _ = line;
        true
    }

    /// Whether it wants to see what senders do.
    fn watches_senders(&self) -> bool {
        false
    }

    /// The sender of a flow has acted.
    fn sender(&mut self, now: Time, flow: usize, seen: &SenderSeen) {
        let _ = (now, flow, seen);
    }

    /// A line begins to send a frame that will arrive.
    fn sent(&mut self, now: Time, line: usize, frame: &Frame) {
        let _ = (now, line, frame);
    }

    /// A queue has no place for a frame.
    fn dropped(&mut self, now: Time, line: usize, frame: &Frame, reason: DropReason) {
        let _ = (now, line, frame, reason);
    }

    /// A line begins to send a frame that will be lost on it.
    fn lost(&mut self, now: Time, line: usize, frame: &Frame) {
        let _ = (now, line, frame);
    }
}

/// Looks away.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoTap;

impl Tap for NoTap {
    fn watches(&self, _: usize) -> bool {
        false
    }
}
