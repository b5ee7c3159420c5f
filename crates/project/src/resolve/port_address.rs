//! IPv4 addresses on a router's links: its own on each port, and those of next hops.

use std::fmt;
use std::net::Ipv4Addr;

use npsim_chip::gpp::routes::NextHop;

/// The router's own address on a port, with its network.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortAddress {
    /// The address.
    pub address: Ipv4Addr,
    /// Length of the network's prefix; 32 if not given.
    pub length: u8,
}

impl PortAddress {
    /// Returns the first and the last address of its network.
    pub(super) fn ends(self) -> (u32, u32) {
        let host = u32::MAX.checked_shr(self.length.into()).unwrap_or(0);
        let address = self.address.to_bits();
        (address & !host, address | host)
    }

    /// Returns what a reserved address of the network is; `None` for an address that a single host
    /// can have.
    pub(super) fn end(self, address: Ipv4Addr) -> Option<&'static str> {
        let (first, last) = self.ends();
        match address.to_bits() {
            bits if bits == first => Some("the address of the network"),
            bits if bits == last => Some("the broadcast address"),
            _ => None,
        }
    }

    /// Whether a single host on the link can have this address.
    #[must_use]
    pub fn link_contains(self, address: Ipv4Addr) -> bool {
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

/// A next hop given by its IPv4 address.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gateway {
    /// The port that leads to it.
    pub port: u8,
    /// The address.
    pub address: Ipv4Addr,
    /// Largest IP packet, in bytes.
    pub mtu: u16,
    /// The router's own address on the link.
    pub(super) source: [u8; 6],
}

impl Gateway {
    /// Returns its entry in the table of next hops until its address on the link is known: like the
    /// router itself, so that microcode hands packets to the core, with the IPv4 address in place
    /// of the MAC address.
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
