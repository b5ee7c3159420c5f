//! Work that a host leaves to its network card: completing a checksum, inserting a VLAN tag, and
//! cutting long segments.
//!
//! Frames from an existing interface, such as an end of a veth pair, were never on a wire. If the
//! sender's interface offers checksum offload, the checksum field of TCP, UDP or another protocol
//! contains only the sum of the pseudo-header, and the kernel reports where the rest begins and where
//! the field is. If it offers tag insertion, the tag is passed beside the frame. If it offers
//! segmentation offload, or if the kernel has merged frames that it received, many frames arrive as one
//! with a single header. This module does all of this as the card would have done it.

use npsim_protocols::checksum::{fold, of_ipv4, sum};

/// The size of the addresses of an Ethernet frame, after which a tag is inserted, in bytes.
const ADDRESSES: usize = 12;
const IPV4: [u8; 2] = [0x08, 0x00];
const IPV6: [u8; 2] = [0x86, 0xdd];
/// The Ethernet types of tags.
const TAGS: [[u8; 2]; 2] = [[0x81, 0x00], [0x88, 0xa8]];
/// The size of an IPv6 header, which its length field does not include, in bytes.
const IPV6_HEADER: usize = 40;
/// The size of a UDP header, in bytes.
const UDP_HEADER: usize = 8;

/// A checksum that is still to be completed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartialChecksum {
    /// The offset in the frame from which bytes are summed.
    pub start: usize,
    /// The offset of the checksum field from `start`.
    pub offset: usize,
}

impl PartialChecksum {
    /// Completes the checksum of a frame; does nothing if it lies outside the frame.
    pub fn complete(self, frame: &mut [u8]) {
        let Some(summed) = frame.get_mut(self.start..) else {
            return;
        };
        // The field, which is part of the sum, holds the sum of the pseudo-header. For UDP, a checksum
        // of 0 means that there is none; 0xffff is the equivalent number, for TCP as well.
        let checksum = match !sum(summed) {
            0 => u16::MAX,
            checksum => checksum,
        };
        let end = self.offset.saturating_add(2);
        if let Some(field) = summed.get_mut(self.offset..end) {
            field.copy_from_slice(&checksum.to_be_bytes());
        }
    }
}

/// A VLAN tag.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VlanTag {
    /// The Ethernet type of the tag, such as 0x8100.
    pub protocol: u16,
    /// The priority and the VLAN number.
    pub control: u16,
}

impl VlanTag {
    /// The size of a tag, in bytes.
    pub const BYTES: usize = 4;

    /// Inserts the tag into the frame of `length` bytes in a buffer, if both are large enough. Returns
    /// the resulting length.
    pub fn insert(self, buffer: &mut [u8], length: usize) -> usize {
        let with = length + Self::BYTES;
        if length < ADDRESSES || with > buffer.len() {
            return length;
        }
        buffer.copy_within(ADDRESSES..length, ADDRESSES + Self::BYTES);
        let [protocol, control] = [self.protocol, self.control].map(u16::to_be_bytes);
        buffer[ADDRESSES..ADDRESSES + 2].copy_from_slice(&protocol);
        buffer[ADDRESSES + 2..ADDRESSES + 4].copy_from_slice(&control);
        with
    }
}

/// The protocol of a long segment.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SegmentKind {
    /// TCP.
    Tcp,
    /// UDP datagrams, all of the same length except the last.
    Udp,
}

/// The start of the IP header, and whether its version is 6.
#[derive(Clone, Copy, Debug)]
struct IpHeader {
    start: usize,
    is_v6: bool,
}

impl IpHeader {
    /// The IP header of a frame, which may have tags.
    fn of(frame: &[u8]) -> Option<Self> {
        let mut at = ADDRESSES;
        while TAGS.iter().any(|tag| frame.get(at..at + 2) == Some(tag)) {
            at += VlanTag::BYTES;
        }
        let kind = frame.get(at..at + 2)?;
        let is_v6 = kind == IPV6;
        (is_v6 || kind == IPV4).then_some(Self {
            start: at + 2,
            is_v6,
        })
    }

