//! Frames on the lines of chips: packets with Ethernet headers.

use npsim_net::ethernet::{MIN_FRAME_BYTES, busy_bytes, line_bytes};
use npsim_transport::wire::WireError;

use crate::frame::{Content, Frame};
use crate::link_header::{HEADER, IPV4, UNKNOWN, readdress};
pub use crate::link_header::{MIN_IP_BYTES, Mac, generated_mac};
use crate::topology::Topology;

/// Returns the bytes on a line besides IP: preamble, header, check sequence and the gap to the next
/// frame.
#[must_use]
pub fn overhead() -> u32 {
    line_bytes(MIN_FRAME_BYTES as usize) as u32 - MIN_IP_BYTES
}

/// Returns the bits on a line from the first preamble bit to the last bit of the check sequence.
pub(crate) fn bits(bytes: u32) -> u64 {
    busy_bytes(HEADER + bytes as usize) * 8
}

/// Returns a frame with its Ethernet header, without its check sequence. An ARP frame has the
/// addresses in its message, and a complete Ethernet frame keeps those with which it arrived.
///
/// # Errors
/// Returns an error as [`Frame::to_bytes`] does.
pub fn with_ethernet_header(
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
