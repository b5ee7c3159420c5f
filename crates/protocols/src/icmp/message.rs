//! ICMP messages made by a router (RFC 792, RFC 1191, RFC 1812).

use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};

use super::datagram::{Datagram, HEADER, ICMP};
use crate::checksum;

/// Bytes of the header of an ICMP message.
pub const MESSAGE_HEADER: usize = 8;
/// Bytes after the packet's header that an error message quotes.
const QUOTED: usize = 8;
/// Type of service of error messages: precedence 6, internetwork control (RFC 1812, 4.3.2.5).
const CONTROL: u8 = 0xc0;
/// Type of an echo reply.
const ECHO_REPLY: u8 = 0;
/// Type of an echo request.
pub const ECHO_REQUEST: u8 = 8;
/// Types of error messages: unreachable, source quench, redirect, time exceeded, parameter problem.
pub const ERRORS: [u8; 5] = [3, 4, 5, 11, 12];

/// The problem with a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum IcmpError {
    /// There is no route to its destination.
    NetUnreachable,
    /// Its next hop does not answer.
    HostUnreachable,
    /// It is for the router itself, which does not implement the protocol.
    ProtocolUnreachable,
    /// It is for the router itself, and nothing listens at the port.
    PortUnreachable,
    /// It is larger than the MTU of a link and must not be fragmented.
    TooBig {
        /// MTU of the link in bytes.
        mtu: u16,
    },
    /// Its time to live has expired.
    TimeExceeded,
}

impl IcmpError {
    /// Type and code, and the longword after the checksum.
    #[must_use]
    pub const fn code(self) -> (u8, u8, u32) {
        match self {
            Self::NetUnreachable => (3, 0, 0),
            Self::HostUnreachable => (3, 1, 0),
            Self::ProtocolUnreachable => (3, 2, 0),
            Self::PortUnreachable => (3, 3, 0),
            Self::TooBig { mtu } => (3, 4, mtu as u32),
            Self::TimeExceeded => (11, 0, 0),
        }
    }
}

/// What a message means to the host that receives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum IcmpContent {
    /// There is a problem with a packet that the host sent.
    Error(IcmpError),
    /// The answer to an echo request.
    EchoReply,
}

impl IcmpContent {
    /// Interprets a message received by the host with this address. `None` if it is of another
    /// type, is broken, or quotes a packet that the host did not send (RFC 1122, 3.2.2).
    #[must_use]
    pub fn of(packet: &Datagram<'_>, host: Ipv4Addr) -> Option<Self> {
        let message = packet.payload();
        let whole = packet.bytes().len() == packet.length() && !packet.is_fragment();
        if packet.protocol() != ICMP || !whole || checksum::sum(message) != 0xffff {
            return None;
        }
        let (header, quote) = message.split_first_chunk::<MESSAGE_HEADER>()?;
        let trouble = match header {
            [ECHO_REPLY, 0, ..] => return Some(Self::EchoReply),
            [3, 4, .., high, low] => IcmpError::TooBig {
                mtu: u16::from_be_bytes([*high, *low]),
            },
            [3, 0, ..] => IcmpError::NetUnreachable,
            [3, 1, ..] => IcmpError::HostUnreachable,
            [3, 2, ..] => IcmpError::ProtocolUnreachable,
            [3, 3, ..] => IcmpError::PortUnreachable,
            [11, 0, ..] => IcmpError::TimeExceeded,
            _ => return None,
        };
        let own = Datagram::of(quote).is_some_and(|quote| quote.source() == host);
        own.then_some(Self::Error(trouble))
    }
}

/// The part of the original packet that an error message quotes, from its IPv4 header on; `None` if
/// it is not an error message.
#[must_use]
pub fn quote<'a>(message: &Datagram<'a>) -> Option<&'a [u8]> {
    let payload = message.payload();
    let error = message.protocol() == ICMP && ERRORS.contains(payload.first()?);
    payload.get(MESSAGE_HEADER..).filter(|_| error)
}

/// Header fields common to all packets made by the router.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct IpHeaderFields {
    /// Source address.
    pub source: Ipv4Addr,
    /// Time to live.
    pub ttl: u8,
    /// Identification.
    pub identification: u16,
}

/// Creates an error message about a packet, from the message's IPv4 header on. It quotes the
/// packet's header and the eight bytes after it, as far as they are known.
#[must_use]
pub fn error(trouble: IcmpError, about: &Datagram<'_>, sending: IpHeaderFields) -> Vec<u8> {
    let known = about.bytes();
    let quote = &known[..known.len().min(about.header_length() + QUOTED)];
    let (kind, code, rest) = trouble.code();
    let mut message = vec![kind, code, 0, 0];
    message.extend_from_slice(&rest.to_be_bytes());
    message.extend_from_slice(quote);
    packet(sending, about.source(), CONTROL, message)
}

