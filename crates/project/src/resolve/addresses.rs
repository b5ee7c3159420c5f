//! IPv4 addresses on the router's links: its own, which `address` of `[[port]]` says, with
//! their routes, and those of next hops, `next_hop` of `[[route]]`.

use std::net::Ipv4Addr;

use npsim_chip::gpp::routes::{NEXT_HOP_LONGWORDS, NextHop, Route, RouteTable};

use super::super::file::{Addresses, ProjectFile, RouteSection};
use super::super::text::parse_prefix;
use super::Resolver;
use super::routing::has_task;
use crate::keys::Spanned;

/// What `mac` of a route says where the address is to be found.
const FOUND: &str = "arp";

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
    fn ends(self) -> (u32, u32) {
        let host = u32::MAX.checked_shr(self.length.into()).unwrap_or(0);
        let address = self.address.to_bits();
        (address & !host, address | host)
    }

    /// Whether an address is one that a single host on its link can have.
    #[must_use]
    pub fn has_on_link(self, address: Ipv4Addr) -> bool {
        let (first, last) = self.ends();
        let bits = address.to_bits();
        (first..=last).contains(&bits) && (self.length >= 31 || (bits != first && bits != last))
    }
}

/// An own address in the routing table.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct OwnAddress {
    /// The address.
    pub address: Ipv4Addr,
    /// The router of a chain that has it, from 0 on; `None` if each of them has.
    pub node: Option<usize>,
    /// The next hop that there would be for it if it were nobody's; zeros for none.
    pub otherwise: [u32; NEXT_HOP_LONGWORDS],
}

/// A next hop of which the IPv4 address is given.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Gateway {
    /// The port behind which it is.
    pub port: u8,
    /// Its address.
    pub address: Ipv4Addr,
    /// Largest IP packet, in bytes.
    pub mtu: u16,
    /// The router's own address on the link.
    source: [u8; 6],
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

