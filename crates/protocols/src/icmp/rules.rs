//! Packets about which a router must not send error messages: RFC 1812, 4.3.2.7.

use std::net::Ipv4Addr;

use serde::{Deserialize, Serialize};

use super::datagram::{Datagram, ICMP};
use super::message::ERRORS;

/// An address of the router and the network that it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouterInterface {
    /// The address.
    pub address: Ipv4Addr,
    /// Prefix length of the network; with 31 and 32 there is no broadcast address.
    pub length: u8,
}

impl RouterInterface {
    /// Whether an address is a broadcast in the network: all host bits are ones or, as in an
    /// old convention, zeros.
    #[must_use]
    pub fn is_broadcast(&self, address: Ipv4Addr) -> bool {
        if self.length >= 31 {
            return false;
        }
        let host = u32::MAX >> self.length;
        let (own, address) = (self.address.to_bits(), address.to_bits());
        (own ^ address) & !host == 0 && (address & host == host || address & host == 0)
    }
}

/// The reason why no error message may be sent about a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SuppressReason {
    /// It arrived as a link-layer broadcast or multicast.
    LinkGroup,
    /// It is for an IP broadcast or multicast address.
    Group,
    /// Its source is not a single host.
    Source,
    /// It is a fragment other than the first.
    Fragment,
    /// It is an ICMP error message, or could be one.
    Error,
}

/// Returns why no error message may be sent about a packet; `None` if one may. `networks` are
/// those of the router's ports.
#[must_use]
pub fn suppress_reason(
    packet: &Datagram<'_>,
    networks: &[RouterInterface],
) -> Option<SuppressReason> {
    if packet.is_group_addressed() {
        Some(SuppressReason::LinkGroup)
    } else if is_group(packet.destination(), networks) {
        Some(SuppressReason::Group)
    } else if !is_host(packet.source(), networks) {
        Some(SuppressReason::Source)
    } else if packet.is_later_fragment() {
        Some(SuppressReason::Fragment)
    } else if packet.protocol() == ICMP && could_be_error(packet) {
        Some(SuppressReason::Error)
    } else {
        None
    }
}

/// Whether an address is a broadcast or multicast address.
fn is_group(address: Ipv4Addr, networks: &[RouterInterface]) -> bool {
    address.is_broadcast()
        || address.is_multicast()
        || networks.iter().any(|network| network.is_broadcast(address))
}

/// Whether an address may belong to a single host: not in network 0, no loopback, no
/// multicast, not class E, no broadcast.
#[must_use]
pub fn is_host(address: Ipv4Addr, networks: &[RouterInterface]) -> bool {
    npsim_project::resolve::is_host(address) && !is_group(address, networks)
}