/// The number of bytes of a packet that an error message about it needs.
#[must_use]
pub fn quoted(about: &Datagram<'_>) -> usize {
    about.length().min(about.header_length() + QUOTED)
}

/// Creates the answer to an echo request, from its IPv4 header on; `None` if it is not a complete
/// and valid request. The source is the address that the request was sent to.
#[must_use]
pub fn echo_reply(request: &Datagram<'_>, ttl: u8, identification: u16) -> Option<Vec<u8>> {
    let message = request.payload();
    let whole = request.bytes().len() == request.length() && !request.is_fragment();
    let asked = message.len() >= MESSAGE_HEADER && message.starts_with(&[ECHO_REQUEST, 0]);
    if !whole || !asked || request.protocol() != ICMP || checksum::sum(message) != 0xffff {
        return None;
    }
    let mut reply = message.to_vec();
    reply[0] = ECHO_REPLY;
    let sending = IpHeaderFields {
        source: request.destination(),
        ttl,
        identification,
    };
    Some(packet(sending, request.source(), request.service(), reply))
}

/// Wraps a message in an IPv4 packet, filling in both checksums.
fn packet(sending: IpHeaderFields, to: Ipv4Addr, service: u8, mut message: Vec<u8>) -> Vec<u8> {
    message[2..4].fill(0);
    let sum = !checksum::sum(&message);
    message[2..4].copy_from_slice(&sum.to_be_bytes());
    let length = (HEADER + message.len()) as u16;
    let mut packet = vec![0x45, service];
    packet.extend_from_slice(&length.to_be_bytes());
    packet.extend_from_slice(&sending.identification.to_be_bytes());
    packet.extend_from_slice(&[0, 0, sending.ttl, ICMP, 0, 0]);
    packet.extend_from_slice(&sending.source.octets());
    packet.extend_from_slice(&to.octets());
    let sum = checksum::of_ipv4(&packet);
    packet[10..12].copy_from_slice(&sum.to_be_bytes());
    packet.extend_from_slice(&message);
    packet
}

#[cfg(test)]
pub(super) mod tests {
    use super::*;
    use etherparse::icmpv4::{DestUnreachableHeader as Unreachable, TimeExceededCode};
    use etherparse::{Icmpv4Type, NetSlice, PacketBuilder, SlicedPacket, TransportSlice};
    use proptest::prelude::*;

    const ROUTER: Ipv4Addr = Ipv4Addr::new(10, 1, 0, 1);
    const SENDING: IpHeaderFields = IpHeaderFields {
        source: ROUTER,
        ttl: 64,
        identification: 7,
    };

    /// A frame with a UDP datagram to the first port used by traceroute.
    pub fn udp(from: [u8; 4], to: [u8; 4]) -> Vec<u8> {
        let builder = PacketBuilder::ethernet2([2; 6], [4; 6])
            .ipv4(from, to, 1)
            .udp(40_000, 33_434);
        let mut frame = Vec::new();
        builder.write(&mut frame, &[0x55; 18]).unwrap();
        frame
    }

    fn ping(payload: &[u8]) -> Vec<u8> {
        let builder = PacketBuilder::ethernet2([2; 6], [4; 6])
            .ipv4([192, 0, 2, 9], ROUTER.octets(), 3)
            .icmpv4_echo_request(0x1234, 5);
        let mut frame = Vec::new();
        builder.write(&mut frame, payload).unwrap();
        frame
    }

    /// Reads a packet with an independent parser that checks both checksums: addresses, type, and
    /// the bytes after the message's header.
    fn read(packet: &[u8]) -> ([u8; 4], [u8; 4], Icmpv4Type, Vec<u8>) {
        let sliced = SlicedPacket::from_ip(packet).unwrap();
        let Some(NetSlice::Ipv4(ip)) = sliced.net else {
            panic!("no IPv4")
        };
        let header = ip.header().to_header();
        assert_eq!(header.header_checksum, header.calc_header_checksum());
        assert_eq!(usize::from(header.total_len), packet.len());
        assert_eq!((header.time_to_live, header.identification), (64, 7));
        let Some(TransportSlice::Icmpv4(icmp)) = sliced.transport else {
            panic!("no ICMP")
        };
        let header_of_message = icmp.header();
        let payload = icmp.payload();
        assert_eq!(
            icmp.checksum(),
            header_of_message.icmp_type.calc_checksum(payload),
        );
        let kind = header_of_message.icmp_type;
        (header.source, header.destination, kind, payload.to_vec())
    }

