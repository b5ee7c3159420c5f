//! Checksums that a host has left to its network card.
//!
//! What comes from an interface that exists, such as an end of a veth pair, was never on a wire:
//! where the sender's interface offers to compute checksums, the field of TCP or UDP has the sum
//! of the pseudo-header alone. Such a field is known by its value and completed, as the card
//! would have done.

use npsim_protocols::checksum::{fold, sum};

/// Bytes of an Ethernet header.
const ETHERNET: usize = 14;
const IPV4: [u8; 2] = [0x08, 0x00];
const TCP: u8 = 6;
const UDP: u8 = 17;

/// Completes the checksum of a frame of TCP or UDP over IPv4 if only its pseudo-header was summed;
/// says whether it did.
pub fn complete_checksum(frame: &mut [u8]) -> bool {
    complete(frame).is_some()
}

fn complete(frame: &mut [u8]) -> Option<()> {
    if frame.get(12..ETHERNET)? != IPV4 {
        return None;
    }
    let packet = frame.get_mut(ETHERNET..)?;
    let header = usize::from(packet.first()? & 15) * 4;
    let total = usize::from(u16::from_be_bytes([*packet.get(2)?, *packet.get(3)?]));
    let fragment = u16::from_be_bytes([*packet.get(6)?, *packet.get(7)?]) & 0x3fff;
    let protocol = *packet.get(9)?;
    let field = match protocol {
        TCP => 16,
        UDP => 6,
        _ => return None,
    };
    if header < 20 || total < header + field + 2 || fragment != 0 {
        return None;
    }
    let addresses = sum(packet.get(12..20)?);
    let segment = packet.get_mut(header..total)?;
    let pseudo = fold(u32::from(addresses) + u32::from(protocol) + segment.len() as u32);
    let at = field..field + 2;
    if segment[at.clone()] != pseudo.to_be_bytes() {
        return None;
    }
    // The field, which is among them, stands for the pseudo-header.
    let checksum = match !sum(segment) {
        0 if protocol == UDP => u16::MAX,
        checksum => checksum,
    };
    segment[at].copy_from_slice(&checksum.to_be_bytes());
    Some(())
}

#[cfg(test)]
mod tests {
    use npsim_protocols::checksum::{fold, sum};

    use super::{ETHERNET, complete_checksum};

    /// A UDP datagram whose checksum is that of the pseudo-header alone, and the finished one.
    fn datagram(payload: &[u8]) -> (Vec<u8>, Vec<u8>) {
        let length = 8 + payload.len() as u16;
        let mut frame = vec![0; ETHERNET];
        frame[12] = 8;
        let mut header = vec![
            0x45, 0, 0, 0, 0, 7, 0, 0, 64, 17, 0, 0, 10, 1, 0, 2, 10, 2, 0, 2,
        ];
        header[2..4].copy_from_slice(&(20 + length).to_be_bytes());
        let pseudo = fold(u32::from(sum(&header[12..20])) + 17 + u32::from(length));
        frame.extend(header);
        frame.extend([0x30, 0x39, 0, 53]);
        frame.extend(length.to_be_bytes());
        frame.extend(pseudo.to_be_bytes());
        frame.extend(payload);
        let mut whole = frame.clone();
        let at = ETHERNET + 26;
        let checksum = !sum(&frame[ETHERNET + 20..]);
        whole[at..at + 2].copy_from_slice(&checksum.to_be_bytes());
        (frame, whole)
    }

    #[test]
    fn a_checksum_of_the_pseudo_header_alone_is_completed_and_no_other() {
        for payload in [&b""[..], b"x", b"some words", &[0xff; 333]] {
            let (mut frame, whole) = datagram(payload);
            assert!(complete_checksum(&mut frame));
            assert_eq!(frame, whole);
            assert!(!complete_checksum(&mut frame), "a whole one is left alone");
            assert_eq!(frame, whole);
        }
    }

    #[test]
    fn frames_that_end_early_or_are_something_else_are_left_alone() {
        let (frame, _) = datagram(b"some words");
        for length in 0..frame.len() {
            let mut cut = frame[..length].to_vec();
            assert!(!complete_checksum(&mut cut), "{length}");
            assert_eq!(cut, frame[..length]);
        }
        for (at, value) in [
            (12, 0x86),
            (ETHERNET, 0x44),
            (ETHERNET + 6, 0x20),
            (ETHERNET + 9, 1),
        ] {
            let mut other = frame.clone();
            other[at] = value;
            let before = other.clone();
            assert!(!complete_checksum(&mut other), "{at}");
            assert_eq!(other, before);
        }
    }
}
