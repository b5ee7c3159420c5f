//! Frames on the lines of chips: packets between their Ethernet addresses.

use npsim_transport::wire::WireError;

use crate::frame::Frame;
use crate::topology::Topology;

/// Bytes of an Ethernet header.
const HEADER: usize = 14;
/// Ethernet's type of IPv4.
const IPV4: [u8; 2] = [8, 0];
/// Bytes of IP to which a shorter packet is padded.
pub(crate) const LEAST: u32 = 46;
/// Bytes on a line besides IP: preamble, header, check sequence and the gap to the next frame.
pub(crate) const OVERHEAD: u32 = 8 + HEADER as u32 + 4 + GAP;
/// Bytes of the gap.
const GAP: u32 = 12;

/// An Ethernet address.
pub(crate) type Mac = [u8; 6];

/// What stands on a line from the first preamble bit to the last bit of the check sequence, in bits.
pub(crate) fn bits(bytes: u32) -> u64 {
    u64::from(bytes.max(LEAST) + OVERHEAD - GAP) * 8
}

/// A frame without its check sequence.
///
/// # Errors
/// As for [`Frame::to_bytes`].
pub(crate) fn wrapped(
    frame: &Frame,
    topology: &Topology,
    to: Mac,
    from: Mac,
) -> Result<Vec<u8>, WireError> {
    let packet = frame.to_bytes(topology)?;
    let mut bytes = Vec::with_capacity(HEADER + packet.len());
    bytes.extend([&to[..], &from, &IPV4].concat());
    bytes.extend(packet);
    Ok(bytes)
}

/// The packet in a frame that holds one of IPv4.
pub(crate) fn packet(bytes: &[u8]) -> Option<&[u8]> {
    let (header, packet) = bytes.split_at_checked(HEADER)?;
    header.ends_with(&IPV4).then_some(packet)
}

/// The address of a node that has none of its own, made up and locally administered.
pub(crate) fn made_up(node: usize) -> Mac {
    let [.., a, b, c] = (node as u32).to_be_bytes();
    [2, 0x6e, 0x70, a, b, c]
}