    /// Rewrites the header for a single frame, the one with index `number` in a segment.
    fn rewrite(self, frame: &mut [u8], number: u16) {
        let length = (frame.len() - self.start) as u16;
        let header = &mut frame[self.start..];
        if self.is_v6 {
            let length = length - IPV6_HEADER as u16;
            header[4..6].copy_from_slice(&length.to_be_bytes());
            return;
        }
        header[2..4].copy_from_slice(&length.to_be_bytes());
        let identification = word(header, 4).wrapping_add(number);
        header[4..6].copy_from_slice(&identification.to_be_bytes());
        let bytes = usize::from(header[0] & 15) * 4;
        let checksum = of_ipv4(&header[..bytes]);
        header[10..12].copy_from_slice(&checksum.to_be_bytes());
    }
}

fn word(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// A segment to be cut into frames, each of which gets a copy of the headers.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct LongSegment {
    /// The protocol.
    pub kind: SegmentKind,
    /// The start of the TCP or UDP header, and its checksum, which holds the sum of the pseudo-header.
    pub checksum: PartialChecksum,
    /// Payload bytes per frame after that header; the last frame has the remainder.
    pub payload: usize,
}

impl LongSegment {
    /// The frames of a segment; `None` if it is malformed.
    #[must_use]
    pub fn cut(self, segment: &[u8]) -> Option<Vec<Vec<u8>>> {
        let ip = IpHeader::of(segment)?;
        let start = self.checksum.start;
        let least = ip.start + if ip.is_v6 { IPV6_HEADER } else { 20 };
        let header = segment.get(start..)?;
        let header = match self.kind {
            SegmentKind::Tcp => usize::from(*header.get(12)? >> 4) * 4,
            SegmentKind::Udp => UDP_HEADER,
        };
        let is_inside = start >= least
            && self.checksum.offset + 2 <= header
            && start + header <= segment.len()
            && (ip.is_v6 || usize::from(segment[ip.start] & 15) * 4 <= start - ip.start);
        if !is_inside || self.payload == 0 || (self.kind == SegmentKind::Tcp && header < 20) {
            return None;
        }
        let (headers, payload) = segment.split_at(start + header);
        let count = payload.len().div_ceil(self.payload).max(1);
        let frames = (0..count).map(|number| {
            let rest = &payload[number * self.payload..];
            let part = &rest[..rest.len().min(self.payload)];
            let mut frame = [headers, part].concat();
            ip.rewrite(&mut frame, number as u16);
            let own = &mut frame[start..];
            self.shorten_pseudo_header(own, segment.len() - start);
            match self.kind {
                SegmentKind::Tcp => self.rewrite_tcp(own, number, number + 1 == count),
                SegmentKind::Udp => {
                    let length = own.len() as u16;
                    own[4..6].copy_from_slice(&length.to_be_bytes());
                }
            }
            self.checksum.complete(&mut frame);
            frame
        });
        Some(frames.collect())
    }

    /// Corrects the sum of the pseudo-header, which contains the length of the whole segment.
    fn shorten_pseudo_header(self, part: &mut [u8], whole: usize) {
        let (at, length) = (self.checksum.offset, part.len());
        let sum = u32::from(word(part, at)) + u32::from(!(whole as u16)) + length as u32;
        part[at..at + 2].copy_from_slice(&fold(sum).to_be_bytes());
    }

    fn rewrite_tcp(self, part: &mut [u8], number: usize, is_last: bool) {
        const FIN_AND_PUSH: u8 = 0x09;
        const WINDOW_REDUCED: u8 = 0x80;
        let sequence = [part[4], part[5], part[6], part[7]];
        let before = (number * self.payload) as u32;
        let sequence = u32::from_be_bytes(sequence).wrapping_add(before);
        part[4..8].copy_from_slice(&sequence.to_be_bytes());
        if number > 0 {
            part[13] &= !WINDOW_REDUCED;
        }
        if !is_last {
            part[13] &= !FIN_AND_PUSH;
        }
    }
}

#[cfg(test)]
mod tests {
    use npsim_protocols::checksum::{fold, sum};

    use super::{IPV4, IPV6, LongSegment, PartialChecksum, SegmentKind, VlanTag};

    const UDP: u32 = 17;

    /// A UDP datagram with addresses of any length, after a header of `header` bytes, whose checksum is
    /// that of the pseudo-header alone; and that sum.
    fn datagram(header: usize, addresses: &[u8], payload: &[u8]) -> (Vec<u8>, u16) {
        let length = 8 + payload.len() as u16;
        let pseudo = fold(u32::from(sum(addresses)) + UDP + u32::from(length));
        let mut frame = vec![0xa5; header];
        frame.extend([0x30, 0x39, 0, 53]);
        frame.extend(length.to_be_bytes());
        frame.extend(pseudo.to_be_bytes());
        frame.extend(payload);
        (frame, pseudo)
    }

