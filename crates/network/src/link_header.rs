//! Ethernet addresses and the Ethernet header.

use npsim_net::ethernet::MIN_FRAME_BYTES;

/// Bytes of an Ethernet header.
pub const HEADER: usize = 14;
/// The `EtherType` of IPv4.
pub const IPV4: [u8; 2] = [8, 0];
/// IP bytes to which shorter packets are padded.
pub const MIN_IP_BYTES: u32 = MIN_FRAME_BYTES as u32 - HEADER as u32;
/// An Ethernet address.
pub type Mac = [u8; 6];
/// Placeholder for a destination address: that of whatever is next on the link.
pub const UNKNOWN: Mac = [0; 6];

/// Replaces the addresses of a complete frame.
pub fn readdress(bytes: &mut [u8], to: Mac, from: Mac) {
    bytes[..6].copy_from_slice(&to);
    bytes[6..12].copy_from_slice(&from);
}

/// Returns the packet in a frame that carries IPv4.
pub fn packet(bytes: &[u8]) -> Option<&[u8]> {
    let (header, packet) = bytes.split_at_checked(HEADER)?;
    header.ends_with(&IPV4).then_some(packet)
}

/// Returns a made-up, locally administered address for a node that has none of its own.
#[must_use]
pub fn generated_mac(node: usize) -> Mac {
    let [.., a, b, c] = (node as u32).to_be_bytes();
    [2, 0x6e, 0x70, a, b, c]
}
