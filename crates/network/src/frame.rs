//! What goes over links.

use std::net::Ipv4Addr;

use npsim_protocols::checksum;
use npsim_transport::wire::{Packet, WireError};
use serde::{Deserialize, Serialize};

use crate::topology::Topology;

/// Protocol number of UDP.
const UDP: u8 = 17;
/// The discard service, to which nobody answers.
const DISCARD: u16 = 9;
/// Bytes of the headers of IPv4 and UDP.
pub(crate) const HEADERS: usize = 28;

/// What a frame holds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum Content {
    /// A packet of an endpoint.
    Packet(Packet),
    /// A datagram of a flow that reacts to nothing.
    Datagram {
        /// Its number in the flow, from 0 on.
        number: u64,
    },
}

/// A packet on its way.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Frame {
    /// What it holds.
    pub content: Content,
    /// Bytes of IP.
    pub bytes: u32,
    /// The flow that it is of.
    pub flow: u32,
    /// The node that it is for.
    pub to: u32,
}

impl Frame {
    /// The packet as it stands on a line of a network, from the IPv4 header on.
    ///
    /// # Errors
    /// An endpoint has made what no packet can hold, which none does.
    pub fn to_bytes(&self, topology: &Topology) -> Result<Vec<u8>, WireError> {
        match &self.content {
            Content::Packet(packet) => packet.to_bytes(),
            Content::Datagram { number } => {
                let flow = &topology.flows[self.flow as usize];
                let ends = [flow.from, flow.to].map(|node| topology.address(node));
                Ok(datagram(ends, *number, self.bytes as usize))
            }
        }
    }

    /// What a packet of this flow has become on its way: read from its IPv4 header on.
    ///
    /// # Errors
    /// It is none that a host of a network sends.
    pub(crate) fn changed(&self, bytes: &[u8]) -> Result<Self, WireError> {
        let mut changed = *self;
        match &mut changed.content {
            Content::Packet(packet) => {
                *packet = Packet::from_bytes(bytes)?.0;
                changed.bytes = packet.length() as u32;
            }
            // Nobody looks at what a datagram holds.
            Content::Datagram { .. } => {}
        }
        Ok(changed)
    }
}

/// A UDP packet of so many bytes without a checksum of its own, its number in the payload; one that is
/// too short for its headers has no more than them.
fn datagram([from, to]: [Ipv4Addr; 2], number: u64, bytes: usize) -> Vec<u8> {
    let length = bytes.clamp(HEADERS, usize::from(u16::MAX));
    let mut packet = vec![0; length];
    let total = (length as u16).to_be_bytes();
    packet[..4].copy_from_slice(&[0x45, 0, total[0], total[1]]);
    packet[4..6].copy_from_slice(&(number as u16).to_be_bytes());
    packet[8..10].copy_from_slice(&[64, UDP]);
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
