//! What taps see of a network with chips, in the order in which it happens.
//!
//! Chips and the outside take turns, so that what one does is learnt of after what another does
//! later. It is held until all have come by.

use npsim_transport::time::Time;
use serde::{Deserialize, Serialize};

use crate::frame::Frame;
use crate::line::DropReason;
use crate::simulation::Tap;

/// Something that a tap sees.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
enum Seen {
    Sent,
    Dropped(DropReason),
    Lost,
}

/// What was seen and not handed on yet.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Held {
    seen: Vec<(Time, usize, Seen, Frame)>,
}

impl Held {
    /// Whether all of a state is of `lines` lines; `frame` says whether a frame could be one of the
    /// network's.
    pub fn is_sound(&self, lines: usize, frame: impl Fn(&Frame) -> bool) -> bool {
        let mut seen = self.seen.iter();
        seen.all(|(_, line, _, it)| *line < lines && frame(it))
    }

    /// Hands on what happened before a time, which all have come to.
    pub fn hand_on(&mut self, before: Time, tap: &mut dyn Tap) {
        if self.seen.is_empty() {
            return;
        }
        self.seen.sort_by_key(|(at, line, ..)| (*at, *line));
        let count = self.seen.partition_point(|(at, ..)| *at < before);
        for (at, line, seen, frame) in self.seen.drain(..count) {
            match seen {
                Seen::Sent => tap.sent(at, line, &frame),
                Seen::Dropped(reason) => tap.dropped(at, line, &frame, reason),
                Seen::Lost => tap.lost(at, line, &frame),
            }
        }
    }
}

/// Holds what is seen of the lines that a tap watches.
pub struct Holding<'a> {
    /// What is held.
    pub held: &'a mut Held,
    /// By line, whether it is watched.
    pub watched: &'a [bool],
}

impl Holding<'_> {
    fn hold(&mut self, now: Time, line: usize, frame: &Frame, seen: Seen) {
        if self.watched[line] {
            self.held.seen.push((now, line, seen, *frame));
        }
    }
}

impl Tap for Holding<'_> {
    fn sent(&mut self, now: Time, line: usize, frame: &Frame) {
        self.hold(now, line, frame, Seen::Sent);
    }

    fn dropped(&mut self, now: Time, line: usize, frame: &Frame, reason: DropReason) {
        self.hold(now, line, frame, Seen::Dropped(reason));
    }

    fn lost(&mut self, now: Time, line: usize, frame: &Frame) {
        self.hold(now, line, frame, Seen::Lost);
    }
}
