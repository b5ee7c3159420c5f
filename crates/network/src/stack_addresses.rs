//! How hosts with a stack reach others: the nodes on their link, and the router to all others.

use std::collections::BTreeSet;
use std::net::Ipv4Addr;

use npsim_net::load::Prefix;
use npsim_stack::HostAddress;
use thiserror::Error;

use crate::chips::System;
use crate::link_header::generated_mac;
use crate::routes::Routes;
use crate::topology::Topology;

/// Address used by stacks for a router that has no address on their link.
const ROUTER: Ipv4Addr = Ipv4Addr::new(169, 254, 0, 1);

/// A stack that would not reach other hosts, or not be reached by them.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("`{name}` takes `{other}` ({address}) for {taken}")]
pub struct AddressError {
    /// The node of the stack.
    pub node: usize,
    name: String,
    other: String,
    address: Ipv4Addr,
    taken: Taken,
}

/// What a stack would mistake another host for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Error)]
enum Taken {
    #[error("a host on its link, {0}, and it is behind a router")]
    OnLink(Prefix),
    #[error("a host behind the router, since it is not in {0}, and it is on the link")]
    Behind(Prefix),
}

/// Returns the address of each stack by node, with the way to reach others: nodes on its link by ARP,
/// all others by a router there.
///
/// For a chip that answers ARP, the router's address and the link's prefix are those of its port. Any
/// other router has an address that no node has, and the prefix is the shortest one without hosts
/// behind the router.
///
/// # Errors
/// Returns an error if a host is in the prefix but behind the router, or on the link but not in the
/// prefix.
pub fn addresses(
    topology: &Topology,
    systems: &[System],
) -> Result<Vec<(usize, HostAddress)>, AddressError> {
    let routes = Routes::of(topology);
    let stacks = topology.stacks.iter();
    let addresses = stacks.map(|&node| Ok((node, address(topology, &routes, systems, node)?)));
    addresses.collect()
}

fn address(
    topology: &Topology,
    routes: &Routes,
    systems: &[System],
    node: usize,
) -> Result<HostAddress, AddressError> {
    let own = topology.address(node);
    let near = topology.on_link(node);
    let router = near.iter().copied().find(|it| topology.is_router(*it));
    let on_link: BTreeSet<usize> = near.into_iter().collect();
    let hosts = 0..topology.nodes.len();
    let hosts = hosts.filter(|it| *it != node && topology.routed(*it).is_some());
    let (near, far): (Vec<usize>, Vec<usize>) = hosts.partition(|it| on_link.contains(it));
    let has = |length: u8, host: &usize| Prefix::new(own, length).contains(topology.address(*host));
    let mut permanent = Vec::new();
    let mut gateway = router.map(|_| ROUTER);
    let mut lengths = 0..32;
    let shortest = lengths.find(|length| !far.iter().any(|host| has(*length, host)));
    let mut prefix = shortest.unwrap_or(32);
    let system = systems.iter().find(|system| Some(system.node) == router);
    if let Some(system) = system
        && let Some(link) = routes.line(system.node, node).map(|line| line / 2)
    {
        let ports = topology.ports(system.node);
        let port = ports.iter().position(|it| *it == Some(link)).unwrap_or(0);
        let answers = { system.project.boot.tasks.iter() }.any(|task| task.name() == "arp");
        let mut on_port = system.project.addresses.get(port).into_iter().flatten();
        match on_port.find(|port| answers && port.link_contains(own)) {
            Some(port) => {
                gateway = Some(port.address);
                prefix = port.length;
            }
            None => permanent.extend(system.project.macs.get(port).map(|mac| (ROUTER, *mac))),
        }
    }
    let of = Prefix::new(own, prefix);
    let wrong = { near.iter() }
        .find(|host| !has(prefix, host))
        .map(|host| (*host, Taken::Behind(of)))
        .or_else(|| {
            let host = far.iter().find(|host| has(prefix, host))?;
            Some((*host, Taken::OnLink(of)))
        });
    if let Some((other, taken)) = wrong {
        return Err(AddressError {
            node,
            name: topology.nodes[node].name.clone(),
            other: topology.nodes[other].name.clone(),
            address: topology.address(other),
            taken,
        });
    }
    Ok(HostAddress {
        mac: generated_mac(node),
        address: own,
        prefix,
        gateway,
        permanent,
    })
}
