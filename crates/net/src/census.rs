//! Counts over the frames of a capture.

use std::collections::{BTreeMap, BTreeSet};

use etherparse::{EtherType, LaxNetSlice, LaxSlicedPacket};
use serde::Serialize;

use crate::Frame;
use crate::ethernet::{FCS_BYTES, MIN_FRAME_BYTES};
use crate::transport_checksum::transport_checksum;

/// Upper bounds of the size classes, with FCS, as in RFC 2819; one more class holds longer frames.
pub const SIZE_CLASSES: [u64; 6] = [64, 127, 255, 511, 1023, 1518];

/// Largest number of distinct flows that is counted.
pub(crate) const MAX_COUNTED_FLOWS: usize = 1 << 22;

/// Counts over the frames of a capture. Its memory grows only with the number of distinct flows.
#[derive(Clone, Debug, Default)]
pub struct Census {
    /// Frames.
    pub frames: u64,
    /// Bytes on the wire without FCS.
    pub bytes: u64,
    /// Shortest frame on the wire without FCS, not padded; 0 without frames.
    pub shortest: u64,
    /// Longest frame without FCS.
    pub longest: u64,
    /// Frames by size class.
    pub sizes: [u64; SIZE_CLASSES.len() + 1],
    /// Frames by protocol: `ipv4 udp`, `arp`, `0x88cc`.
    pub protocols: BTreeMap<String, u64>,
    /// Counts by interface.
    pub ports: Vec<PortCensus>,
    /// Time from the first to the last frame, in nanoseconds.
    pub duration_ns: u64,
    /// Frames that need special treatment in a router.
    pub oddities: Oddities,
    flows: BTreeSet<u64>,
}

/// Traffic seen at one interface.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct PortCensus {
    /// Frames.
    pub frames: u64,
    /// Bytes on the wire without FCS.
    pub bytes: u64,
}

/// Frames that need special treatment.
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
    /// Wrong TCP, UDP or ICMP checksums over IPv4 and IPv6. Not checked in fragments and truncated frames,
    /// in UDP over IPv4 without a checksum, and behind an IPv6 routing header.
    pub bad_payload_checksums: u64,
    /// Frames to an Ethernet broadcast or multicast address.
    pub group_addressed: u64,
    /// Frames with a VLAN tag.
    pub tagged: u64,
    /// Frames of which the capture holds only the beginning.
    pub truncated: u64,
    /// Frames that cannot be parsed.
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
        self.oddities.truncated += u64::from(frame.is_truncated());
        self.oddities.group_addressed += u64::from(frame.bytes.first().is_some_and(|b| b & 1 == 1));
        let protocol = self.inspect(frame);
        *self.protocols.entry(protocol).or_default() += 1;
    }

    /// Returns the number of flows: 5-tuples, or addresses and protocol where there are no ports.
    /// Fragments, including first ones, count by their addresses.
    #[must_use]
    pub fn flows(&self) -> u64 {
        self.flows.len() as u64
    }

    /// Whether there may be more flows than were counted.
    #[must_use]
    pub fn flow_limit_reached(&self) -> bool {
        self.flows.len() >= MAX_COUNTED_FLOWS
    }

    /// Counts the peculiarities of a frame and returns the name of its protocol.
    fn inspect(&mut self, frame: &Frame) -> String {
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
                ("ipv4", ip.payload().ip_number)
            }
            Some(LaxNetSlice::Ipv6(ip)) => {
                odd.fragments += u64::from(ip.payload().fragmented);
                odd.expired += u64::from(ip.header().hop_limit() <= 1);
                ("ipv6", ip.payload().ip_number)
            }
            Some(LaxNetSlice::Arp(_)) => return "arp".into(),
            None => {
                odd.unreadable += u64::from(packet.stop_err.is_some());
                return link_protocol(&frame.bytes);
            }
        };
        odd.unreadable += u64::from(packet.stop_err.is_some() && !frame.is_truncated());
        if !frame.is_truncated() {
            let sum = transport_checksum(&frame.bytes, &packet);
            odd.bad_payload_checksums += u64::from(sum.is_some_and(|it| it.stated != it.right));
        }
        if self.flows.len() < MAX_COUNTED_FLOWS {
            self.flows.insert(crate::pace::flow_hash(&frame.bytes));
        }
        match number.keyword_str() {
            Some(name) => format!("{version} {}", name.to_ascii_lowercase()),
            None => format!("{version} protocol {}", number.0),
        }
    }
}

/// Returns the protocol of a frame without IP or ARP.
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
