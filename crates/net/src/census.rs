//! What is in a capture, counted frame by frame.

use std::collections::{BTreeMap, BTreeSet};

use etherparse::{EtherType, LaxNetSlice, LaxSlicedPacket, TransportSlice};
use serde::Serialize;

use crate::Frame;
use crate::ethernet::{FCS_BYTES, MIN_FRAME_BYTES};

/// Upper bounds of the size classes, with FCS; one more class is for longer frames. They are those of
/// RFC 2819.
pub const SIZE_CLASSES: [u64; 6] = [64, 127, 255, 511, 1023, 1518];

/// Flows beyond this number are not told apart any more.
pub(crate) const MOST_FLOWS: usize = 1 << 22;

/// Counts over the frames of a capture. Only the number of distinct flows makes it grow.
#[derive(Clone, Debug, Default)]
pub struct Census {
    /// Frames.
    pub frames: u64,
    /// Bytes on the wire without FCS.
    pub bytes: u64,
    /// Shortest frame without FCS, as captured; 0 without frames.
    pub shortest: u64,
    /// Longest frame without FCS.
    pub longest: u64,
    /// Frames by size class.
    pub sizes: [u64; SIZE_CLASSES.len() + 1],
    /// Frames by what they carry: `ipv4 udp`, `arp`, `0x88cc`.
    pub protocols: BTreeMap<String, u64>,
    /// By interface.
    pub ports: Vec<PortCensus>,
    /// Time from the first to the last frame in nanoseconds.
    pub duration_ns: u64,
    /// What a router must look at twice.
    pub oddities: Oddities,
    flows: BTreeSet<u64>,
}

/// What came at one interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PortCensus {
    /// Frames.
    pub frames: u64,
    /// Bytes on the wire without FCS.
    pub bytes: u64,
}

/// Frames that are not the plain case.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Oddities {
    /// IPv4 and IPv6 fragments.
    pub fragments: u64,
    /// IPv4 packets with options.
    pub options: u64,
    /// IPv4 packets with a time to live, or IPv6 packets with a hop limit, of at most 1.
    pub expired: u64,
    /// Wrong IPv4 header checksums.
    pub bad_header_checksums: u64,
    /// Wrong TCP, UDP or ICMP checksums, as far as they can be checked: not of fragments and of
    /// frames that are cut, and not where UDP over IPv4 has none.
    pub bad_payload_checksums: u64,
    /// Frames to an Ethernet broadcast or multicast address.
    pub group_addressed: u64,
    /// Frames with a VLAN tag.
    pub tagged: u64,
    /// Frames of which the capture holds only the beginning.
    pub truncated: u64,
    /// Frames that cannot be taken apart.
    pub unreadable: u64,
}

impl Census {
    /// Counts a frame.
    pub fn add(&mut self, frame: &Frame) {
        let bytes = u64::from(frame.original_len);
        self.shortest = if self.frames == 0 {
            bytes
        } else {
            self.shortest.min(bytes)
        };
        self.longest = self.longest.max(bytes);
        self.frames += 1;
        self.bytes += bytes;
        self.duration_ns = frame.time_ns;
        let size = bytes.max(MIN_FRAME_BYTES) + FCS_BYTES;
        let class = SIZE_CLASSES.iter().position(|&bound| size <= bound);
        self.sizes[class.unwrap_or(SIZE_CLASSES.len())] += 1;
        let port = frame.port as usize;
        if port >= self.ports.len() {
            self.ports.resize(port + 1, PortCensus::default());
        }
        self.ports[port].frames += 1;
        self.ports[port].bytes += bytes;
        self.oddities.truncated += u64::from(frame.is_cut());
        self.oddities.group_addressed += u64::from(frame.bytes.first().is_some_and(|b| b & 1 == 1));
        let protocol = self.look_into(frame);
        *self.protocols.entry(protocol).or_default() += 1;
    }

    /// How many flows there are: 5-tuples, or addresses and protocol where there are no ports. Fragments
    /// but the first count by their addresses.
    #[must_use]
    pub fn flows(&self) -> u64 {
        self.flows.len() as u64
    }

    /// Whether there are more flows than were told apart.
    #[must_use]
    pub fn has_more_flows(&self) -> bool {
        self.flows.len() >= MOST_FLOWS
    }

