//! Checks whether a topology is a network that can run.

use npsim_protocols::ParameterError;
use thiserror::Error;

use crate::routes::UnreachableFlow;
use crate::topology::{NodeKind, Topology};

/// A network that cannot run.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NetworkError {
    /// A flow has no path.
    #[error(transparent)]
    Route(#[from] UnreachableFlow),
    /// A transfer has no path.
    #[error("no way leads from `{from}` to `{to}`")]
    Transfer {
        /// Its index.
        number: usize,
        /// Name of the sending node.
        from: String,
        /// Name of the node that is not reached.
        to: String,
    },
    /// An end of a flow or a link is not a suitable node.
    #[error("{what} {number} names node {node}, which {fault}")]
    Node {
        /// `flow`, `link`, `CPU`, `transfer` or `stack`.
        what: &'static str,
        /// Its index.
        number: usize,
        /// The node.
        node: usize,
        /// Why it is unsuitable.
        fault: &'static str,
    },
    /// A parameter of a router's law is out of range.
    #[error("router `{router}`: {error}")]
    Law {
        /// The router's name.
        router: String,
        /// The error.
        error: ParameterError,
    },
    /// A line that never sends.
    #[error("link `{0}` has a rate of 0")]
    Rate(String),
}

/// Checks that everything that is referred to exists.
pub(super) fn check(topology: &Topology) -> Result<(), NetworkError> {
    let fault = |what, number, node, fault| NetworkError::Node {
        what,
        number,
        node,
        fault,
    };
    for (number, link) in topology.links.iter().enumerate() {
        for node in link.ends {
            if node >= topology.nodes.len() {
                return Err(fault("link", number, node, "is not there"));
            }
        }
        if link.ends[0] == link.ends[1] {
            return Err(fault("link", number, link.ends[0], "is at both ends"));
        }
        if link.lines.iter().any(|line| line.rate == 0) {
            return Err(NetworkError::Rate(link.name.clone()));
        }
    }
    for (number, cpu) in topology.cpus.iter().enumerate() {
        match topology.nodes.get(cpu.node) {
            None => return Err(fault("CPU", number, cpu.node, "is not there")),
            Some(it) if !matches!(it.kind, NodeKind::Host { .. }) => {
                return Err(fault("CPU", number, cpu.node, "is not a host"));
            }
            Some(_) => {}
        }
    }
    let ends = { topology.transfers.iter().enumerate() }
        .flat_map(|(number, it)| [(number, it.from), (number, it.to)]);
    for (number, node) in ends {
        if !topology.stacks.contains(&node) {
            return Err(fault("transfer", number, node, "has no stack"));
        }
    }
    for (number, &node) in topology.stacks.iter().enumerate() {
        if node >= topology.nodes.len() || !topology.is_open(node) {
            return Err(fault("stack", number, node, "is not an open end"));
        }
    }
    for (number, flow) in topology.flows.iter().enumerate() {
        for node in [flow.from, flow.to] {
            match topology.nodes.get(node) {
                None => return Err(fault("flow", number, node, "is not there")),
                Some(it) if !matches!(it.kind, NodeKind::Host { .. }) => {
                    return Err(fault("flow", number, node, "is not a host"));
                }
                Some(_) => {}
            }
        }
        if flow.from == flow.to {
            return Err(fault("flow", number, flow.from, "is at both ends"));
        }
    }
    Ok(())
}