    #[test]
    fn partial_checksums_are_completed_after_any_header() {
        let (ipv4, ipv6) = ([10, 1, 0, 2, 10, 2, 0, 2], [0xfd; 32]);
        for (header, addresses) in [(34, &ipv4[..]), (38, &ipv4), (54, &ipv6), (58, &ipv6)] {
            for payload in [&b""[..], b"x", b"some words", &[0xff; 333]] {
                let (mut frame, pseudo) = datagram(header, addresses, payload);
                let before = frame.clone();
                let partial = PartialChecksum {
                    start: header,
                    offset: 6,
                };
                partial.complete(&mut frame);
                // The receiver's sum is all ones.
                let whole = fold(u32::from(sum(&frame[header..])) + u32::from(pseudo));
                assert_eq!(whole, 0xffff, "{header} {payload:?}");
                frame[header + 6..header + 8].copy_from_slice(&before[header + 6..header + 8]);
                assert_eq!(frame, before, "nothing else has changed");
            }
        }
    }

    #[test]
    fn udp_checksum_is_never_zero() {
        let partial = PartialChecksum {
            start: 0,
            offset: 0,
        };
        let mut frame = [0x12, 0x34, 0xed, 0xcb];
        partial.complete(&mut frame);
        assert_eq!(frame[..2], [0xff, 0xff]);
    }

    #[test]
    fn checksums_beyond_the_frame_end_are_ignored() {
        for (start, offset) in [(4, 0), (5, 0), (0, 3), (2, 1), (usize::MAX, usize::MAX)] {
            let mut frame = [1, 2, 3, 4];
            PartialChecksum { start, offset }.complete(&mut frame);
            assert_eq!(frame, [1, 2, 3, 4], "{start} {offset}");
        }
    }

    #[test]
    fn vlan_tag_is_inserted_after_the_addresses() {
        let tag = VlanTag {
            protocol: 0x8100,
            control: 0x6007,
        };
        let mut buffer: Vec<u8> = (0..24).collect();
        assert_eq!(tag.insert(&mut buffer, 20), 24);
        let expected: Vec<u8> = (0..12).chain([0x81, 0, 0x60, 7]).chain(12..20).collect();
        assert_eq!(buffer, expected);
        assert_eq!(tag.insert(&mut buffer, 24), 24, "there is no room");
        assert_eq!(tag.insert(&mut buffer, 11), 11, "that is no frame");
        assert_eq!(buffer, expected);
    }

    /// A long segment after addresses and tags, its transport header, and the pending offload.
    fn segment(
        is_v6: bool,
        tags: usize,
        kind: SegmentKind,
        payload: &[u8],
    ) -> (Vec<u8>, LongSegment) {
        let (protocol, header, offset) = match kind {
            SegmentKind::Tcp => (6, 32, 16),
            SegmentKind::Udp => (17, 8, 6),
        };
        let length = (header + payload.len()) as u16;
        let mut frame = vec![0x0a; 12];
        frame.extend([0x81, 0, 0x60, 7].repeat(tags));
        let addresses = if is_v6 {
            frame.extend(IPV6);
            frame.extend([0x60, 0, 0, 0]);
            frame.extend(length.to_be_bytes());
            frame.extend([protocol, 64]);
            vec![0xfd; 32]
        } else {
            frame.extend(IPV4);
            frame.extend([0x45, 0]);
            frame.extend((20 + length).to_be_bytes());
            frame.extend([0xff, 0xff, 0x40, 0, 64, protocol, 0, 0]);
            vec![10, 1, 0, 2, 10, 2, 0, 2]
        };
        frame.extend(&addresses);
        let start = frame.len();
        let mut own = vec![0; usize::from(length)];
        own[..4].copy_from_slice(&[0x30, 0x39, 0, 80]);
        match kind {
            SegmentKind::Tcp => {
                own[4..8].copy_from_slice(&0xffff_fff0_u32.to_be_bytes());
                // Options; CWR, ACK, PSH and FIN.
                own[12..14].copy_from_slice(&[0x80, 0x99]);
            }
            SegmentKind::Udp => own[4..6].copy_from_slice(&length.to_be_bytes()),
        }
        let pseudo = fold(u32::from(sum(&addresses)) + u32::from(protocol) + u32::from(length));
        own[offset..offset + 2].copy_from_slice(&pseudo.to_be_bytes());
        own[header..].copy_from_slice(payload);
        frame.extend(own);
        let checksum = PartialChecksum { start, offset };
        let payload = 100;
        (
            frame,
            LongSegment {
                kind,
                checksum,
                payload,
            },
        )
    }

