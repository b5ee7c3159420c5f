//! Frames on the links.

use std::net::Ipv4Addr;

use npsim_protocols::icmp::{Datagram, LINK_HEADER};
use npsim_protocols::{arp, checksum};
use npsim_transport::wire::{Packet, WireError};
use serde::{Deserialize, Serialize};

use crate::link_header;
use crate::topology::Topology;

/// Protocol number of TCP.
const TCP: u8 = 6;
/// Protocol number of UDP.
const UDP: u8 = 17;
/// Port of the discard service, which never answers.
const DISCARD: u16 = 9;
/// Default time to live of packets sent by hosts.
pub(crate) const TTL: u8 = 64;
/// Bytes of the IPv4 header.
const HEADER: usize = 20;
/// Bytes of the IPv4 and UDP headers.
pub(crate) const HEADERS: usize = 28;

/// Content of a frame.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Content {
    /// A packet of an endpoint.
    Packet(Packet),
    /// A datagram of a flow without congestion control.
    Datagram {
        /// Its number in the flow, from 0 on.
        number: u64,
        /// Time to live.
        ttl: u8,
    },
    /// An ICMP message, starting with its IPv4 header, created by the general-purpose core of a chip.
    Icmp(Box<[u8]>),
    /// An ARP message, which routers do not forward.
    Arp {
        /// The message.
        message: arp::message::ArpMessage,
        /// The node that sent it.
        from: u32,
    },
    /// A complete Ethernet frame without its check sequence, from or to an open end.
    Ethernet {
        /// The bytes, starting with the destination address.
        bytes: Box<[u8]>,
        /// The open end that it came from, or the chip that created it.
        from: u32,
    },
}

/// Outcome of a frame at a packet-level router.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Hop {
    /// The frame is forwarded.
    Goes,
    /// The frame's time to live has expired.
    Expires,
    /// The frame was meant only for this link.
    Ends,
}

impl Content {
    /// Forwards the frame at the router at `node`, which decrements its time to live.
    pub(crate) fn hop(&mut self, node: usize) -> Hop {
        let ttl = match self {
            Self::Packet(packet) => &mut packet.ttl,
            Self::Datagram { ttl, .. } => ttl,
            Self::Icmp(bytes) => age(bytes),
            Self::Arp { .. } => return Hop::Ends,
            Self::Ethernet { bytes, .. } => {
                if Datagram::from_frame(bytes).is_none() {
                    return Hop::Ends;
                }
                let (to, from) = (link_header::UNKNOWN, link_header::generated_mac(node));
                link_header::readdress(bytes, to, from);
                age(&mut bytes[LINK_HEADER..])
            }
        };
        *ttl = ttl.saturating_sub(1);
        if *ttl == 0 { Hop::Expires } else { Hop::Goes }
    }
}

/// Returns the time to live of an IPv4 packet, after adjusting the checksum for its decrement.
fn age(packet: &mut [u8]) -> &mut u8 {
    if let [sum_high, sum_low] = packet[10..12] {
        let sum = checksum::ttl_step(u16::from_be_bytes([sum_high, sum_low]));
        packet[10..12].copy_from_slice(&sum.to_be_bytes());
    }
    &mut packet[8]
}

/// A frame in transit.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// Its content.
    pub content: Content,
    /// Bytes of IP, or of ARP.
    pub bytes: u32,
    /// The flow that it belongs to; for a message about a packet, the flow of that packet. `None` if
    /// it concerns no flow.
    pub flow: Option<u32>,
    /// The destination node.
    pub to: u32,
}

impl Frame {
    /// Creates the frame for a complete Ethernet frame; an ARP message is extracted from it.
    pub(crate) fn of_ethernet(bytes: Vec<u8>, from: u32, to: u32) -> Self {
        let message = arp::message::ArpMessage::from_frame(&bytes);
        let (content, length) = if let Some(message) = message {
            (Content::Arp { message, from }, link_header::MIN_IP_BYTES)
        } else {
            let length = bytes.len().saturating_sub(LINK_HEADER) as u32;
            let bytes = bytes.into();
            (Content::Ethernet { bytes, from }, length)
        };
        Self {
            content,
            bytes: length,
            flow: None,
            to,
        }
    }

    /// Whether it is a packet of its flow, rather than a message about one.
    #[must_use]
    pub const fn is_flow_packet(&self) -> bool {
        matches!(self.content, Content::Packet(_) | Content::Datagram { .. })
    }

    /// Returns the flow to which it belongs as a packet.
    pub(crate) fn own_flow(&self) -> Option<usize> {
        let flow = self.flow.filter(|_| self.is_flow_packet())?;
        Some(flow as usize)
    }

