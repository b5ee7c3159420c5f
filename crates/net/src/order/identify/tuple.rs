//! The endpoints of a flow, as found in its frames.

use std::fmt;
use std::net::{IpAddr, SocketAddr};

use etherparse::{IpNumber, LaxNetSlice, LaxSlicedPacket, TransportSlice};

/// The endpoints of a flow: for IP, addresses, protocol, and ports if any; otherwise MAC addresses and
/// frame type. Routers leave it unchanged, except for MAC addresses.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Tuple {
    /// IP. Fragments, including first ones, have no ports, so that all fragments of a datagram belong to
    /// the same flow.
    Ip {
        /// The sender.
        source: IpAddr,
        /// The receiver.
        destination: IpAddr,
        /// The protocol's number.
        protocol: u8,
        /// Source and destination ports of TCP and UDP.
        ports: Option<(u16, u16)>,
    },
    /// Anything else: receiver, sender and type of the Ethernet frame, zero-filled if the frame is
    /// shorter.
    Link([u8; 14]),
}

impl Tuple {
    /// Returns the endpoints of a frame.
    #[must_use]
    pub fn of(frame: &[u8]) -> Self {
        LaxSlicedPacket::from_ethernet(frame)
            .ok()
            .and_then(|packet| Self::of_packet(&packet))
            .unwrap_or_else(|| {
                let mut head = [0; 14];
                let there = frame.len().min(14);
                head[..there].copy_from_slice(&frame[..there]);
                Self::Link(head)
            })
    }

    /// Returns the endpoints of an IP packet; `None` for anything else.
    pub(super) fn of_packet(packet: &LaxSlicedPacket<'_>) -> Option<Self> {
        let (source, destination, protocol): (IpAddr, IpAddr, u8) = match packet.net.as_ref()? {
            LaxNetSlice::Ipv4(ip) => {
                let header = ip.header();
                (
                    header.source_addr().into(),
                    header.destination_addr().into(),
                    header.protocol().0,
                )
            }
            LaxNetSlice::Ipv6(ip) => (
                ip.header().source_addr().into(),
                ip.header().destination_addr().into(),
                ip.payload().ip_number.0,
            ),
            LaxNetSlice::Arp(_) => return None,
        };
        let ports = match packet.transport.as_ref() {
            Some(TransportSlice::Tcp(tcp)) => Some((tcp.source_port(), tcp.destination_port())),
            Some(TransportSlice::Udp(udp)) => Some((udp.source_port(), udp.destination_port())),
            _ => None,
        };
        Some(Self::Ip {
            source,
            destination,
            protocol,
            ports,
        })
    }
}

impl fmt::Display for Tuple {
    /// `10.0.0.1:5 > 10.0.0.2:6 udp`.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Ip {
                source,
                destination,
                protocol,
                ports,
            } => {
                match ports {
                    Some((from, to)) => {
                        let (from, to) = (
                            SocketAddr::new(source, from),
                            SocketAddr::new(destination, to),
                        );
                        write!(out, "{from} > {to}")?;
                    }
                    None => write!(out, "{source} > {destination}")?,
                }
                match IpNumber(protocol).keyword_str() {
                    Some(name) => write!(out, " {}", name.to_ascii_lowercase()),
                    None => write!(out, " protocol {protocol}"),
                }
            }
            Self::Link(head) => {
                let [d0, d1, d2, d3, d4, d5, s0, s1, s2, s3, s4, s5, high, low] = head;
                write!(
                    out,
                    "{s0:02x}:{s1:02x}:{s2:02x}:{s3:02x}:{s4:02x}:{s5:02x} > {d0:02x}:{d1:02x}:{d2:02x}:{d3:02x}:{d4:02x}:{d5:02x} 0x{high:02x}{low:02x}"
                )
            }
        }
    }
}