    /// Names what the frame carries.
    fn look_into(&mut self, frame: &Frame) -> String {
        let Ok(packet) = LaxSlicedPacket::from_ethernet(&frame.bytes) else {
            self.oddities.unreadable += 1;
            return "unreadable".into();
        };
        self.oddities.tagged += u64::from(!packet.link_exts.is_empty());
        let odd = &mut self.oddities;
        let (version, number) = match &packet.net {
            Some(LaxNetSlice::Ipv4(ip)) => {
                let header = ip.header().to_header();
                odd.fragments += u64::from(ip.header().is_fragmenting_payload());
                odd.options += u64::from(!header.options.is_empty());
                odd.expired += u64::from(header.time_to_live <= 1);
                let right = header.header_checksum == header.calc_header_checksum();
                odd.bad_header_checksums += u64::from(!right);
                let whole = !frame.is_cut() && !ip.payload().fragmented;
                let right = IpAddresses::V4(header.source, header.destination);
                odd.bad_payload_checksums += u64::from(whole && right.are_belied_by(&packet));
                ("ipv4", ip.payload().ip_number)
            }
            Some(LaxNetSlice::Ipv6(ip)) => {
                odd.fragments += u64::from(ip.payload().fragmented);
                odd.expired += u64::from(ip.header().hop_limit() <= 1);
                let whole = !frame.is_cut() && !ip.payload().fragmented;
                let header = ip.header().to_header();
                let right = IpAddresses::V6(header.source, header.destination);
                odd.bad_payload_checksums += u64::from(whole && right.are_belied_by(&packet));
                ("ipv6", ip.payload().ip_number)
            }
            Some(LaxNetSlice::Arp(_)) => return "arp".into(),
            None => {
                odd.unreadable += u64::from(packet.stop_err.is_some());
                return link_protocol(&frame.bytes);
            }
        };
        odd.unreadable += u64::from(packet.stop_err.is_some() && !frame.is_cut());
        if self.flows.len() < MOST_FLOWS {
            self.flows.insert(crate::pace::flow_hash(&frame.bytes));
        }
        match number.keyword_str() {
            Some(name) => format!("{version} {}", name.to_ascii_lowercase()),
            None => format!("{version} protocol {}", number.0),
        }
    }
}

/// The addresses of a packet, which are in the checksums of what it carries.
enum IpAddresses {
    V4([u8; 4], [u8; 4]),
    V6([u8; 16], [u8; 16]),
}

impl IpAddresses {
    /// Whether the checksum of what the packet carries is there and wrong.
    fn are_belied_by(&self, packet: &LaxSlicedPacket<'_>) -> bool {
        let (right, there) = match (&packet.transport, self) {
            (Some(TransportSlice::Udp(udp)), Self::V4(from, to)) => {
                // No checksum was made.
                if udp.checksum() == 0 {
                    return false;
                }
                let header = udp.to_header();
                (
                    header
                        .calc_checksum_ipv4_raw(*from, *to, udp.payload())
                        .ok(),
                    udp.checksum(),
                )
            }
            // Here there has to be one (RFC 8200, section 8.1).
            (Some(TransportSlice::Udp(udp)), Self::V6(from, to)) => {
                let header = udp.to_header();
                (
                    header
                        .calc_checksum_ipv6_raw(*from, *to, udp.payload())
                        .ok(),
                    udp.checksum(),
                )
            }
            (Some(TransportSlice::Tcp(tcp)), Self::V4(from, to)) => {
                (tcp.calc_checksum_ipv4(*from, *to).ok(), tcp.checksum())
            }
            (Some(TransportSlice::Tcp(tcp)), Self::V6(from, to)) => {
                (tcp.calc_checksum_ipv6(*from, *to).ok(), tcp.checksum())
            }
            (Some(TransportSlice::Icmpv4(icmp)), _) => {
                let right = icmp.icmp_type().calc_checksum(icmp.payload());
                (Some(right), icmp.checksum())
            }
            (Some(TransportSlice::Icmpv6(icmp)), Self::V6(from, to)) => {
                let right = icmp.icmp_type().calc_checksum(*from, *to, icmp.payload());
                (right.ok(), icmp.checksum())
            }
            _ => return false,
        };
        right.is_some_and(|right| right != there)
    }
}

/// What a frame without IP or ARP carries.
fn link_protocol(frame: &[u8]) -> String {
    match frame.get(12..14) {
        Some(&[high, low]) => {
            let field = u16::from_be_bytes([high, low]);
            match EtherType(field) {
                EtherType::IPV4 => "ipv4, unreadable".into(),
                EtherType::IPV6 => "ipv6, unreadable".into(),
                _ if field <= 1500 => "802.3 length".into(),
                _ => format!("{field:#06x}"),
            }
        }
        _ => "no type".into(),
    }
}

#[cfg(test)]
mod tests {
    use etherparse::PacketBuilder;

    use super::{Census, Frame};

    #[test]
    fn checksums_over_ipv6_are_looked_at() {
        let ip = || PacketBuilder::ethernet2([1; 6], [2; 6]).ipv6([3; 16], [4; 16], 64);
        let mut frames = vec![Vec::new(), Vec::new(), Vec::new()];
        let [udp, tcp, icmp] = frames.as_mut_slice() else {
            panic!("three frames");
        };
        ip().udp(1, 2).write(udp, b"some data").unwrap();
        ip().tcp(1, 2, 3, 4).write(tcp, b"some data").unwrap();
        ip().icmpv6_echo_request(1, 2)
            .write(icmp, b"some data")
            .unwrap();
        let wrong = |frames: &[Vec<u8>]| {
            let mut census = Census::default();
            for bytes in frames {
                census.add(&Frame {
                    time_ns: 0,
                    port: 0,
                    original_len: bytes.len() as u32,
                    bytes: bytes.clone(),
                });
            }
            census.oddities.bad_payload_checksums
        };
        assert_eq!(wrong(&frames), 0);
        for frame in &mut frames {
            *frame.last_mut().unwrap() ^= 1;
        }
        assert_eq!(wrong(&frames), 3);
        // UDP over IPv6 without a checksum is not right either.
        frames.truncate(1);
        frames[0][60..62].fill(0);
        assert_eq!(wrong(&frames), 1);
    }
}