    /// Returns the packet as it is on a line of a network, starting with its IPv4 or ARP header.
    ///
    /// # Errors
    /// Returns an error if an endpoint has created something that no packet can hold, which none does.
    pub fn to_bytes(&self, topology: &Topology) -> Result<Vec<u8>, WireError> {
        match &self.content {
            Content::Packet(packet) => packet.to_bytes(),
            Content::Datagram { number, ttl } => {
                let flow = self.flow.map(|flow| &topology.flows[flow as usize]);
                let ends = flow.map_or([0, 0], |flow| [flow.from, flow.to]);
                let ends = ends.map(|node| topology.address(node));
                Ok(datagram(ends, *number, *ttl, self.bytes as usize))
            }
            Content::Icmp(bytes) => Ok(bytes.to_vec()),
            Content::Arp { message, .. } => Ok(message.to_frame().split_off(LINK_HEADER)),
            Content::Ethernet { bytes, .. } => Ok(bytes[LINK_HEADER..].to_vec()),
        }
    }

    /// Returns a packet's label, which identifies it in its network; `None` for ARP.
    pub(crate) fn label(&self, topology: &Topology) -> Option<PacketLabel> {
        match &self.content {
            Content::Packet(packet) => {
                let protocol = packet.protocol();
                let segment = packet.segment().filter(|_| protocol == TCP);
                Some(PacketLabel {
                    source: packet.source,
                    destination: packet.destination,
                    protocol,
                    identification: packet.identification,
                    ports: segment.map(|it| [it.source_port, it.destination_port]),
                })
            }
            Content::Datagram { number, .. } => {
                let flow = &topology.flows[self.flow? as usize];
                Some(PacketLabel {
                    source: topology.address(flow.from),
                    destination: topology.address(flow.to),
                    protocol: UDP,
                    identification: *number as u16,
                    ports: None,
                })
            }
            Content::Icmp(bytes) => PacketLabel::of(bytes),
            Content::Arp { .. } => None,
            Content::Ethernet { bytes, .. } => PacketLabel::of(link_header::packet(bytes)?),
        }
    }

    /// Returns this frame with the changes that its packet has undergone in transit, parsed from its
    /// IPv4 header on.
    ///
    /// # Errors
    /// Returns an error if it is not a packet that a host of a network sends.
    pub(crate) fn changed(&self, bytes: &[u8]) -> Result<Self, WireError> {
        let mut changed = self.clone();
        match &mut changed.content {
            Content::Packet(packet) => {
                *packet = Packet::from_bytes(bytes)?.0;
                changed.bytes = packet.length() as u32;
            }
            // The other fields of a datagram are never read.
            Content::Datagram { ttl, .. } => *ttl = bytes.get(8).copied().unwrap_or(*ttl),
            Content::Icmp(message) => {
                let packet = Datagram::of(bytes).ok_or(WireError::Short {
                    what: "the header of a message",
                    needed: HEADER,
                    have: bytes.len(),
                })?;
                *message = packet.bytes().into();
                changed.bytes = message.len() as u32;
            }
            // A chip does not forward ARP messages; a complete Ethernet frame is taken as it left.
            Content::Arp { .. } | Content::Ethernet { .. } => {}
        }
        Ok(changed)
    }
}

/// The fields that identify a packet of the network inside a chip.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct PacketLabel {
    source: Ipv4Addr,
    destination: Ipv4Addr,
    protocol: u8,
    identification: u16,
    /// TCP ports, since the packets of each connection of a host are numbered from 0 on.
    ports: Option<[u16; 2]>,
}

impl PacketLabel {
    /// Returns the label of a packet that begins with its IPv4 header and may be truncated.
    pub fn of(packet: &[u8]) -> Option<Self> {
        let datagram = Datagram::of(packet)?;
        let protocol = datagram.protocol();
        // A message quotes this much after the header.
        let ports = match datagram.payload() {
            [a, b, c, d, ..] if protocol == TCP => {
                Some([[*a, *b], [*c, *d]].map(u16::from_be_bytes))
            }
            _ => None,
        };
        Some(Self {
            source: datagram.source(),
            destination: datagram.destination(),
            protocol,
            identification: datagram.identification(),
            ports,
        })
    }
}

/// Returns a UDP packet of `bytes` bytes without a UDP checksum and with its number in the payload; at
/// least as long as its headers.
fn datagram([from, to]: [Ipv4Addr; 2], number: u64, ttl: u8, bytes: usize) -> Vec<u8> {
    let length = bytes.clamp(HEADERS, usize::from(u16::MAX));
    let mut packet = vec![0; length];
    let total = (length as u16).to_be_bytes();
    packet[..4].copy_from_slice(&[0x45, 0, total[0], total[1]]);
    packet[4..6].copy_from_slice(&(number as u16).to_be_bytes());
    packet[8..10].copy_from_slice(&[ttl, UDP]);
    packet[12..16].copy_from_slice(&from.octets());
    packet[16..20].copy_from_slice(&to.octets());
    let sum = checksum::of_ipv4(&packet[..20]);
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
    packet[20..22].copy_from_slice(&DISCARD.to_be_bytes());
    packet[22..24].copy_from_slice(&DISCARD.to_be_bytes());
    packet[24..26].copy_from_slice(&(length as u16 - 20).to_be_bytes());
    for (byte, of_number) in packet[HEADERS..].iter_mut().zip(number.to_be_bytes()) {
        *byte = of_number;
    }
    packet
}
