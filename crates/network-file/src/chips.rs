//! The projects of chips in a network: their ports are as fast as their links, and their routes are derived from the
//! network.

use std::net::Ipv4Addr;

use npsim_net::load::Prefix;
use npsim_project::assemble::{Messages, Program};
use npsim_project::problem::{Problem, Problems};
use npsim_project::resolve::PortAddress;
use npsim_project::{
    NetworkHop, NetworkRoute, NetworkRoutes, Overrides, Project, Registry, Setting,
};

use crate::file::{ChipPlan, NetworkFile};
use npsim_network::chips::System;
use npsim_network::ethernet::{Mac, generated_mac};
use npsim_network::routes::Routes;
use npsim_network::stack_addresses;
use npsim_network::topology::{NodeKind, Topology};

/// Function that assembles the programs of a project: returns those of its microengines unless there are errors, and
/// the assembler's messages.
pub type Assemble<'a> = &'a dyn Fn(&Project) -> (Option<Vec<Program>>, Messages);

/// Reads the projects of all chips of a network and assembles them, like `assemble_project`.
///
/// # Errors
/// Returns all errors of the first project that has some, or an error for a link at a port that its chip does not
/// have.
pub fn systems(
    file: &NetworkFile,
    registry: &Registry,
    assemble: Assemble<'_>,
) -> Result<Vec<System>, Problems> {
    let topology = &file.topology;
    let mut addresses = Vec::with_capacity(file.chips.len());
    let mut all_asking = Vec::with_capacity(file.chips.len());
    let mut keeping = Vec::with_capacity(file.chips.len());
    // The ports that lead to the hosts are known only once the ports' addresses are.
    let hosts: Vec<_> = { 0..topology.nodes.len() }
        .filter_map(|node| topology.routed(node))
        .map(|(address, length)| NetworkRoute {
            prefix: Prefix::new(address, length),
            hop: NetworkHop {
                port: 0,
                mac: generated_mac(0),
                next_hop: None,
            },
        })
        .collect();
    for plan in &file.chips {
        // The destinations of its own routes are known only once all ports are.
        let first = if plan.keeps_routes {
            Vec::new()
        } else {
            hosts.clone()
        };
        let overrides = Overrides {
            routes: Some(NetworkRoutes::Given(first)),
            ..plan.overrides.clone()
        };
        let project = load(plan, &overrides, registry, topology)?;
        let count = project.macs.len();
        if let Some((port, place)) = plan.ports.iter().find(|(port, _)| *port >= count) {
            let message = format!("there is no port {port}");
            let problem = Problem::new(message).at(place.clone());
            return Err(problem
                .help(match count {
                    0 => "the project has no ports".to_owned(),
                    count => format!("the router has ports 0 to {}", count - 1),
                })
                .into());
        }
        let has_task = |name: &str| { project.boot.tasks.iter() }.any(|task| task.name() == name);
        let asks = has_task("arp");
        keeping.push(has_task("routes"));
        all_asking.push(if asks { project.addresses } else { Vec::new() });
        addresses.push(project.macs);
    }
    let routes = Routes::of(topology);
    // Returns the chip and the port at the other end of a link.
    let across = |node: usize, link: usize| {
        let peer = peer(topology, node, link);
        let at = file.chips.iter().position(|plan| plan.node == peer)?;
        let mut ports = topology.ports(peer).iter();
        Some((at, ports.position(|it| *it == Some(link))?))
    };
    let mut systems = Vec::with_capacity(file.chips.len());
    for ((plan, asking), keeps) in file.chips.iter().zip(&all_asking).zip(keeping) {
        let ports = topology.ports(plan.node);
        let neighbours: Vec<_> = { ports.iter() }
            .map(|link| {
                let Some(link) = *link else {
                    return generated_mac(plan.node);
                };
                let chip = across(plan.node, link);
                { chip.and_then(|(at, port)| addresses[at].get(port).copied()) }
                    .unwrap_or_else(|| generated_mac(peer(topology, plan.node, link)))
            })
            .collect();
        let routes = if plan.keeps_routes {
            let chips = ports.iter().enumerate().filter_map(|(port, link)| {
                let (at, other) = across(plan.node, (*link)?)?;
                Some(NetworkHop {
                    port: port as u8,
                    mac: neighbours[port],
                    next_hop: asked(asking.get(port), all_asking[at].get(other)),
                })
            });
            NetworkRoutes::Own(chips.collect())
        } else {
            let routes = routes_of(plan.node, topology, &routes, &neighbours, asking);
            NetworkRoutes::Given(routes)
        };
        let mut set = plan.overrides.set.clone();
        for (port, link) in ports.iter().enumerate() {
            let Some(link) = link else { continue };
            let rate = topology.links[*link].lines[0].rate;
            let rate = Setting::new(&format!("port.{port}.rate"), &format!("{rate}bps"));
            set.extend(rate.ok());
        }
        let overrides = Overrides {
            set,
            routes: Some(routes.clone()),
            route_blocks: file.route_blocks.filter(|_| keeps),
            ..plan.overrides.clone()
        };
        let project = load(plan, &overrides, registry, topology)?;
        let (programs, messages) = assemble(&project);
        let Some(programs) = programs else {
            let name = &topology.nodes[plan.node].name;
            let problem = Problem::new(format!(
                "the microcode of `{name}` does not assemble:\n{}",
                messages.rendered.join("\n")
            ));
            return Err(problem.at(plan.place.clone()).into());
        };
        systems.push(System {
            node: plan.node,
            project,
            programs,
            routes,
            neighbours,
        });
    }
    stack_addresses::addresses(topology, &systems).map_err(|error| {
        let mut stacks = file.stacks.iter();
        let problem = Problem::new(error.to_string()).help(
            "give the hosts on one link addresses with a common prefix that no host behind its router has",
        );
        match stacks.find(|it| it.node == error.node) {
            Some(stack) => problem.at(stack.place.clone()),
            None => problem,
        }
    })?;
    Ok(systems)
}

