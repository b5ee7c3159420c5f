//! IPv4 addresses on the router's links: its own addresses (`address` of `[[port]]`) with their
//! routes, and those of next hops (`next_hop` of `[[route]]`).

use std::net::Ipv4Addr;
use std::ops::Range;

use npsim_chip::gpp::boot::of_router;
use npsim_chip::gpp::routes::{NextHop, Route};

use super::super::file::{Addresses, ProjectFile};
use super::super::text::parse_prefix;
use super::port_address::{Gateway, PortAddress};
use super::resolver::Resolver;
use super::routing::{Mistake, TypedRoute};
use crate::keys::Spanned;

/// Value of a route's `mac` if ARP is to find the address.
const FOUND: &str = "arp";

impl Resolver<'_> {
    /// Returns the router's own MAC addresses, by port.
    #[must_use]
    pub fn macs(&self) -> &[[u8; 6]] {
        &self.macs
    }

    /// Returns the next hops given by IPv4 address.
    #[must_use]
    pub fn gateways(&self) -> &[Gateway] {
        &self.gateways
    }

    /// Resolves the next hop of a route that gives its IPv4 address.
    pub(super) fn gateway(
        &mut self,
        has_arp: bool,
        section: &TypedRoute<'_>,
        typed: &Spanned<String>,
        port: u8,
    ) -> Result<NextHop, Mistake> {
        let wrong = |message: String, help| Err(Mistake::new(typed.span(), message, help));
        let mac = section.mac.map(Spanned::get_ref);
        if mac.is_some_and(|mac| mac != FOUND) || section.local || section.discard {
            let message = "the route has both `next_hop` and another destination".to_owned();
            return wrong(
                message,
                "give `next_hop`, or one of `mac`, `local` and `discard`; if an extended file gives `mac`, write `mac = \"arp\"`",
            );
        }
        if !has_arp {
            let message = "no task resolves the next hop's address on the link".to_owned();
            return wrong(
                message,
                "add \"arp\" to `tasks` in [gpp], or give the address as `mac`",
            );
        }
        let address = typed.get_ref().parse().ok();
        let Some(address) = address.filter(|it: &Ipv4Addr| is_host(*it)) else {
            let message = format!("`{}` is not the address of a next hop", typed.get_ref());
            return wrong(
                message,
                "write an IPv4 address of a single host such as `10.1.0.2`",
            );
        };
        if { self.addresses.iter().flatten() }.any(|own| own.address == address) {
            let message = format!("{address} is the router's own address");
            return wrong(message, "give the address of the next router or host");
        }
        let own = self.addresses.get(usize::from(port));
        let own = own.map_or(&[][..], Vec::as_slice);
        // A port without a network leaves its link unspecified.
        let mut links = own.iter().filter(|own| own.length < 32);
        if let Some(link) = links.find(|own| !own.link_contains(address)) {
            let message = match link.end(address) {
                None => format!("{address} is not on the link of port {port}, {link}"),
                Some(end) => format!("{address} is {end} of the link of port {port}, {link}"),
            };
            return wrong(
                message,
                "give the address of a router or host on the network in `address` of the port",
            );
        }
        let gateway = Gateway {
            port,
            address,
            mtu: section.mtu.map_or(1500, |mtu| *mtu.get_ref()),
            source: self
                .macs
                .get(usize::from(port))
                .copied()
                .unwrap_or_default(),
        };
        if !self.gateways.contains(&gateway) {
            self.gateways.push(gateway);
        }
        Ok(gateway.next_hop())
    }

    /// Returns the router's own addresses by port; several are those of the routers of a chain.
    #[must_use]
    pub fn addresses(&self) -> &[Vec<PortAddress>] {
        &self.addresses
    }

    /// Parses the addresses given for a port.
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

    /// Returns the routes to the router's own addresses, except for those given in the project: for
    /// all routers, or for each router of a chain whose ports have several addresses. They include
    /// the broadcast addresses of the ports' own networks, unless the project allows such packets
    /// to be forwarded: they are for the router, and go no further (RFC 2644). They also include
    /// the networks' first addresses, the former broadcast addresses (RFC 1812, 4.2.3.1).
    pub(super) fn own_routes(&mut self, file: &ProjectFile, typed: &[Route]) -> Vec<Vec<Route>> {
        let local = NextHop {
            port: 0,
            mtu: 1500,
            local: true,
            discard: false,
            destination: [0; 6],
            source: self.macs.first().copied().unwrap_or_default(),
        };
        let several = self.addresses.iter().map(Vec::len).filter(|all| *all > 1);
        let routers = several.clone().max().unwrap_or(1);
        if several.min().is_some_and(|least| least < routers) {
            let fewer = |all: &Vec<_>| all.len() > 1 && all.len() < routers;
            let port = self.addresses.iter().position(fewer).unwrap_or(0);
            let count = self.addresses[port].len();
            self.fail(
                address_span(file, port),
                format!("port {port} has {count} addresses, and another port has {routers}"),
                "",
                "give each port one address for each router of the chain, or one for all of them",
            );
        }
        let forwarded = { file.routes.as_ref() }.is_some_and(|routes| routes.directed_broadcasts);
        let of_typed = |address: Ipv4Addr| {
            let prefix = address.to_bits();
            { typed.iter() }.any(|route| route.prefix == prefix && route.length == 32)
        };
        (0..routers)
            .map(|node| {
                let own = { self.addresses.iter() }.filter_map(|all| of_router(all, node));
                let own: Vec<&PortAddress> = own.collect();
                let networks = own.iter().filter(|own| own.length < 31 && !forwarded);
                let broadcasts = networks.flat_map(|own| {
                    let (first, last) = own.ends();
                    [last, first].map(Ipv4Addr::from_bits)
                });
                { own.iter() }
                    .map(|own| own.address)
                    .chain(broadcasts)
                    .filter(|address| !of_typed(*address))
                    .map(|address| Route {
                        prefix: address.to_bits(),
                        length: 32,
                        next_hop: local,
                    })
                    .collect()
            })
            .collect()
    }

    /// Checks that no two ports of a router have the same address, or addresses in one network.
    pub(super) fn check_addresses(&mut self, file: &ProjectFile) {
        for port in 1..self.addresses.len() {
            for other in 0..port {
                let (these, those) = (&self.addresses[port], &self.addresses[other]);
                // In a list, each router of a chain has one address.
                let at = |all, node| of_router(all, node).map(|own: &PortAddress| own.address);
                let routers = these.len().max(those.len());
                let same = (0..routers).find_map(|node| {
                    let address = at(these, node)?;
                    (at(those, node) == Some(address)).then_some(address)
                });
                if let Some(address) = same {
                    self.fail(
                        address_span(file, port),
                        format!("another port, {other}, has the address {address}"),
                        "",
                        "give each port an address of its own",
                    );
                    break;
                }
                let network = |all, node| {
                    let own = of_router(all, node).copied();
                    own.filter(|own: &PortAddress| own.length < 32)
                };
                let shared = (0..routers).find_map(|node| {
                    let (this, that) = (network(these, node)?, network(those, node)?);
                    let ((first, last), (from, to)) = (this.ends(), that.ends());
                    (first <= to && from <= last).then_some((this, that))
                });
                if let Some((this, that)) = shared {
                    self.fail(
                        address_span(file, port),
                        format!("the network of {this} is also that of {that}, of port {other}"),
                        "",
                        "give each port a network of its own; a longer prefix may separate them",
                    );
                    break;
                }
            }
        }
    }
}

/// Returns the place of a port's addresses in the project file.
fn address_span(file: &ProjectFile, port: usize) -> Range<usize> {
    let typed = file.port.get(port).and_then(|port| port.address.as_ref());
    typed.map_or(0..0, Spanned::span)
}

/// Whether an address can belong to a single host: not in network 0, loopback, multicast or class
/// E. Other broadcast addresses depend on the existing networks.
#[must_use]
pub fn is_host(address: Ipv4Addr) -> bool {
    !matches!(address.octets()[0], 0 | 127 | 224..)
}

/// Parses `10.1.0.1` or `10.1.0.1/16`, an address of a single host.
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
    fn only_host_addresses_are_accepted() {
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
