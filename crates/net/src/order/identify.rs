//! Identifies the flow and the number of a captured frame.
//!
//! There are three ways to find the flow and the sequence number: the frame is looked up among those that
//! entered ([`EnteredFrames`]), it carries the stamp of generated traffic ([`stamped_flow`]), or it is a TCP segment
//! ([`TcpSegments`]).

mod entered;
mod tcp;
mod tuple;

use std::fmt;

pub use entered::{EnteredFrames, EnteredFramesBuilder};
pub use tcp::TcpSegments;
pub use tuple::Tuple;

use crate::load::{FrameKind, Stamp};

/// A flow. Flows are sorted by number.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct FlowId {
    /// For generated traffic the flow number in its stamps, otherwise the number of flows seen before it.
    pub number: u32,
    /// The identity of the flow.
    pub ends: FlowKey,
}

/// The identity of a flow.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum FlowKey {
    /// Generated traffic of this kind, identified by the flow's number.
    Stamped(FrameKind),
    /// Addresses and ports.
    Tuple(Tuple),
    /// A later connection between the same endpoints, numbered from 2.
    Reconnection(Tuple, u32),
}

impl fmt::Display for FlowId {
    /// `flow 3`, `flow 3 tcp` or `10.0.0.1:5 > 10.0.0.2:6 udp`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match &self.ends {
            FlowKey::Stamped(FrameKind::Plain) => write!(out, "flow {}", self.number),
            FlowKey::Stamped(kind) => {
                let kind = format!("{kind:?}").to_lowercase();
                write!(out, "flow {} {kind}", self.number)
            }
            FlowKey::Tuple(tuple) => tuple.fmt(out),
            FlowKey::Reconnection(tuple, nth) => write!(out, "{tuple}, connection {nth}"),
        }
    }
}

/// Returns the name of a frame's flow, from its stamp or from its headers.
#[must_use]
pub fn flow_text(frame: &[u8]) -> String {
    match stamped_flow(frame) {
        Some((flow, _)) => flow.to_string(),
        None => Tuple::of(frame).to_string(),
    }
}

/// Returns the flow and the sequence number of a frame of generated traffic.
#[must_use]
pub fn stamped_flow(frame: &[u8]) -> Option<(FlowId, u64)> {
    let stamp = Stamp::read(frame)?;
    let flow = FlowId {
        number: stamp.flow,
        ends: FlowKey::Stamped(stamp.kind),
    };
    Some((flow, stamp.sequence))
}

#[cfg(test)]
mod tests;