    #[test]
    fn icmp_errors_parse_with_an_independent_parser() {
        let frame = udp([192, 0, 2, 9], [10, 9, 9, 9]);
        let about = Datagram::from_frame(&frame).unwrap();
        let rows = [
            (
                IcmpError::TimeExceeded,
                Icmpv4Type::TimeExceeded(TimeExceededCode::TtlExceededInTransit),
            ),
            (
                IcmpError::NetUnreachable,
                Icmpv4Type::DestinationUnreachable(Unreachable::Network),
            ),
            (
                IcmpError::HostUnreachable,
                Icmpv4Type::DestinationUnreachable(Unreachable::Host),
            ),
            (
                IcmpError::ProtocolUnreachable,
                Icmpv4Type::DestinationUnreachable(Unreachable::Protocol),
            ),
            (
                IcmpError::PortUnreachable,
                Icmpv4Type::DestinationUnreachable(Unreachable::Port),
            ),
            (
                IcmpError::TooBig { mtu: 1400 },
                Icmpv4Type::DestinationUnreachable(Unreachable::FragmentationNeeded {
                    next_hop_mtu: 1400,
                }),
            ),
        ];
        for (trouble, expected) in rows {
            let message = error(trouble, &about, SENDING);
            assert_eq!(message[1] >> 5, 6, "precedence");
            let (source, destination, kind, quote) = read(&message);
            assert_eq!(source, ROUTER.octets());
            assert_eq!(destination, [192, 0, 2, 9]);
            assert_eq!(kind, expected);
            assert_eq!(quote, frame[14..14 + 28], "header and eight bytes");
        }
    }

    #[test]
    fn icmp_quote_includes_options_but_not_padding() {
        let mut frame = udp([192, 0, 2, 9], [10, 9, 9, 9]);
        frame.splice(34..34, [1; 8]);
        frame[14] = 0x47;
        frame[16..18].copy_from_slice(&54_u16.to_be_bytes());
        let about = Datagram::from_frame(&frame).unwrap();
        assert_eq!(quoted(&about), 36);
        let message = error(IcmpError::TimeExceeded, &about, SENDING);
        assert_eq!(message[28..], frame[14..14 + 36]);
        // Four bytes after the header, followed by padding.
        let mut frame = udp([192, 0, 2, 9], [10, 9, 9, 9]);
        frame[16..18].copy_from_slice(&24_u16.to_be_bytes());
        let about = Datagram::from_frame(&frame).unwrap();
        let message = error(IcmpError::TimeExceeded, &about, SENDING);
        assert_eq!(message[28..], frame[14..14 + 24]);
    }

    #[test]
    fn only_valid_echo_requests_are_answered() {
        let good = ping(b"0123456789abcdef");
        let answer = |frame: &[u8]| echo_reply(&Datagram::from_frame(frame)?, 64, 7);
        assert!(answer(&good).is_some());
        let rows: [(&str, usize, u8); 6] = [
            ("a reply", 34, 0),
            ("another code", 35, 1),
            ("a wrong checksum", 45, 0x55),
            ("a first fragment", 20, 0x20),
            ("a later fragment", 21, 1),
            ("another protocol", 23, 17),
        ];
        for (name, at, byte) in rows {
            let mut frame = good.clone();
            frame[at] = byte;
            assert_eq!(answer(&frame), None, "{name}");
        }
        assert_eq!(answer(&good[..good.len() - 1]), None, "not whole");
    }

    proptest! {
        #[test]
        fn echo_reply_returns_the_request_payload(
            payload in prop::collection::vec(any::<u8>(), 0..200),
            padding in 0_usize..20,
        ) {
            let mut frame = ping(&payload);
            frame.resize(frame.len() + padding, 0xee);
            let reply = echo_reply(&Datagram::from_frame(&frame).unwrap(), 64, 7).unwrap();
            let (source, destination, kind, rest) = read(&reply);
            prop_assert_eq!(source, ROUTER.octets());
            prop_assert_eq!(destination, [192, 0, 2, 9]);
            let expected = etherparse::IcmpEchoHeader { id: 0x1234, seq: 5 };
            prop_assert_eq!(kind, Icmpv4Type::EchoReply(expected));
            prop_assert_eq!(rest, payload);
        }
    }
}
