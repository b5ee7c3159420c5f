//! Whole packets.

use std::net::Ipv4Addr;

use npsim_protocols::quick_start::{QuickStartOption, option};
use npsim_protocols::{rcp, xcp};
use serde::{Deserialize, Serialize};

use super::ipv4::Ipv4;
use super::segment::{Segment, TCP_PROTOCOL};
use super::{IPV4, WireError};

/// Protocol number by which the shipped microcode recognises XCP: the draft left it open, and RFC 3692
/// reserves 253 and 254 for experiments.
const XCP_PROTOCOL: u8 = 253;
/// Protocol number by which the shipped microcode recognises RCP.
const RCP_PROTOCOL: u8 = 254;
/// Protocol number after RCP's congestion header: "any host internal protocol".
pub(crate) const DATAGRAM_PROTOCOL: u8 = 61;
/// Bytes of a [`RcpDatagram`]'s header.
const DATAGRAM: usize = 8;
/// Default TTL of hosts.
pub(crate) const TTL: u8 = 64;

/// The two ends of a flow, as seen by one of them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct FlowEnds {
    /// Own address.
    pub source: Ipv4Addr,
    /// The peer's address.
    pub destination: Ipv4Addr,
    /// Own port.
    pub source_port: u16,
    /// The peer's port.
    pub destination_port: u16,
}

impl FlowEnds {
    /// Returns the ends as the peer sees them.
    #[must_use]
    pub fn reversed(self) -> Self {
        Self {
            source: self.destination,
            destination: self.source,
            source_port: self.destination_port,
            destination_port: self.source_port,
        }
    }

    /// Returns the segment in `packet`, if the peer sent it to this end.
    pub(crate) fn segment_in(self, packet: &Packet) -> Option<&Segment> {
        packet.segment().filter(|segment| {
            segment.destination_port == self.source_port
                && segment.source_port == self.destination_port
        })
    }
}

/// The header after RCP's congestion header: eight bytes, so that the headers of IPv4, RCP and this
/// one add up to the 40 bytes of IPv4 and TCP.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RcpDatagram {
    /// The number of a data packet, from 0 on; in an answer, that of the packet it answers.
    pub number: u32,
    /// The sender's clock in its own units, or its echo.
    pub stamp: u32,
    /// Bytes of payload.
    pub payload: u16,
}

/// Content of a packet.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum PacketBody {
    /// TCP, preceded by XCP's congestion header if there is one.
    Tcp {
        /// The congestion header.
        xcp: Option<xcp::XcpHeader>,
        /// The segment.
        segment: Segment,
    },
    /// RCP.
    Rcp {
        /// The congestion header.
        header: rcp::RcpHeader,
        /// The data after it.
        datagram: RcpDatagram,
    },
}

/// A packet of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Packet {
    /// Sender.
    pub source: Ipv4Addr,
    /// Receiver.
    pub destination: Ipv4Addr,
    /// Counter of the endpoint's packets.
    pub identification: u16,
    /// Time to live.
    pub ttl: u8,
    /// The Quick-Start option of IPv4.
    pub quick_start: Option<QuickStartOption>,
    /// Content of the packet.
    pub body: PacketBody,
}

impl Packet {
    /// Creates the packet of a segment, without a congestion header.
    pub(crate) fn tcp(ends: FlowEnds, identification: u16, segment: Segment) -> Self {
        Self::new(ends, identification, PacketBody::Tcp { xcp: None, segment })
    }

    /// Creates the packet of a datagram after RCP's congestion header.
    pub(crate) fn rcp(
        ends: FlowEnds,
        identification: u16,
        header: rcp::RcpHeader,
        datagram: RcpDatagram,
    ) -> Self {
        Self::new(ends, identification, PacketBody::Rcp { header, datagram })
    }

    fn new(ends: FlowEnds, identification: u16, body: PacketBody) -> Self {
        Self {
            source: ends.source,
            destination: ends.destination,
            identification,
            ttl: TTL,
            quick_start: None,
            body,
        }
    }

    /// Returns the number of bytes of the packet: the total length in its IPv4 header.
    #[must_use]
    pub fn length(&self) -> usize {
        let ipv4 = IPV4 + self.quick_start.map_or(0, |_| option::LENGTH);
        ipv4 + match &self.body {
            PacketBody::Tcp { xcp, segment } => {
                let xcp = xcp.map_or(0, |_| xcp::header::LENGTH);
                xcp + segment.header_length() + usize::from(segment.payload)
            }
            PacketBody::Rcp { datagram, .. } => {
                rcp::header::LENGTH + DATAGRAM + usize::from(datagram.payload)
            }
        }
    }

    /// Returns the segment of a TCP packet.
    #[must_use]
    pub fn segment(&self) -> Option<&Segment> {
        match &self.body {
            PacketBody::Tcp { segment, .. } => Some(segment),
            PacketBody::Rcp { .. } => None,
        }
    }

