//! Packets as bytes on the wire, and as values.
//!
//! Endpoints exchange a [`Packet`]: IPv4 with at most a Quick-Start option, XCP's congestion header if
//! the flow has one, and TCP; or IPv4, RCP's congestion header and its [`RcpDatagram`]. A simulation
//! may carry packets as values; [`Packet::to_bytes`] and [`Packet::from_bytes`] are for chips and
//! captures.

mod error;
mod ipv4;
mod options;
mod packet;
mod payload;
mod segment;
mod xcp_option;

pub use error::WireError;
pub use options::{QuickStartResponse, SackBlocks, TcpOptions, Timestamps};
pub(crate) use packet::DATAGRAM_PROTOCOL;
pub use packet::{FlowEnds, Packet, PacketBody, RcpDatagram};
pub use payload::{first_difference, pattern};
pub use segment::{Flags, Segment};
pub use xcp_option::{FRACTION_BITS, PacketFormat, XcpOption};

/// Bytes of an IPv4 header without options.
pub(crate) const IPV4: usize = 20;
/// Bytes of a TCP header without options.
pub(crate) const TCP: usize = 20;
