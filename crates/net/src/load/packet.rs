//! The bytes of a load's frames.

use std::net::Ipv4Addr;

use super::kind::FrameKind;
use super::stamp::{BYTES as STAMP, EXPERIMENT, MARK, Stamp};
use super::{Load, Prefix};
use crate::ethernet::MIN_FRAME_BYTES;
use crate::random::mixed;

const ETHERNET: usize = 14;
const UDP: u8 = 17;
const TCP: u8 = 6;
const ICMP: u8 = 1;
/// Fragment offset in units of 8 bytes: the rest of a longer datagram behind a link with an MTU of 1500
/// bytes.
const FRAGMENT_OFFSET: u16 = 185;

/// Bytes of a plain datagram's frame that ends with the stamp.
const PLAIN: usize = ETHERNET + 20 + 8 + STAMP;

/// Returns the bytes without FCS of a frame of `kind` for which `bytes` without FCS are requested: the same,
/// unless headers and stamp need more. ARP frames have a fixed size.
pub(super) fn length_of(kind: FrameKind, bytes: u32, option: usize) -> usize {
    let least = match kind {
        FrameKind::Arp => return MIN_FRAME_BYTES as usize,
        FrameKind::Tcp => ETHERNET + 20 + 20 + STAMP,
        FrameKind::Ipv6 => ETHERNET + 40 + 8 + STAMP,
        FrameKind::Options => ETHERNET + 20 + option.next_multiple_of(4) + STAMP,
        _ => MIN_FRAME_BYTES as usize,
    };
    least.max(bytes as usize)
}

/// Template for the frames of one port.
#[derive(Clone, Debug)]
pub(super) struct Template {
    port: u8,
    mac: [u8; 6],
    sources: Prefix,
    destinations: Vec<Prefix>,
    /// Padded to whole longwords.
    option: Vec<u8>,
    ttl: u8,
    seed: u64,
}

/// The endpoints of a flow.
struct AddressPair {
    source: [u8; 4],
    destination: [u8; 4],
    source_port: u16,
    destination_port: u16,
}

impl Template {
    pub(super) fn new(load: &Load, destinations: &[Prefix], port: u8, mac: [u8; 6]) -> Self {
        let mut option = load.special.option.bytes().to_vec();
        option.resize(option.len().next_multiple_of(4), 0);
        Self {
            port,
            mac,
            sources: load.sources,
            destinations: destinations.to_vec(),
            option,
            ttl: load.ttl,
            seed: load.seed,
        }
    }

    /// Returns the endpoints of a flow. The flows of a port use the destinations in turn, and each port
    /// begins with another destination, so that ports in phase send to different places. A flow that
    /// replaces another one keeps the destination prefix, so that the traffic leaving each port stays the
    /// same.
    fn ends(&self, flow: u32, turn: u64) -> AddressPair {
        let count = self.destinations.len() as u64;
        let prefix = self.destinations[((turn + u64::from(self.port)) % count) as usize];
        AddressPair {
            source: self.sources.host(u64::from(flow)).octets(),
            destination: prefix
                .host(mixed(self.seed ^ u64::from(flow)) >> 1)
                .octets(),
            source_port: 1024 + (flow % 60_000) as u16,
            destination_port: 5_001u16.wrapping_add((flow / 60_000) as u16),
        }
    }

    /// Returns a frame of this kind, `length` bytes long without FCS; `turn` is the flow's place among those
    /// of its port.
    pub(super) fn frame(&self, stamp: Stamp, turn: u64, length: usize) -> Vec<u8> {
        let ends = self.ends(stamp.flow, turn);
        match stamp.kind {
            FrameKind::Plain if length >= PLAIN => self.build_plain(&ends, stamp, length),
            _ => self.build_by_fields(&ends, stamp, length),
        }
    }

