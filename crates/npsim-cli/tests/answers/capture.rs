//! The frames that left, as read by etherparse. A wrong checksum fails the test.

use std::net::Ipv4Addr;
use std::path::Path;

use etherparse::{Icmpv4Type, NetSlice, SlicedPacket, TransportSlice};
use npsim_net::capture::Capture;

/// An ICMP message.
#[derive(Clone, Debug, PartialEq)]
pub struct Message {
    pub from: Ipv4Addr,
    pub to: Ipv4Addr,
    pub ttl: u8,
    pub kind: Icmpv4Type,
    /// The bytes after the message's header.
    pub rest: Vec<u8>,
}

impl Message {
    /// The source port of the datagram that an error message quotes.
    pub fn port(&self) -> u16 {
        let header = usize::from(self.rest[0] & 0xf) * 4;
        u16::from_be_bytes([self.rest[header], self.rest[header + 1]])
    }
}

/// The frames of a capture.
pub fn frames(path: &Path) -> Vec<Vec<u8>> {
    let capture = Capture::open(path).expect("a capture");
    capture
        .frames
        .into_iter()
        .map(|frame| frame.bytes)
        .collect()
}

/// The ICMP messages among frames.
pub fn messages(frames: &[Vec<u8>]) -> Vec<Message> {
    frames.iter().filter_map(|frame| message(frame)).collect()
}

fn message(frame: &[u8]) -> Option<Message> {
    let packet = SlicedPacket::from_ethernet(frame).expect("a sound frame");
    let Some(NetSlice::Ipv4(ip)) = packet.net else {
        return None;
    };
    let header = ip.header().to_header();
    assert_eq!(header.header_checksum, header.calc_header_checksum());
    let Some(TransportSlice::Icmpv4(icmp)) = packet.transport else {
        return None;
    };
    let (kind, rest) = (icmp.icmp_type(), icmp.payload());
    assert_eq!(icmp.checksum(), kind.calc_checksum(rest), "{kind:?}");
    Some(Message {
        from: header.source.into(),
        to: header.destination.into(),
        ttl: header.time_to_live,
        kind,
        rest: rest.to_vec(),
    })
}
