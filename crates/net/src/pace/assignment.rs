//! Assignment of frames to ports.

use std::fmt;
use std::str::FromStr;

use etherparse::{LaxNetSlice, LaxSlicedPacket, TransportSlice};

use super::PaceError;
use crate::Frame;

/// How frames are assigned to ports.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum PortAssignment {
    /// By capture interface, modulo the number of ports; with a single interface, all to port 0.
    #[default]
    ByInterface,
    /// In turn, in the order of the capture.
    RoundRobin,
    /// All to this port.
    Fixed(u32),
    /// By a hash of addresses, protocol and TCP or UDP ports, so that a flow stays on one port and in order.
    /// Fragments are hashed by addresses and protocol, other frames by their Ethernet header.
    ByFlow,
}

impl PortAssignment {
    /// Returns the port of frame `index`, out of `ports` ports.
    pub(super) fn port(self, index: usize, frame: &Frame, ports: u32) -> u32 {
        match self {
            PortAssignment::ByInterface => frame.port % ports,
            PortAssignment::RoundRobin => (index as u64 % u64::from(ports)) as u32,
            PortAssignment::Fixed(port) => port,
            PortAssignment::ByFlow => (flow_hash(&frame.bytes) % u64::from(ports)) as u32,
        }
    }
}

impl FromStr for PortAssignment {
    type Err = PaceError;

    /// Parses `interface`, `round-robin`, `flow`, or a port number.
    fn from_str(text: &str) -> Result<PortAssignment, PaceError> {
        match text {
            "interface" => Some(PortAssignment::ByInterface),
            "round-robin" => Some(PortAssignment::RoundRobin),
            "flow" => Some(PortAssignment::ByFlow),
            number if number.bytes().all(|digit| digit.is_ascii_digit()) => {
                number.parse().map(PortAssignment::Fixed).ok()
            }
            _ => None,
        }
        .ok_or_else(|| PaceError::UnknownAssignment {
            text: text.to_string(),
        })
    }
}

impl fmt::Display for PortAssignment {
    /// Writes the form that [`PortAssignment::from_str`] parses.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PortAssignment::ByInterface => write!(out, "interface"),
            PortAssignment::RoundRobin => write!(out, "round-robin"),
            PortAssignment::Fixed(port) => write!(out, "{port}"),
            PortAssignment::ByFlow => write!(out, "flow"),
        }
    }
}

/// Returns a hash of a frame's flow: the same on every machine and in every run.
pub(crate) fn flow_hash(frame: &[u8]) -> u64 {
    let mut hash = Fnv::new();
    let packet = LaxSlicedPacket::from_ethernet(frame).ok();
    let net = packet.as_ref().and_then(|packet| packet.net.as_ref());
    match net {
        Some(LaxNetSlice::Ipv4(ip)) => {
            hash.add(&ip.header().source());
            hash.add(&ip.header().destination());
            hash.add(&[ip.header().protocol().0]);
        }
        Some(LaxNetSlice::Ipv6(ip)) => {
            hash.add(&ip.header().source());
            hash.add(&ip.header().destination());
            hash.add(&[ip.payload().ip_number.0]);
        }
        _ => hash.add(&frame[..frame.len().min(14)]),
    }
    // Fragments, including first ones, have no transport header here, so all fragments of a datagram hash
    // alike.
    match packet.as_ref().and_then(|packet| packet.transport.as_ref()) {
        Some(TransportSlice::Tcp(tcp)) => hash.add_ports(tcp.source_port(), tcp.destination_port()),
        Some(TransportSlice::Udp(udp)) => hash.add_ports(udp.source_port(), udp.destination_port()),
        _ => {}
    }
    hash.mixed()
}

/// FNV-1a with a final mix, since its low bits alone distribute a few flows poorly over few ports.
struct Fnv(u64);

impl Fnv {
    fn new() -> Fnv {
        Fnv(0xcbf2_9ce4_8422_2325)
    }

    fn add(&mut self, bytes: &[u8]) {
        for &byte in bytes {
            self.0 = (self.0 ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    fn add_ports(&mut self, source: u16, destination: u16) {
        self.add(&source.to_be_bytes());
        self.add(&destination.to_be_bytes());
    }

    fn mixed(&self) -> u64 {
        let folded = (self.0 ^ (self.0 >> 33)).wrapping_mul(0xff51_afd7_ed55_8ccd);
        folded ^ (folded >> 33)
    }
}