/// Whether a message may be an error: if its type is unknown, it may.
fn could_be_error(packet: &Datagram<'_>) -> bool {
    packet
        .payload()
        .first()
        .is_none_or(|kind| ERRORS.contains(kind))
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::icmp::message::tests::udp;
    use proptest::prelude::*;

    const NETWORK: RouterInterface = RouterInterface {
        address: Ipv4Addr::new(10, 1, 0, 1),
        length: 24,
    };

    fn silence_of(frame: &[u8]) -> Option<SuppressReason> {
        suppress_reason(&Datagram::from_frame(frame).unwrap(), &[NETWORK])
    }

    /// A datagram with some of its bytes changed, given as frame offsets and new bytes.
    fn changed(bytes: &[(usize, &[u8])]) -> Vec<u8> {
        let mut frame = udp([10, 1, 0, 9], [192, 0, 2, 1]);
        for (at, new) in bytes {
            frame[*at..*at + new.len()].copy_from_slice(new);
        }
        frame
    }

    #[test]
    fn each_rule_of_rfc_1812_4_3_2_7() {
        const SOURCE: usize = 26;
        const DESTINATION: usize = 30;
        const FRAGMENT: usize = 20;
        const PROTOCOL: usize = 23;
        const TYPE: usize = 34;
        type Row<'a> = (&'a str, &'a [(usize, &'a [u8])], Option<SuppressReason>);
        let rows: [Row<'_>; 27] = [
            ("a datagram", &[], None),
            (
                "link broadcast",
                &[(0, &[0xff; 6])],
                Some(SuppressReason::LinkGroup),
            ),
            (
                "link multicast",
                &[(0, &[1, 0, 0x5e])],
                Some(SuppressReason::LinkGroup),
            ),
            (
                "limited broadcast",
                &[(DESTINATION, &[255; 4])],
                Some(SuppressReason::Group),
            ),
            (
                "multicast",
                &[(DESTINATION, &[239, 1, 2, 3])],
                Some(SuppressReason::Group),
            ),
            (
                "broadcast of a network",
                &[(DESTINATION, &[10, 1, 0, 255])],
                Some(SuppressReason::Group),
            ),
            (
                "old broadcast",
                &[(DESTINATION, &[10, 1, 0, 0])],
                Some(SuppressReason::Group),
            ),
            (
                "not of this network",
                &[(DESTINATION, &[10, 1, 1, 255])],
                None,
            ),
            (
                "source 0.0.0.0",
                &[(SOURCE, &[0; 4])],
                Some(SuppressReason::Source),
            ),
            (
                "source of network 0",
                &[(SOURCE, &[0, 1, 2, 3])],
                Some(SuppressReason::Source),
            ),
            (
                "source loopback",
                &[(SOURCE, &[127, 0, 0, 1])],
                Some(SuppressReason::Source),
            ),
            (
                "source class D",
                &[(SOURCE, &[224, 0, 0, 1])],
                Some(SuppressReason::Source),
            ),
            (
                "source class E",
                &[(SOURCE, &[240, 0, 0, 1])],
                Some(SuppressReason::Source),
            ),
            (
                "source broadcast",
                &[(SOURCE, &[255; 4])],
                Some(SuppressReason::Source),
            ),
            (
                "source broadcast of a network",
                &[(SOURCE, &[10, 1, 0, 255])],
                Some(SuppressReason::Source),
            ),
            ("first fragment", &[(FRAGMENT, &[0x20, 0])], None),
            (
                "second fragment",
                &[(FRAGMENT, &[0x20, 1])],
                Some(SuppressReason::Fragment),
            ),
            (
                "last fragment",
                &[(FRAGMENT, &[0, 185])],
                Some(SuppressReason::Fragment),
            ),
            ("echo request", &[(PROTOCOL, &[1]), (TYPE, &[8])], None),
            ("echo reply", &[(PROTOCOL, &[1]), (TYPE, &[0])], None),
            ("timestamp", &[(PROTOCOL, &[1]), (TYPE, &[13])], None),
            (
                "unreachable",
                &[(PROTOCOL, &[1]), (TYPE, &[3])],
                Some(SuppressReason::Error),
            ),
            (
                "source quench",
                &[(PROTOCOL, &[1]), (TYPE, &[4])],
                Some(SuppressReason::Error),
            ),
            (
                "redirect",
                &[(PROTOCOL, &[1]), (TYPE, &[5])],
                Some(SuppressReason::Error),
            ),
            (
                "time exceeded",
                &[(PROTOCOL, &[1]), (TYPE, &[11])],
                Some(SuppressReason::Error),
            ),
            (
                "parameter problem",
                &[(PROTOCOL, &[1]), (TYPE, &[12])],
                Some(SuppressReason::Error),
            ),
            (
                "without a type",
                &[(PROTOCOL, &[1]), (17, &[20])],
                Some(SuppressReason::Error),
            ),
        ];
        for (name, bytes, expected) in rows {
            assert_eq!(silence_of(&changed(bytes)), expected, "{name}");
        }
    }

    #[test]
    fn point_to_point_prefixes_have_no_broadcast() {
        for length in [31, 32] {
            let network = RouterInterface { length, ..NETWORK };
            assert!(!network.is_broadcast(Ipv4Addr::new(10, 1, 0, 0)));
            assert!(!network.is_broadcast(Ipv4Addr::new(10, 1, 0, 1)));
        }
    }

    proptest! {
        /// An independent formulation of the rules, over packets of all kinds.
        #[test]
        fn icmp_suppression_rules_hold_for_all_packets(
            link: u8,
            source: [u8; 4],
            destination: [u8; 4],
            near: bool,
            fragment in prop_oneof![Just(0_u16), any::<u16>()],
            protocol in prop_oneof![Just(1_u8), Just(17), any::<u8>()],
            kind in 0_u8..20,
        ) {
            let mut frame = udp(source, if near { [10, 1, 0, destination[3]] } else { destination });
            frame[0] = link;
            frame[20..22].copy_from_slice(&fragment.to_be_bytes());
            frame[23] = protocol;
            frame[34] = kind;
            let to = u32::from_be_bytes([frame[30], frame[31], frame[32], frame[33]]);
            let from = u32::from_be_bytes(source);
            let directed = |a: u32| a == 0x0a01_0000 || a == 0x0a01_00ff;
            let forbidden = link % 2 == 1
                || to >> 28 == 0xe || to == u32::MAX || directed(to)
                || from >> 24 == 0 || from >> 24 == 127 || from >= 0xe000_0000 || directed(from)
                || fragment & 0x1fff > 0
                || protocol == 1 && [3, 4, 5, 11, 12].contains(&kind);
            prop_assert_eq!(silence_of(&frame).is_some(), forbidden);
        }
    }
}
