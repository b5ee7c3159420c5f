//! Checksums of TCP, UDP and ICMP over IPv4 and IPv6.

use etherparse::{Ipv6ExtensionSlice, LaxIpv6Slice, LaxNetSlice, LaxSlicedPacket, TransportSlice};

/// The transport checksum of a packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct TransportChecksum {
    /// Its offset in the frame.
    pub at: usize,
    /// The value in the frame.
    pub stated: u16,
    /// The correct value.
    pub right: u16,
}

/// Returns the transport checksum of the packet in a frame, if it has one and is complete: `None`
/// for fragments, and for UDP over IPv4 without a checksum.
pub(crate) fn transport_checksum(
    frame: &[u8],
    packet: &LaxSlicedPacket<'_>,
) -> Option<TransportChecksum> {
    let transport = packet.transport.as_ref()?;
    let right = match packet.net.as_ref()? {
        LaxNetSlice::Ipv4(ip) => {
            let (source, destination) = (ip.header().source(), ip.header().destination());
            match transport {
                TransportSlice::Udp(udp) if udp.checksum() == 0 => return None,
                TransportSlice::Udp(udp) => {
                    let header = udp.to_header();
                    header.calc_checksum_ipv4_raw(source, destination, udp.payload())
                }
                TransportSlice::Tcp(tcp) => tcp.calc_checksum_ipv4(source, destination),
                TransportSlice::Icmpv4(icmp) => Ok(icmp.icmp_type().calc_checksum(icmp.payload())),
                TransportSlice::Icmpv6(_) | TransportSlice::Igmp(_) => return None,
            }
        }
        LaxNetSlice::Ipv6(ip) if !has_route(ip) => {
            let header = ip.header().to_header();
            let (source, destination) = (header.source, header.destination);
            match transport {
                TransportSlice::Udp(udp) => {
                    let header = udp.to_header();
                    header.calc_checksum_ipv6_raw(source, destination, udp.payload())
                }
                TransportSlice::Tcp(tcp) => tcp.calc_checksum_ipv6(source, destination),
                TransportSlice::Icmpv6(icmp) => {
                    let kind = icmp.icmp_type();
                    kind.calc_checksum(source, destination, icmp.payload())
                }
                TransportSlice::Icmpv4(_) | TransportSlice::Igmp(_) => return None,
            }
        }
        LaxNetSlice::Ipv6(_) | LaxNetSlice::Arp(_) => return None,
    };
    let (bytes, field, stated) = match transport {
        TransportSlice::Udp(udp) => (udp.slice(), 6, udp.checksum()),
        TransportSlice::Tcp(tcp) => (tcp.slice(), 16, tcp.checksum()),
        TransportSlice::Icmpv4(icmp) => (icmp.slice(), 2, icmp.checksum()),
        TransportSlice::Icmpv6(icmp) => (icmp.slice(), 2, icmp.checksum()),
        TransportSlice::Igmp(_) => return None,
    };
    let begins = bytes.as_ptr() as usize - frame.as_ptr() as usize;
    Some(TransportChecksum {
        at: begins + field,
        stated,
        right: right.ok()?,
    })
}

/// Whether a packet has a routing header: its checksum covers the final destination, which the
/// header may no longer show.
fn has_route(ip: &LaxIpv6Slice<'_>) -> bool {
    let mut extensions = ip.extensions().clone().into_iter();
    extensions.any(|header| matches!(header, Ipv6ExtensionSlice::Routing(_)))
}
