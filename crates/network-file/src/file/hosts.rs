//! Hosts of a network file: end hosts, and open ends.

use std::net::Ipv4Addr;
use std::ops::Range;

use npsim_project::problem::{Excerpt, Problem};
use npsim_transport::pacing::CpuCost;
use toml::Spanned;

use super::typed::{self, PlacedText};
use super::{FileReading, MAX_NODES};
use npsim_network::topology::{HostCpu, Node, NodeKind};

/// Most hosts in a group.
const MAX_HOSTS: u64 = MAX_NODES as u64;

/// Kinds of hosts by name.
const KINDS: [(&str, Kind); 2] = [("stack", Kind::Stack), ("interface", Kind::Interface)];

/// The kind of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    /// An end host with endpoints of flows.
    End,
    /// A host with a third-party TCP/IP stack.
    Stack,
    /// A gateway to a network outside of the simulation.
    Interface,
}

/// A host with its place in the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlacedHost {
    /// Its node.
    pub node: usize,
    /// Its place in the file.
    pub place: Excerpt,
}

impl FileReading {
    pub(super) fn hosts(&mut self, host: &typed::HostSection) -> Result<(), Problem> {
        let count = host.count.as_ref().map_or(1, |count| *count.get_ref());
        if let Some(placed) = host
            .count
            .as_ref()
            .filter(|_| !(1..=MAX_HOSTS).contains(&count))
        {
            let message = format!("a group has 1 to {MAX_HOSTS} hosts");
            return Err(self.text.problem(placed.span(), message));
        }
        let kind = match &host.kind {
            None => Kind::End,
            Some(placed) => self.word(placed, "kind of host", &KINDS)?,
        };
        if let Some(placed) = host.kind.as_ref().filter(|_| kind == Kind::Stack)
            && self.quantities.scale != 1
        {
            let message = "a stack has timers of its own, which `scale` does not divide";
            let problem = self.text.problem(placed.span(), message);
            return Err(problem.help("leave `scale` out"));
        }
        self.refuse(kind, "cpu", host.cpu.as_ref().map(Spanned::span))?;
        if kind == Kind::Interface {
            self.refuse(kind, "count", host.count.as_ref().map(Spanned::span))?;
        }
        let first = host.address.as_ref();
        let first = first.map(|placed| self.address(placed, kind)).transpose()?;
        self.name(&host.name, count as usize)?;
        let cpu = host.cpu.as_ref().map(Spanned::get_ref);
        let cpu = cpu.map(|cpu| self.cpu(cpu)).transpose()?;
        for number in 0..count {
            let name = host.name.get_ref();
            let name = if count == 1 {
                name.clone()
            } else {
                format!("{name}{number}")
            };
            let node = self.topology.nodes.len();
            let next = |address| Ipv4Addr::from(u32::from(address).wrapping_add(number as u32));
            let routed = first.map(|(address, length)| (next(address), length));
            if let (Some((address, _)), Some(placed)) = (routed, &host.address) {
                self.check_address(address, placed)?;
            }
            let place = || PlacedHost {
                node,
                place: self.text.excerpt(host.name.span()),
            };
            let kind = match (kind, routed) {
                (Kind::End, Some((address, _))) => NodeKind::Host { address },
                (Kind::End | Kind::Stack, None) => {
                    let message = format!("`{name}` has no `address`");
                    let problem = self.text.problem(host.name.span(), message);
                    return Err(problem.help("add for example `address = \"10.0.0.10\"`"));
                }
                (Kind::Stack, address) => {
                    self.stacks.push(place());
                    self.topology.stacks.push(node);
                    NodeKind::OpenEnd { address }
                }
                (Kind::Interface, address) => {
                    self.interfaces.push(place());
                    NodeKind::OpenEnd { address }
                }
            };
            let cpu = cpu.map(|(cores, cost)| HostCpu { node, cores, cost });
            self.topology.cpus.extend(cpu);
            self.topology.nodes.push(Node { name, kind });
        }
        Ok(())
    }

    /// Rejects a key that hosts of a kind do not have.
    fn refuse(&self, kind: Kind, key: &str, span: Option<Range<usize>>) -> Result<(), Problem> {
        let name = KINDS.iter().find(|(_, it)| *it == kind);
        let (Some((name, _)), Some(span)) = (name, span) else {
            return Ok(());
        };
        let message = format!("a [[host]] of the kind `{name}` has no `{key}`");
        let problem = self.text.problem(span, message);
        Err(problem.help(format!("remove `{key}` or `kind`")))
    }

    /// Parses an address, and the length of the prefix routed to it.
    fn address(&self, placed: &PlacedText, kind: Kind) -> Result<(Ipv4Addr, u8), Problem> {
        let text = placed.get_ref();
        let (address, length) = match text.split_once('/') {
            Some((address, length)) if kind == Kind::Interface => (address, length.parse().ok()),
            _ => (text.as_str(), Some(32)),
        };
        let length = length.filter(|length| *length <= 32);
        let address = address.parse().ok();
        address.zip(length).ok_or_else(|| {
            let message = format!("`{text}` is not an IPv4 address");
            let problem = self.text.problem(placed.span(), message);
            problem.help("write for example `10.0.0.10`")
        })
    }

    /// Checks the address of a new host, which is not yet given to another one.
    fn check_address(&mut self, address: Ipv4Addr, placed: &PlacedText) -> Result<(), Problem> {
        // Routers do not forward packets to such an address (RFC 1812, section 5.3.7).
        if !npsim_project::resolve::is_host(address) {
            let message = format!("`{address}` is not the address of a host");
            let problem = self.text.problem(placed.span(), message);
            return Err(problem.help("write for example `10.0.0.10`"));
        }
        if !self.addresses.insert(address) {
            let message = format!("the address {address} is given twice");
            return Err(self.text.problem(placed.span(), message));
        }
        Ok(())
    }

    /// Returns the cores of a CPU, and the cost of its work.
    fn cpu(&self, cpu: &typed::CpuSection) -> Result<(usize, CpuCost), Problem> {
        let cores = cpu.cores.as_ref().map_or(1, |cores| *cores.get_ref());
        if let Some(placed) = cpu.cores.as_ref().filter(|_| !(1..=1024).contains(&cores)) {
            let message = "a CPU has 1 to 1024 cores";
            return Err(self.text.problem(placed.span(), message));
        }
        let time = |placed: &Option<PlacedText>| placed.as_ref().map_or(Ok(0), |it| self.time(it));
        let cost = CpuCost {
            packet: time(&cpu.packet)?,
            timer: time(&cpu.timer)?,
            tick: time(&cpu.tick)?,
            contention: time(&cpu.contention)?,
        };
        Ok((cores as usize, cost))
    }
}