    /// Builds a frame of any kind, field by field.
    fn build_by_fields(&self, ends: &AddressPair, stamp: Stamp, length: usize) -> Vec<u8> {
        let mut frame = vec![0; length];
        frame[..6].copy_from_slice(&self.mac);
        frame[6..12].copy_from_slice(&[0x06, 0x6e, 0x70, 0, 0, self.port]);
        frame[12..14].copy_from_slice(&[0x08, 0x00]);
        match stamp.kind {
            FrameKind::Arp => Self::arp(ends, &mut frame),
            FrameKind::Ipv6 => self.ipv6(ends, stamp, &mut frame),
            _ => self.ipv4(ends, stamp, &mut frame),
        }
        frame
    }

    /// Builds the frame of a plain datagram. Nearly all frames are plain, so this one is assembled from
    /// registers instead of field by field in memory. It is zero after the stamp.
    fn build_plain(&self, ends: &AddressPair, stamp: Stamp, length: usize) -> Vec<u8> {
        let source = u32::from_be_bytes(ends.source);
        let destination = u32::from_be_bytes(ends.destination);
        let total = (length - ETHERNET) as u16;
        let datagram = total - 20;
        let hops = u16::from(self.ttl) << 8 | u16::from(UDP);
        let identification = stamp.sequence as u16;
        let addresses = halves(source) + halves(destination);
        let header = 0x4500 + halves(joined(total, identification)) + u32::from(hops);
        let header_sum = !folded(header + addresses);

        let mark = u16::from_be_bytes(MARK);
        let who = u16::from(stamp.kind as u8) << 8 | u16::from(stamp.port);
        let ports = joined(ends.source_port, ends.destination_port);
        let sequence = halves((stamp.sequence >> 32) as u32) + halves(stamp.sequence as u32);
        let who_sum = halves(joined(mark, who)) + halves(stamp.flow) + sequence;
        // The length counts twice: once in the UDP header and once in the pseudo header.
        let pseudo = addresses + u32::from(UDP) + u32::from(datagram);
        let carried = halves(ports) + u32::from(datagram) + who_sum;
        let datagram_sum = match !folded(pseudo + carried) {
            // 0 would mean that there is no checksum.
            0 => 0xffff,
            checksum => checksum,
        };

        let [a, b, c, d, e, f] = self.mac;
        let pair = |high: u32, low: u32| u64::from(high) << 32 | u64::from(low);
        let longwords = [
            u64::from_be_bytes([a, b, c, d, e, f, 0x06, 0x6e]),
            pair(0x7000_0000 | u32::from(self.port), 0x0800_4500),
            pair(joined(total, identification), u32::from(hops)),
            u64::from(header_sum) << 48 | u64::from(source) << 16 | u64::from(destination) >> 16,
            u64::from(destination) << 48 | u64::from(ports) << 16 | u64::from(datagram),
            pair(
                joined(datagram_sum, mark),
                joined(who, (stamp.flow >> 16) as u16),
            ),
            u64::from(stamp.flow) << 48 | stamp.sequence >> 16,
            stamp.sequence << 48,
        ];
        let block: Box<[[u8; 8]; 8]> = Box::new(longwords.map(u64::to_be_bytes));
        let mut frame = (block as Box<[_]>).into_vec().into_flattened();
        // The payload is zero after the stamp, and the shortest frames end within the block.
        if length < frame.len() {
            frame.truncate(length);
        } else {
            frame.resize(length, 0);
        }
        frame
    }

    fn arp(ends: &AddressPair, frame: &mut [u8]) {
        frame[..6].fill(0xff);
        frame[12..14].copy_from_slice(&[0x08, 0x06]);
        // Ethernet, IPv4, address lengths 6 and 4, request.
        frame[14..22].copy_from_slice(&[0, 1, 8, 0, 6, 4, 0, 1]);
        frame.copy_within(6..12, 22);
        frame[28..32].copy_from_slice(&ends.source);
        frame[38..42].copy_from_slice(&ends.destination);
    }

