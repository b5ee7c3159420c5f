//! What a host has left to its network card: the rest of a checksum, and a VLAN's tag.
//!
//! What comes from an interface that exists, such as an end of a veth pair, was never on a wire. Where
//! the sender's interface offers to compute checksums, the field of TCP, UDP or whatever else has the
//! sum of the pseudo-header alone, and the kernel says from where on the rest is to be summed, and
//! where the field is. Where it offers to insert tags, the tag stands beside the frame. Both are done
//! here as the card would have done them.

use npsim_protocols::checksum::sum;

/// Bytes of the addresses of an Ethernet frame, behind which a tag stands.
const ADDRESSES: usize = 12;

/// A checksum whose rest is to be summed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PartialChecksum {
    /// The byte of the frame from which on it is.
    pub start: usize,
    /// Its field, counted from there.
    pub offset: usize,
}

impl PartialChecksum {
    /// Completes the checksum of a frame; one that does not lie in the frame is left alone.
    pub fn complete(self, frame: &mut [u8]) {
        let Some(summed) = frame.get_mut(self.start..) else {
            return;
        };
        // The field, which is among what is summed, stands for the pseudo-header. Of UDP a sum of 0
        // means that there is none; 0xffff is the same number, for TCP as well.
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

/// The tag of a VLAN.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct VlanTag {
    /// The type of the tag, such as 0x8100.
    pub protocol: u16,
    /// Priority and number.
    pub control: u16,
}

impl VlanTag {
    /// Bytes of a tag.
    pub const BYTES: usize = 4;

    /// Puts the tag into the frame that has so many bytes of a buffer, where both have room; gives
    /// the length of what is there then.
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

#[cfg(test)]
mod tests {
    use npsim_protocols::checksum::{fold, sum};

    use super::{PartialChecksum, VlanTag};

    const UDP: u32 = 17;

    /// A UDP datagram over addresses of any length, behind a header of so many bytes, whose
    /// checksum is that of the pseudo-header alone; and that sum.
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
    fn checksums_are_completed_behind_any_header() {
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
                // What a receiver sums comes to ones.
                let whole = fold(u32::from(sum(&frame[header..])) + u32::from(pseudo));
                assert_eq!(whole, 0xffff, "{header} {payload:?}");
                frame[header + 6..header + 8].copy_from_slice(&before[header + 6..header + 8]);
                assert_eq!(frame, before, "nothing else has changed");
            }
        }
    }

    #[test]
    fn a_checksum_of_udp_is_never_0_which_would_say_that_there_is_none() {
        let partial = PartialChecksum {
            start: 0,
            offset: 0,
        };
        let mut frame = [0x12, 0x34, 0xed, 0xcb];
        partial.complete(&mut frame);
        assert_eq!(frame[..2], [0xff, 0xff]);
    }

    #[test]
    fn checksums_beyond_the_end_of_a_frame_are_left_alone() {
        for (start, offset) in [(4, 0), (5, 0), (0, 3), (2, 1), (usize::MAX, usize::MAX)] {
            let mut frame = [1, 2, 3, 4];
            PartialChecksum { start, offset }.complete(&mut frame);
            assert_eq!(frame, [1, 2, 3, 4], "{start} {offset}");
        }
    }

    #[test]
    fn a_tag_stands_behind_the_addresses_and_nothing_is_lost() {
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
}
