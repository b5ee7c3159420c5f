//! Hosts with a third-party stack at the open ends of a network.

use npsim_stack::{Host, HostAddress, Role, Task};
use npsim_transport::time::Time;

use crate::topology::Topology;

/// The random streams of stacks, under the seed of a network.
const STREAM: u64 = 0x7374_6163_6b00_0000;

/// A host, and when it is polled.
#[derive(Debug)]
pub struct Stack {
    pub host: Host,
    /// When it has something to do.
    pub due: Option<Time>,
    /// The earliest event posted for it.
    pub armed: Option<Time>,
}

/// The stacks of a network. They are kept outside of its [`Simulation`](crate::Simulation), since
/// their state cannot be saved.
#[derive(Debug, Default)]
pub struct Stacks {
    /// By node; empty if there are none.
    hosts: Vec<Option<Stack>>,
}

impl Stacks {
    /// Creates the stacks of a topology, by node.
    pub fn of(topology: &Topology, addresses: Vec<(usize, HostAddress)>) -> Self {
        let mut hosts = Vec::new();
        for (node, address) in addresses {
            hosts.resize_with(topology.nodes.len(), || None);
            let transfers = topology.transfers.iter().enumerate();
            let tasks = transfers.flat_map(|(number, transfer)| {
                let (from, to) = (transfer.from, transfer.to);
                let sides = [(Role::Client, from, to), (Role::Server, to, from)];
                let here = sides.into_iter().filter(|(_, at, _)| *at == node);
                here.map(move |(role, _, peer)| Task {
                    number,
                    role,
                    exchange: transfer.exchange,
                    peer: topology.address(peer),
                })
            });
            let tasks: Vec<_> = tasks.collect();
            hosts[node] = Some(Stack {
                host: Host::new(&address, &tasks, topology.seed ^ STREAM),
                due: None,
                armed: None,
            });
        }
        Self { hosts }
    }

    /// Returns the stack at a node.
    pub fn at(&mut self, node: usize) -> Option<&mut Stack> {
        self.hosts.get_mut(node)?.as_mut()
    }
}