    /// Whether the checksums of a frame match its bytes, including the pseudo-header.
    fn has_valid_checksums(
        frame: &[u8],
        is_v6: bool,
        ip: usize,
        start: usize,
        protocol: u32,
    ) -> bool {
        let addresses = if is_v6 {
            ip + 8..ip + 40
        } else {
            ip + 12..ip + 20
        };
        let own = u32::from(sum(&frame[start..])) + (frame.len() - start) as u32;
        let pseudo = u32::from(sum(&frame[addresses])) + protocol;
        fold(own + pseudo) == 0xffff && (is_v6 || sum(&frame[ip..ip + 20]) == 0xffff)
    }

    #[test]
    fn long_segments_are_split_into_frames_with_headers() {
        let payload: Vec<u8> = (0..1_030_u32).map(|it| (it * 7) as u8).collect();
        for (is_v6, tags) in [(false, 0), (true, 0), (false, 1), (true, 2)] {
            for kind in [SegmentKind::Tcp, SegmentKind::Udp] {
                let (whole, long) = segment(is_v6, tags, kind, &payload);
                let frames = long.cut(&whole).expect("a segment");
                assert_eq!(frames.len(), 11);
                let (start, ip) = (long.checksum.start, 14 + 4 * tags);
                let (header, protocol) = if kind == SegmentKind::Tcp {
                    (32, 6)
                } else {
                    (8, 17)
                };
                let mut carried: Vec<u8> = Vec::new();
                for (number, frame) in frames.iter().enumerate() {
                    let own = &frame[start..];
                    let length =
                        |at: usize| usize::from(u16::from_be_bytes([frame[at], frame[at + 1]]));
                    assert!(
                        has_valid_checksums(frame, is_v6, ip, start, protocol),
                        "{is_v6} {tags} {kind:?} {number}"
                    );
                    if is_v6 {
                        assert_eq!(length(ip + 4), own.len());
                    } else {
                        assert_eq!(length(ip + 2), own.len() + 20);
                        assert_eq!(length(ip + 4), (0xffff + number) & 0xffff);
                    }
                    if kind == SegmentKind::Tcp {
                        let sequence = u32::from_be_bytes([own[4], own[5], own[6], own[7]]);
                        assert_eq!(sequence, 0xffff_fff0_u32.wrapping_add(number as u32 * 100));
                        let flags = match number {
                            0 => 0x90,
                            10 => 0x19,
                            _ => 0x10,
                        };
                        assert_eq!(own[13], flags, "{number}");
                    } else {
                        assert_eq!(length(start + 4), own.len());
                    }
                    carried.extend(&own[header..]);
                }
                assert_eq!(carried, payload);
            }
        }
    }

    #[test]
    fn invalid_segments_are_not_split() {
        for kind in [SegmentKind::Tcp, SegmentKind::Udp] {
            let (whole, long) = segment(false, 0, kind, &[1; 300]);
            for length in 0..long.checksum.start + 8 {
                assert_eq!(long.cut(&whole[..length]), None, "{length}");
            }
            let mut other = whole.clone();
            other[13] = 6;
            assert_eq!(long.cut(&other), None, "ARP");
            let none = LongSegment { payload: 0, ..long };
            assert_eq!(none.cut(&whole), None);
            for (start, offset) in [(14, 16), (34, 40), (usize::MAX, 16), (400, 16)] {
                let checksum = PartialChecksum { start, offset };
                assert_eq!(LongSegment { checksum, ..long }.cut(&whole), None);
            }
        }
        let (mut whole, long) = segment(false, 0, SegmentKind::Tcp, &[1; 300]);
        whole[14] = 0x4f;
        assert_eq!(
            long.cut(&whole),
            None,
            "a header of IP that reaches into that of TCP"
        );
        whole[14] = 0x45;
        whole[long.checksum.start + 12] = 0x40;
        assert_eq!(long.cut(&whole), None, "a header of TCP that is too short");
    }
}