fn load(
    plan: &ChipPlan,
    overrides: &Overrides,
    registry: &Registry,
    topology: &Topology,
) -> Result<Project, Problems> {
    let project = Project::load(&plan.system, overrides, registry);
    project.map_err(|Problems(problems)| {
        let name = &topology.nodes[plan.node].name;
        let placed = problems.into_iter().map(|problem| match &problem.excerpt {
            None => problem.at(plan.place.clone()),
            Some(_) => problem.note(format!("it is the project of `{name}` in the network")),
        });
        Problems(placed.collect())
    })
}

/// Returns routes to each host's address or open end's prefix, through the port at which the path to it begins. A
/// host on the network of that port is its own next hop, which a router resolves by ARP if it `asks` with such
/// addresses.
fn routes_of(
    node: usize,
    topology: &Topology,
    routes: &Routes,
    neighbours: &[Mac],
    asks: &[Vec<PortAddress>],
) -> Vec<NetworkRoute> {
    let ports = topology.ports(node);
    let hosts = 0..topology.nodes.len();
    let routes = hosts.filter_map(|host| {
        let (address, length) = topology.routed(host)?;
        let link = routes.line(node, host)? / 2;
        let port = ports.iter().position(|it| *it == Some(link))?;
        Some(NetworkRoute {
            prefix: Prefix::new(address, length),
            hop: NetworkHop {
                port: port as u8,
                mac: if topology.is_open(host) && is_on_link(topology, routes, node, host) {
                    generated_mac(host)
                } else {
                    neighbours[port]
                },
                next_hop: { asks.get(port).into_iter().flatten() }
                    .any(|own| {
                        own.link_contains(address) && is_on_link(topology, routes, node, host)
                    })
                    .then_some(address),
            },
        })
    });
    routes.collect()
}

/// Returns the node at the other end of a link.
fn peer(topology: &Topology, node: usize, link: usize) -> usize {
    let ends = topology.links[link].ends;
    ends[usize::from(ends[0] == node)]
}

/// Returns the address that a router with addresses `own` on its port requests by ARP, out of those of the other
/// router.
fn asked(own: Option<&Vec<PortAddress>>, others: Option<&Vec<PortAddress>>) -> Option<Ipv4Addr> {
    let own = own?;
    let mut others = others?.iter().map(|other| other.address);
    others.find(|address| own.iter().any(|own| own.link_contains(*address)))
}

/// Whether there are only switches between a node and a host.
fn is_on_link(topology: &Topology, routes: &Routes, node: usize, host: usize) -> bool {
    let mut at = node;
    while let Some(line) = routes.line(at, host) {
        at = topology.links[line / 2].ends[1 - line % 2];
        if at == host {
            return true;
        }
        if !matches!(topology.nodes[at].kind, NodeKind::Switch) {
            return false;
        }
    }
    false
}