    fn ipv6(&self, ends: &AddressPair, stamp: Stamp, frame: &mut [u8]) {
        frame[12..14].copy_from_slice(&[0x86, 0xdd]);
        let packet = &mut frame[ETHERNET..];
        let payload = packet.len() - 40;
        packet[0] = 0x60;
        packet[4..6].copy_from_slice(&(payload as u16).to_be_bytes());
        packet[6] = UDP;
        packet[7] = self.ttl;
        // The documentation prefix, with the endpoint's IPv4 address in the lowest bits.
        for (at, end) in [(8, ends.source), (24, ends.destination)] {
            packet[at..at + 4].copy_from_slice(&[0x20, 0x01, 0x0d, 0xb8]);
            packet[at + 12..at + 16].copy_from_slice(&end);
        }
        let pseudo = sum(&packet[8..40]) + u32::from(UDP) + payload as u32;
        udp(&mut packet[40..], ends, stamp, pseudo);
    }

    fn ipv4(&self, ends: &AddressPair, stamp: Stamp, frame: &mut [u8]) {
        let kind = stamp.kind;
        let mut destination = ends.destination;
        match kind {
            FrameKind::Broadcast => frame[..6].fill(0xff),
            FrameKind::Stranger => frame[..6].copy_from_slice(&[0x06, 0x6e, 0x70, 1, 0, self.port]),
            FrameKind::Multicast => {
                destination =
                    Ipv4Addr::new(239, 1, ends.destination[2], ends.destination[3]).octets();
                // RFC 1112: the low 23 bits of the group.
                let [_, b, c, d] = destination;
                frame[..6].copy_from_slice(&[0x01, 0x00, 0x5e, b & 0x7f, c, d]);
            }
            _ => {}
        }
        let packet = &mut frame[ETHERNET..];
        let option = if kind == FrameKind::Options {
            self.option.as_slice()
        } else {
            &[]
        };
        let header = 20 + option.len();
        let total = packet.len();
        packet[0] = 0x40 | (header / 4) as u8;
        packet[2..4].copy_from_slice(&(total as u16).to_be_bytes());
        packet[4..6].copy_from_slice(&(stamp.sequence as u16).to_be_bytes());
        if kind == FrameKind::Fragment {
            packet[6..8].copy_from_slice(&FRAGMENT_OFFSET.to_be_bytes());
        }
        packet[8] = if kind == FrameKind::Ttl { 1 } else { self.ttl };
        packet[9] = match kind {
            FrameKind::Tcp => TCP,
            FrameKind::Icmp => ICMP,
            // Without a transport header, the option fits into the smallest frame.
            FrameKind::Options => EXPERIMENT,
            _ => UDP,
        };
        packet[12..16].copy_from_slice(&ends.source);
        packet[16..20].copy_from_slice(&destination);
        packet[20..header].copy_from_slice(option);
        let checksum = !folded(sum(&packet[..header]));
        let wrong = if kind == FrameKind::Checksum {
            0x5555
        } else {
            0
        };
        packet[10..12].copy_from_slice(&(checksum ^ wrong).to_be_bytes());

        let pseudo = sum(&packet[12..20]) + u32::from(packet[9]) + (total - header) as u32;
        let payload = &mut packet[header..];
        match kind {
            FrameKind::Fragment | FrameKind::Options => {
                payload[..STAMP].copy_from_slice(&stamp.to_bytes());
            }
            FrameKind::Tcp => tcp(payload, ends, stamp, pseudo),
            FrameKind::Icmp => icmp(payload, stamp),
            _ => udp(payload, ends, stamp, pseudo),
        }
    }
}

