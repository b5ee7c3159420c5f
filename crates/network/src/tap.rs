//! Observers of a network.

use npsim_transport::time::Time;
use serde::{Deserialize, Serialize};

use crate::frame::Frame;
use crate::host::FlowView;
use crate::line::DropReason;

/// The state of a flow's sender after it has acted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SenderSnapshot {
    /// The state of the flow's sender.
    pub view: FlowView,
    /// Segments that it has retransmitted so far.
    pub retransmitted: u64,
    /// Expiries of its retransmission timer so far.
    pub timeouts: u64,
}

/// Observer of lines and senders.
pub trait Tap {
    /// Whether it wants to see the frames on a line.
    fn watches(&self, line: usize) -> bool {
        let _ = line;
        true
    }

    /// Whether it wants to see the actions of senders.
    fn watches_senders(&self) -> bool {
        false
    }

    /// Called when the sender of a flow has acted.
    fn sender(&mut self, now: Time, flow: usize, seen: &SenderSnapshot) {
        let _ = (now, flow, seen);
    }

    /// Called when a line begins to send a frame that will arrive.
    fn sent(&mut self, now: Time, line: usize, frame: &Frame) {
        let _ = (now, line, frame);
    }

    /// Called when a queue drops a frame.
    fn dropped(&mut self, now: Time, line: usize, frame: &Frame, reason: DropReason) {
        let _ = (now, line, frame, reason);
    }

    /// Called when a line begins to send a frame that will be lost on it.
    fn lost(&mut self, now: Time, line: usize, frame: &Frame) {
        let _ = (now, line, frame);
    }
}

/// A tap that ignores everything.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoTap;

impl Tap for NoTap {
    fn watches(&self, _: usize) -> bool {
        false
    }
}
