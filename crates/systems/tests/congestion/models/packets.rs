//! IPv4 headers that a router accepts, and some that it does not.

use npsim_protocols::checksum;

use super::driver::{HEADER, PORTS, Packet, State, Verdict};
use super::random::Random;

/// Reasons of the slow path.
pub const EXCEPTION_OPTIONS: u32 = 3;
pub const EXCEPTION_TTL: u32 = 7;
pub const EXCEPTION_BAD_OPTION: u32 = 10;

/// An address that is never a martian.
fn address(random: &mut Random) -> [u8; 4] {
    let first = random.one_of(&[1, 10, 100, 126, 128, 172, 192, 223]);
    let [_, b, c, d] = random.word().to_be_bytes();
    [first, b, c, d]
}

/// A time to live, often close to its end.
fn time_to_live(random: &mut Random) -> u8 {
    if random.once_in(12) {
        random.one_of(&[0, 1, 2, 255])
    } else {
        random.byte()
    }
}

/// Flags, and the place in its datagram: mostly a whole one or the first part.
fn fragment(random: &mut Random) -> u16 {
    let flags = random.one_of(&[0, 0x4000, 0x2000, 0xe000]);
    match random.below(16) {
        0 => flags | 1 << random.below(13),
        1 => flags | random.word() as u16 & 0x1fff,
        _ => flags,
    }
}

/// A packet with these options (a multiple of four bytes) and `payload` after its header, with a
/// stated length of `behind` bytes. Now and then its checksum is wrong.
pub fn packet(
    random: &mut Random,
    protocol: u8,
    options: &[u8],
    payload: &[u8],
    behind: u16,
    state: Option<State>,
) -> Packet {
    assert!(options.len() <= 40 && options.len().is_multiple_of(4));
    let words = 5 + options.len() / 4;
    let total = 4 * words as u16 + behind;
    let mut header = vec![0x40 | words as u8, random.byte()];
    header.extend(total.to_be_bytes());
    header.extend((random.word() as u16).to_be_bytes());
    header.extend(fragment(random).to_be_bytes());
    header.extend([time_to_live(random), protocol, 0, 0]);
    header.extend(address(random));
    header.extend(address(random));
    header.extend(options);
    // Small sums are rare: force some, whose checksums are near 0 and 0xffff.
    if random.once_in(16) {
        let rest = checksum::of_ipv4(&header);
        let wanted = random.one_of(&[0_u16, 1, 0xff, 0x100, 0xfeff, 0xff00, 0xfffe]);
        let word = u16::from_be_bytes([header[4], header[5]]);
        let word = !checksum::fold(u32::from(!word) + u32::from(wanted) + u32::from(!rest));
        header[4..6].copy_from_slice(&word.to_be_bytes());
    }
    let mut right = checksum::of_ipv4(&header);
    if random.once_in(50) {
        right = right.wrapping_add(1 << random.below(16));
    }
    header[10..12].copy_from_slice(&right.to_be_bytes());
    let mut frame: Vec<u8> = (0..HEADER).map(|_| random.byte()).collect();
    frame.extend(header);
    frame.extend(payload);
    Packet {
        frame,
        length: HEADER as u32 + u32::from(total),
        port: random.below(PORTS),
        state,
    }
}

/// The header of a packet, by its own length.
pub fn header(bytes: &[u8]) -> &[u8] {
    &bytes[..usize::from(bytes[0] & 0xf) * 4]
}

/// Total length of a packet.
pub fn total(bytes: &[u8]) -> u16 {
    u16::from_be_bytes([bytes[2], bytes[3]])
}

/// Whether a packet is a later fragment of a datagram.
pub fn is_later_fragment(bytes: &[u8]) -> bool {
    u16::from_be_bytes([bytes[6], bytes[7]]) & 0x1fff != 0
}

/// The outcome of a packet without options in the fast path, before any protocol; `None` if it is
/// forwarded, in which case it has a router's changes.
pub fn plain(bytes: &mut [u8]) -> Option<Verdict> {
    // The slow path checks its packets itself.
    if header(bytes).len() > 20 {
        return Some(Verdict::Exception(EXCEPTION_OPTIONS));
    }
    if !is_right(bytes) {
        return Some(Verdict::Dropped);
    }
    if bytes[8] <= 1 {
        return Some(Verdict::Exception(EXCEPTION_TTL));
    }
    forward(bytes);
    None
}

/// Whether the checksum of a packet's header is right.
pub fn is_right(bytes: &[u8]) -> bool {
    checksum::sum(header(bytes)) == 0xffff
}

/// A plain router's changes to a packet that it forwards.
pub fn forward(bytes: &mut [u8]) {
    let length = header(bytes).len();
    let before = header(bytes).to_vec();
    bytes[8] -= 1;
    checksum::update_ipv4(&mut bytes[..length], &before);
}