impl Resolver<'_> {
    /// The router's own addresses on the links, by port.
    #[must_use]
    pub fn macs(&self) -> &[[u8; 6]] {
        &self.macs
    }

    /// Next hops of which the IPv4 address is given.
    #[must_use]
    pub fn gateways(&self) -> &[Gateway] {
        &self.gateways
    }

    /// The next hop of a route that gives its IPv4 address.
    pub(super) fn gateway(
        &mut self,
        file: &ProjectFile,
        section: &RouteSection,
        typed: &Spanned<String>,
        port: u8,
    ) -> Option<NextHop> {
        let wrong = |this: &mut Self, message: String, help: &str| {
            this.fail(typed.span(), message, "", help);
        };
        let mac = section.mac.as_ref().map(Spanned::get_ref);
        if mac.is_some_and(|mac| mac != FOUND) || section.local || section.discard {
            let message = "the route has a next hop, and something else".to_owned();
            wrong(
                self,
                message,
                "give `next_hop`, or one of `mac`, `local` and `discard`; where a file that is extended gives `mac`, say `mac = \"arp\"`",
            );
            return None;
        }
        if !has_task(file, "arp") {
            let message = "nobody finds the next hop's address on the link".to_owned();
            wrong(
                self,
                message,
                "add \"arp\" to `tasks` in [gpp], or give the address as `mac`",
            );
            return None;
        }
        let address = typed.get_ref().parse().ok();
        let Some(address) = address.filter(|it: &Ipv4Addr| is_host(*it)) else {
            let message = format!("`{}` is not the address of a next hop", typed.get_ref());
            wrong(
                self,
                message,
                "write an IPv4 address of a single host such as `10.1.0.2`",
            );
            return None;
        };
        if { self.addresses.iter().flatten() }.any(|own| own.address == address) {
            let message = format!("{address} is the router's own address");
            wrong(
                self,
                message,
                "give the address of the router or host that is next",
            );
            return None;
        }
        let gateway = Gateway {
            port,
            address,
            mtu: section.mtu.unwrap_or(1500),
            source: self
                .macs
                .get(usize::from(port))
                .copied()
                .unwrap_or_default(),
        };
        if !self.gateways.contains(&gateway) {
            self.gateways.push(gateway);
        }
        Some(gateway.next_hop())
    }

    /// The router's own addresses by port; several are those of the routers of a chain.
    #[must_use]
    pub fn addresses(&self) -> &[Vec<PortAddress>] {
        &self.addresses
    }

    /// Own addresses that the routing table has as such.
    #[must_use]
    pub fn own_addresses(&self) -> &[OwnAddress] {
        &self.own
    }

    /// What is typed at a port.
    pub(super) fn port_addresses(
        &mut self,
        typed: Option<&Spanned<Addresses>>,
    ) -> Vec<PortAddress> {
        let Some(typed) = typed else {
            return Vec::new();
        };
        let texts = match typed.get_ref() {
            Addresses::One(text) => std::slice::from_ref(text),
            Addresses::Several(texts) => texts,
        };
        if texts.is_empty() {
            self.fail(
                typed.span(),
                "a port has no address",
                "",
                "leave `address` out, or give one address for each router of a chain",
            );
        }
        let mut addresses = Vec::new();
        for text in texts {
            match parse_address(text) {
                Some(address) => addresses.push(address),
                None => self.fail(
                    typed.span(),
                    format!("`{text}` is not the address of a port"),
                    "",
                    "write an IPv4 address of a single host such as `10.1.0.1`, or `10.1.0.1/16` with its network",
                ),
            }
        }
        addresses
    }

    /// Adds the routes of the own addresses, but for those that the project has typed.
    pub(super) fn own_routes(&mut self, routes: &mut Vec<Route>) {
        let typed = RouteTable::build(routes);
        let otherwise = |address: Ipv4Addr| {
            let table = typed.as_ref().ok();
            let index = table.and_then(|table| table.lookup(address.to_bits()));
            let words = index.zip(table).map(|(index, table)| {
                let first = usize::from(index) * NEXT_HOP_LONGWORDS;
                let mut words = [0; NEXT_HOP_LONGWORDS];
                words.copy_from_slice(&table.next_hops()[first..first + NEXT_HOP_LONGWORDS]);
                words
            });
            words.unwrap_or_default()
        };
        let local = NextHop {
            port: 0,
            mtu: 1500,
            local: true,
            discard: false,
            destination: [0; 6],
            source: self.macs.first().copied().unwrap_or_default(),
        };
        let given = routes.len();
        for addresses in &self.addresses {
            for (node, own) in addresses.iter().enumerate() {
                let prefix = own.address.to_bits();
                let is_there = |route: &Route| route.prefix == prefix && route.length == 32;
                if routes[..given].iter().any(is_there) {
                    continue;
                }
                self.own.push(OwnAddress {
                    address: own.address,
                    node: (addresses.len() > 1).then_some(node),
                    otherwise: otherwise(own.address),
                });
                if !routes.iter().any(is_there) {
                    routes.push(Route {
                        prefix,
                        length: 32,
                        next_hop: local,
                    });
                }
            }
        }
    }
}

/// Whether an address may be that of a single host.
fn is_host(address: Ipv4Addr) -> bool {
    !matches!(address.octets()[0], 0 | 127 | 224..)
}

/// `10.1.0.1` or `10.1.0.1/16`, an address of a single host.
fn parse_address(text: &str) -> Option<PortAddress> {
    let (address, length) = match parse_prefix(text) {
        Some((address, length)) => (Ipv4Addr::from_bits(address), length),
        None => (text.parse().ok()?, 32),
    };
    let host = u32::MAX.checked_shr(length.into()).unwrap_or(0);
    let in_network = address.to_bits() & host;
    let broadcast = length < 31 && (in_network == 0 || in_network == host);
    let good = length <= 32 && is_host(address) && !broadcast;
    good.then_some(PortAddress { address, length })
}

#[cfg(test)]
mod tests {
    use super::parse_address;

    #[test]
    fn addresses_are_those_of_single_hosts() {
        for (text, length) in [("10.1.0.1", 32), ("10.1.0.1/16", 16), ("10.1.0.0/31", 31)] {
            assert_eq!(
                parse_address(text).map(|it| it.length),
                Some(length),
                "{text}"
            );
        }
        for wrong in [
            "",
            "10.1.0",
            "10.1.0.1/",
            "10.1.0.1/33",
            "10.1.0.0/24",
            "10.1.0.255/24",
            "0.0.0.1",
            "127.0.0.1",
            "224.0.0.1",
            "255.255.255.255",
        ] {
            assert_eq!(parse_address(wrong), None, "{wrong}");
        }
    }
}
