//! Frames sent by hosts, and captures of them.

use etherparse::PacketBuilder;

/// A host behind port 0, whose addresses are 10.1.0.0/16 in all projects here.
pub const HOST: [u8; 4] = [10, 1, 7, 7];
/// The router's Ethernet address; the projects accept any.
const MAC: [[u8; 6]; 2] = [[2, 0, 0, 0, 0, 9], [2, 0, 0x5e, 0, 0, 0]];

/// A datagram from its own source port to traceroute's first port.
pub fn datagram(to: [u8; 4], ttl: u8, port: u16) -> Vec<u8> {
    from(HOST, to, ttl, port, &[0x42; 20])
}

pub fn from(source: [u8; 4], to: [u8; 4], ttl: u8, port: u16, payload: &[u8]) -> Vec<u8> {
    let builder = PacketBuilder::ethernet2(MAC[0], MAC[1])
        .ipv4(source, to, ttl)
        .udp(port, 33_434);
    let mut frame = Vec::new();
    builder.write(&mut frame, payload).expect("write a frame");
    frame
}

/// A datagram that must not be fragmented.
pub fn whole(to: [u8; 4], bytes: usize, port: u16) -> Vec<u8> {
    let mut frame = from(HOST, to, 64, port, &vec![0x42; bytes - 28]);
    frame[20] |= 0x40;
    with_checksum(frame)
}

/// An echo request with a number.
pub fn ping(to: [u8; 4], number: u16, payload: &[u8]) -> Vec<u8> {
    let builder = PacketBuilder::ethernet2(MAC[0], MAC[1])
        .ipv4(HOST, to, 64)
        .icmpv4_echo_request(0x77, number);
    let mut frame = Vec::new();
    builder.write(&mut frame, payload).expect("write a frame");
    frame
}

/// The frame with the checksum updated for its changed header.
pub fn with_checksum(mut frame: Vec<u8>) -> Vec<u8> {
    let end = 14 + usize::from(frame[14] & 0xf) * 4;
    frame[24..26].fill(0);
    let words = frame[14..end].chunks(2);
    let sum: u32 = words
        .map(|word| u32::from(word[0]) << 8 | u32::from(word[1]))
        .sum();
    let sum = (sum & 0xffff) + (sum >> 16);
    let sum = !((sum & 0xffff) + (sum >> 16)) as u16;
    frame[24..26].copy_from_slice(&sum.to_be_bytes());
    frame
}

/// A classic capture of frames that arrive at the given interval in microseconds.
pub fn capture(frames: &[Vec<u8>], microseconds: u32) -> Vec<u8> {
    let mut bytes = Vec::new();
    for word in [0xa1b2_c3d4_u32, 0x0004_0002, 0, 0, 65535, 1] {
        bytes.extend(word.to_le_bytes());
    }
    for (at, frame) in (0..).zip(frames) {
        let (time, length) = (at * microseconds, frame.len() as u32);
        for word in [time / 1_000_000, time % 1_000_000, length, length] {
            bytes.extend(word.to_le_bytes());
        }
        bytes.extend(frame);
    }
    bytes
}
