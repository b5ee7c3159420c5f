//! Which packet of which flow a captured frame is.
//!
//! Three ways, each of which gives a flow and a sequence number: the frame is found among those that
//! entered ([`Entered`]), it carries the stamp of generated traffic ([`stamped`]), or it is a TCP segment
//! ([`TcpSegments`]).

mod entered;
mod tcp;
mod tuple;

use std::fmt;

pub use entered::{Entered, Entering};
pub use tcp::TcpSegments;
pub use tuple::Tuple;

use crate::load::{FrameKind, Stamp};

/// A flow: flows are in the order of their numbers.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Flow {
    /// Of generated traffic the number of its stamps, else how many flows were seen before it.
    pub number: u32,
    /// What tells it from others.
    pub ends: Ends,
}

/// What tells a flow from others.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Ends {
    /// Generated traffic of this kind, with the flow's number.
    Made(FrameKind),
    /// Addresses and ports.
    Tuple(Tuple),
}

impl fmt::Display for Flow {
    /// `flow 3`, `flow 3 tcp` or `10.0.0.1:5 > 10.0.0.2:6 udp`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.ends {
            Ends::Made(FrameKind::Plain) => write!(out, "flow {}", self.number),
            Ends::Made(kind) => {
                let kind = format!("{kind:?}").to_lowercase();
                write!(out, "flow {} {kind}", self.number)
            }
            Ends::Tuple(tuple) => tuple.fmt(out),
        }
    }
}

/// Flow and sequence number of a frame of generated traffic.
#[must_use]
pub fn stamped(frame: &[u8]) -> Option<(Flow, u64)> {
    let stamp = Stamp::read(frame)?;
    let flow = Flow {
        number: stamp.flow,
        ends: Ends::Made(stamp.kind),
    };
    Some((flow, stamp.sequence))
}

#[cfg(test)]
mod tests;
