//! IPv4 addresses on a router's links: its own on each port, and those of next hops.

use std::fmt;
use std::net::Ipv4Addr;

use npsim_chip::gpp::routes::NextHop;

/// The router's own address on a port, and the network that it is in.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortAddress {
    /// The address.
    pub address: Ipv4Addr,
    /// Bits of the network's prefix; 32 if not given.
    pub length: u8,
}

impl PortAddress {
    /// The first address of its network, and the last.
    pub(super) fn ends(self) -> (u32, u32) {
        let host = u32::MAX.checked_shr(self.length.into()).unwrap_or(0);
        let address = self.address.to_bits();
        (address & !host, address | host)
    }

    /// What an address is to the network that no single host on it has.
    pub(super) fn end(self, address: Ipv4Addr) -> Option<&'static str> {
        let (first, last) = self.ends();
        match address.to_bits() {
            bits if bits == first => Some("the address of the network"),
            bits if bits == last => Some("the broadcast address"),
            _ => None,
        }
    }

    /// Whether an address is one that a single host on its link can have.
    #[must_use]
    pub fn has_on_link(self, address: Ipv4Addr) -> bool {
        let (first, last) = self.ends();
        let bits = address.to_bits();
        (first..=last).contains(&bits) && (self.length >= 31 || (bits != first && bits != last))
    }
}

impl fmt::Display for PortAddress {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", self.address, self.length)
    }
}

/// A next hop of which the IPv4 address is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gateway {
    /// The port behind which it is.
    pub port: u8,
    /// The address.
    pub address: Ipv4Addr,
    /// Largest IP packet, in bytes.
    pub mtu: u16,
    /// The router's own address on the link.
    pub(super) source: [u8; 6],
}

impl Gateway {
    /// How it stands in the table of next hops until its address on the link is known: as
    /// the router itself, so that microcode hands packets to the core, with its IPv4
    /// address where the other will be.
    #[must_use]
    pub const fn next_hop(&self) -> NextHop {
        let [a, b, c, d] = self.address.octets();
        NextHop {
            port: self.port,
            mtu: self.mtu,
            local: true,
            discard: false,
            destination: [0, 0, a, b, c, d],
            source: self.source,
        }
    }
}
