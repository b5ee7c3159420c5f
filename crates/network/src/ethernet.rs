//! Frames on the lines of chips: packets between their Ethernet addresses.

use npsim_net::ethernet::{MIN_FRAME_BYTES, busy_bytes, line_bytes};
use npsim_transport::wire::WireError;

use crate::frame::{Content, Frame};
use crate::link_header::{HEADER, IPV4, UNKNOWN, readdress};
pub use crate::link_header::{LEAST, Mac, made_up};
use crate::topology::Topology;

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
/// its message names, and a whole one those that it came with.
///
/// # Errors
/// As for [`Frame::to_bytes`].
pub fn wrapped(
    frame: &Frame,
    topology: &Topology,
    to: Mac,
    from: Mac,
) -> Result<Vec<u8>, WireError> {
    match &frame.content {
        Content::Arp { message, .. } => return Ok(message.to_frame()),
        Content::Ethernet { bytes, .. } => {
            let mut bytes = bytes.to_vec();
            if bytes.starts_with(&UNKNOWN) {
                readdress(&mut bytes, to, from);
            }
            return Ok(bytes);
        }
        _ => {}
    }
    let packet = frame.to_bytes(topology)?;
    let mut bytes = Vec::with_capacity(HEADER + packet.len());
    for part in [&to[..], &from, &IPV4, &packet] {
        bytes.extend_from_slice(part);
    }
    Ok(bytes)
}
