//! Brings the observations of a network with chips into chronological order.
//!
//! Chips and the outside alternate, so that an action of one may become known after a later action of
//! another. Observations are held back until all parts have passed their time.

use npsim_transport::time::Time;
use serde::{Deserialize, Serialize};

use crate::frame::Frame;
use crate::line::DropReason;
use crate::tap::{SenderSnapshot, Tap};

/// Something that a tap sees.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
enum TapEvent {
    Sent(Frame),
    Dropped(Frame, DropReason),
    Lost(Frame),
    Sender(SenderSnapshot),
}

/// Observations that have not been passed on yet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct ReorderBuffer {
    /// Time, line or flow, and event of each observation.
    seen: Vec<(Time, usize, TapEvent)>,
}

impl ReorderBuffer {
    /// Whether a saved state contains only lines below `lines` and flows below `flows`; `frame` tells
    /// whether a frame could belong to the network.
    pub fn is_sound(&self, lines: usize, flows: usize, frame: impl Fn(&Frame) -> bool) -> bool {
        let mut seen = self.seen.iter();
        seen.all(|(_, number, seen)| match seen {
            TapEvent::Sent(it) | TapEvent::Dropped(it, _) | TapEvent::Lost(it) => {
                *number < lines && frame(it)
            }
            TapEvent::Sender(_) => *number < flows,
        })
    }

    /// Passes on everything before a time that all parts have reached.
    pub fn flush_before(&mut self, before: Time, tap: &mut dyn Tap) {
        if self.seen.is_empty() {
            return;
        }
        self.seen
            .sort_by_key(|(at, number, seen)| (*at, matches!(seen, TapEvent::Sender(_)), *number));
        let count = self.seen.partition_point(|(at, ..)| *at < before);
        for (at, number, seen) in self.seen.drain(..count) {
            match seen {
                TapEvent::Sent(frame) => tap.sent(at, number, &frame),
                TapEvent::Dropped(frame, reason) => tap.dropped(at, number, &frame, reason),
                TapEvent::Lost(frame) => tap.lost(at, number, &frame),
                TapEvent::Sender(seen) => tap.sender(at, number, &seen),
            }
        }
    }
}

/// What a tap watches.
#[derive(Debug, Clone, Default)]
pub struct Watched {
    /// Whether each line is watched.
    pub lines: Vec<bool>,
    /// Whether senders are watched.
    pub senders: bool,
}

/// Records the observations that a tap watches.
pub struct RecordingTap<'a> {
    /// Destination of the observations.
    pub held: &'a mut ReorderBuffer,
    /// What is watched.
    pub watched: &'a Watched,
}

impl RecordingTap<'_> {
    fn hold(&mut self, now: Time, line: usize, seen: impl FnOnce() -> TapEvent) {
        if self.watched.lines[line] {
            self.held.seen.push((now, line, seen()));
        }
    }
}

impl Tap for RecordingTap<'_> {
    fn sent(&mut self, now: Time, line: usize, frame: &Frame) {
        self.hold(now, line, || TapEvent::Sent(frame.clone()));
    }

    fn dropped(&mut self, now: Time, line: usize, frame: &Frame, reason: DropReason) {
        self.hold(now, line, || TapEvent::Dropped(frame.clone(), reason));
    }

    fn lost(&mut self, now: Time, line: usize, frame: &Frame) {
        self.hold(now, line, || TapEvent::Lost(frame.clone()));
    }

    fn watches_senders(&self) -> bool {
        self.watched.senders
    }

    fn sender(&mut self, now: Time, flow: usize, seen: &SenderSnapshot) {
        self.held.seen.push((now, flow, TapEvent::Sender(*seen)));
    }
}