    /// Returns the protocol number in the IPv4 header.
    #[must_use]
    pub const fn protocol(&self) -> u8 {
        match &self.body {
            PacketBody::Tcp { xcp: None, .. } => TCP_PROTOCOL,
            PacketBody::Tcp { xcp: Some(_), .. } => XCP_PROTOCOL,
            PacketBody::Rcp { .. } => RCP_PROTOCOL,
        }
    }

    fn header(&self) -> Ipv4 {
        Ipv4 {
            source: self.source,
            destination: self.destination,
            identification: self.identification,
            ttl: self.ttl,
            protocol: self.protocol(),
            quick_start: self.quick_start,
        }
    }

    /// Returns the bytes of the packet from the IPv4 header on, with correct checksums and the payload
    /// [pattern](super::pattern).
    ///
    /// # Errors
    ///
    /// Returns [`WireError::OptionsTooLong`] or [`WireError::TooLong`].
    pub fn to_bytes(&self) -> Result<Vec<u8>, WireError> {
        let length = self.length();
        let mut bytes = Vec::with_capacity(length);
        let header = self.header();
        header.append(&mut bytes, length)?;
        match &self.body {
            PacketBody::Tcp { xcp, segment } => {
                if let Some(xcp) = xcp {
                    bytes.extend(xcp.to_bytes());
                }
                segment.append(&mut bytes, header.addresses())?;
            }
            PacketBody::Rcp { header, datagram } => {
                bytes.extend(header.to_bytes());
                bytes.extend(datagram.number.to_be_bytes());
                bytes.extend(datagram.stamp.to_be_bytes());
                super::payload::append(&mut bytes, datagram.number, datagram.payload);
            }
        }
        Ok(bytes)
    }

    /// Parses a packet from its IPv4 header on; bytes after its total length are the padding of a
    /// frame. The second part of the result is the payload as received:
    /// [`first_difference`](super::first_difference) compares it with the pattern.
    ///
    /// # Errors
    ///
    /// Returns a [`WireError`] for anything malformed or never sent by hosts.
    pub fn from_bytes(bytes: &[u8]) -> Result<(Self, &[u8]), WireError> {
        let (header, rest) = Ipv4::from_bytes(bytes)?;
        let (body, payload) = match header.protocol {
            TCP_PROTOCOL => {
                let (segment, payload) = Segment::from_bytes(rest, header.addresses())?;
                (PacketBody::Tcp { xcp: None, segment }, payload)
            }
            XCP_PROTOCOL => {
                let (xcp, rest) = Self::xcp(rest)?;
                let (segment, payload) = Segment::from_bytes(rest, header.addresses())?;
                let xcp = Some(xcp);
                (PacketBody::Tcp { xcp, segment }, payload)
            }
            RCP_PROTOCOL => Self::rcp_body(rest)?,
            protocol => return Err(WireError::Protocol(protocol)),
        };
        let packet = Self {
            source: header.source,
            destination: header.destination,
            identification: header.identification,
            ttl: header.ttl,
            quick_start: header.quick_start,
            body,
        };
        Ok((packet, payload))
    }

    fn xcp(bytes: &[u8]) -> Result<(xcp::XcpHeader, &[u8]), WireError> {
        let what = "the congestion header of XCP";
        let short = WireError::Short {
            what,
            needed: xcp::header::LENGTH,
            have: bytes.len(),
        };
        let header = xcp::XcpHeader::from_bytes(bytes).ok_or(short)?;
        let length = usize::from(header.length);
        if length != xcp::header::LENGTH {
            return Err(WireError::Length { what, length });
        }
        if header.protocol != TCP_PROTOCOL {
            return Err(WireError::Protocol(header.protocol));
        }
        Ok((header, &bytes[length..]))
    }

    fn rcp_body(bytes: &[u8]) -> Result<(PacketBody, &[u8]), WireError> {
        let needed = rcp::header::LENGTH + DATAGRAM;
        let short = WireError::Short {
            what: "the headers of RCP",
            needed,
            have: bytes.len(),
        };
        let header = rcp::RcpHeader::from_bytes(bytes).ok_or(short)?;
        let rest: &[u8; DATAGRAM] = bytes
            .get(rcp::header::LENGTH..)
            .and_then(<[u8]>::first_chunk)
            .ok_or(short)?;
        if header.protocol != DATAGRAM_PROTOCOL {
            return Err(WireError::Protocol(header.protocol));
        }
        let [a, b, c, d, e, f, g, h] = *rest;
        let payload = &bytes[needed..];
        let datagram = RcpDatagram {
            number: u32::from_be_bytes([a, b, c, d]),
            stamp: u32::from_be_bytes([e, f, g, h]),
            payload: payload.len() as u16,
        };
        Ok((PacketBody::Rcp { header, datagram }, payload))
    }
}