/// Builds a UDP datagram. Everything after the stamp is zero, so only the bytes up to its end enter the
/// checksum.
fn udp(datagram: &mut [u8], ends: &AddressPair, stamp: Stamp, pseudo: u32) {
    let length = datagram.len() as u16;
    datagram[..2].copy_from_slice(&ends.source_port.to_be_bytes());
    datagram[2..4].copy_from_slice(&ends.destination_port.to_be_bytes());
    datagram[4..6].copy_from_slice(&length.to_be_bytes());
    datagram[8..8 + STAMP].copy_from_slice(&stamp.to_bytes());
    let checksum = match !folded(pseudo + sum(&datagram[..8 + STAMP])) {
        // 0 would mean that there is no checksum.
        0 => 0xffff,
        checksum => checksum,
    };
    datagram[6..8].copy_from_slice(&checksum.to_be_bytes());
}

fn tcp(segment: &mut [u8], ends: &AddressPair, stamp: Stamp, pseudo: u32) {
    let length = (segment.len() - 20) as u64;
    let sequence = (stamp.sequence.wrapping_mul(length)) as u32;
    segment[..2].copy_from_slice(&ends.source_port.to_be_bytes());
    segment[2..4].copy_from_slice(&ends.destination_port.to_be_bytes());
    segment[4..8].copy_from_slice(&sequence.to_be_bytes());
    segment[8..12].copy_from_slice(&1u32.to_be_bytes());
    // 5 longwords of header, ACK flag, the largest window without scaling.
    segment[12..16].copy_from_slice(&[0x50, 0x10, 0xff, 0xff]);
    segment[20..20 + STAMP].copy_from_slice(&stamp.to_bytes());
    let checksum = !folded(pseudo + sum(&segment[..20 + STAMP]));
    segment[16..18].copy_from_slice(&checksum.to_be_bytes());
}

fn icmp(message: &mut [u8], stamp: Stamp) {
    message[0] = 8;
    message[4..6].copy_from_slice(&(stamp.flow as u16).to_be_bytes());
    message[6..8].copy_from_slice(&(stamp.sequence as u16).to_be_bytes());
    message[8..8 + STAMP].copy_from_slice(&stamp.to_bytes());
    let checksum = !folded(sum(&message[..8 + STAMP]));
    message[2..4].copy_from_slice(&checksum.to_be_bytes());
}

/// Sums the 16-bit words; at most 32768 of them fit.
fn sum(bytes: &[u8]) -> u32 {
    let pairs = bytes.chunks(2);
    pairs
        .map(|pair| u32::from(pair[0]) << 8 | u32::from(pair.get(1).copied().unwrap_or(0)))
        .sum()
}

/// Folds a sum to the ones' complement sum of RFC 1071.
fn folded(sum: u32) -> u16 {
    let once = (sum >> 16) + (sum & 0xffff);
    ((once >> 16) + (once & 0xffff)) as u16
}

/// Returns the sum of the two halves of a longword.
const fn halves(word: u32) -> u32 {
    (word >> 16) + (word & 0xffff)
}

/// Joins two 16-bit words to a longword.
const fn joined(high: u16, low: u16) -> u32 {
    (high as u32) << 16 | low as u32
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fast_and_general_paths_build_identical_plain_frames() {
        let template = Template {
            port: 3,
            mac: [0x06, 0x6e, 0x70, 1, 2, 0xa3],
            sources: Prefix::new(Ipv4Addr::new(10, 1, 0, 0), 16),
            destinations: vec![Prefix::new(Ipv4Addr::new(192, 168, 128, 0), 17)],
            option: Vec::new(),
            ttl: 61,
            seed: 7,
        };
        for flow in (0..3_000u32).map(|at| at.wrapping_mul(0x0123_4567)) {
            let stamp = Stamp {
                kind: FrameKind::Plain,
                port: 3,
                flow,
                sequence: u64::from(flow).wrapping_mul(0x0fed_cba9_8765_4321),
            };
            let length = 58 + flow as usize % 1400;
            let ends = template.ends(flow, 0);
            assert_eq!(
                template.frame(stamp, 0, length),
                template.build_by_fields(&ends, stamp, length)
            );
        }
    }
}
