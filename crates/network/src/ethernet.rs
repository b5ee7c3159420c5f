//! Frames on the lines of chips: packets between their Ethernet addresses.

use npsim_net::ethernet::{MIN_FRAME_BYTES, busy_bytes, line_bytes};
use npsim_transport::wire::WireError;

use crate::frame::{Content, Frame};
use crate::topology::Topology;

/// Bytes of an Ethernet header.
const HEADER: usize = 14;
/// Ethernet's type of IPv4.
const IPV4: [u8; 2] = [8, 0];
/// Bytes of IP to which a shorter packet is padded.
pub const LEAST: u32 = MIN_FRAME_BYTES as u32 - HEADER as u32;

/// An Ethernet address.
pub type Mac = [u8; 6];

/// Bytes on a line besides IP: preamble, header, check sequence and the gap to the next frame.
#[must_use]
pub fn overhead() -> u32 {
    line_bytes(MIN_FRAME_BYTES as usize) as u32 - LEAST
}

/// What stands on a line from the first preamble bit to the last bit of the check sequence, in bits.
pub(crate) fn bits(bytes: u32) -> u64 {
    busy_bytes(HEADER + bytes as usize) * 8
}

/// A frame with its Ethernet header, without its check sequence. One of ARP has the addresses that
/// its message names.
///
/// # Errors
/// As for [`Frame::to_bytes`].
pub fn wrapped(
    frame: &Frame,
    topology: &Topology,
    to: Mac,
    from: Mac,
) -> Result<Vec<u8>, WireError> {
    if let Content::Arp { message, .. } = &frame.content {
        return Ok(message.to_frame());
    }
    let packet = frame.to_bytes(topology)?;
    let mut bytes = Vec::with_capacity(HEADER + packet.len());
    for part in [&to[..], &from, &IPV4, &packet] {
        bytes.extend_from_slice(part);
    }
    Ok(bytes)
}

/// The packet in a frame that holds one of IPv4.
pub(crate) fn packet(bytes: &[u8]) -> Option<&[u8]> {
    let (header, packet) = bytes.split_at_checked(HEADER)?;
    header.ends_with(&IPV4).then_some(packet)
}

/// The address of a node that has none of its own, made up and locally administered.
#[must_use]
pub fn made_up(node: usize) -> Mac {
    let [.., a, b, c] = (node as u32).to_be_bytes();
    [2, 0x6e, 0x70, a, b, c]
}
