//! Routes between the nodes.

use std::collections::VecDeque;

use npsim_transport::time::Time;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::topology::{LinksOfNodes, NodeKind, Topology};

/// A flow without a path for its packets or their answers.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
#[error("no way leads from `{from}` to `{to}`")]
pub struct UnreachableFlow {
    /// The flow.
    pub flow: usize,
    /// Name of the sending node.
    pub from: String,
    /// Name of the node that is not reached.
    pub to: String,
}

/// The first line on the path from each node to each other node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Routes {
    nodes: usize,
    /// By node, then destination; `None` if there is no path.
    first: Vec<Option<u32>>,
}

impl Routes {
    /// Computes the shortest paths by number of links. Among equal ones the choice is deterministic,
    /// but may differ between the two directions. Hosts and open ends do not forward.
    #[must_use]
    pub fn of(topology: &Topology) -> Self {
        let nodes = topology.nodes.len();
        let mut first = vec![None; nodes * nodes];
        let links = LinksOfNodes::of(topology);
        for to in 0..nodes {
            let mut distance = vec![usize::MAX; nodes];
            distance[to] = 0;
            let mut open = VecDeque::from([to]);
            while let Some(at) = open.pop_front() {
                let kind = &topology.nodes[at].kind;
                let is_end = matches!(kind, NodeKind::Host { .. } | NodeKind::OpenEnd { .. });
                if at != to && is_end {
                    continue;
                }
                for number in links.at(at) {
                    let link = &topology.links[number];
                    for (side, line) in [(0, 1), (1, 0)] {
                        // The line towards `at` starts at the other end.
                        let from = link.ends[1 - side];
                        if link.ends[side] == at && distance[from] == usize::MAX {
                            distance[from] = distance[at] + 1;
                            first[from * nodes + to] = Some((number * 2 + line) as u32);
                            open.push_back(from);
                        }
                    }
                }
            }
        }
        Self { nodes, first }
    }

    /// Returns the line on which a node sends packets for another one.
    #[must_use]
    pub fn line(&self, node: usize, to: usize) -> Option<usize> {
        self.first[node * self.nodes + to].map(|line| line as usize)
    }

    /// Returns the lines on the path from one node to another, as far as it leads.
    pub fn lines_between<'a>(
        &'a self,
        topology: &'a Topology,
        from: usize,
        to: usize,
    ) -> impl Iterator<Item = usize> + 'a {
        let mut at = from;
        std::iter::from_fn(move || {
            let line = (at != to).then(|| self.line(at, to))??;
            at = topology.links[line / 2].ends[1 - line % 2];
            Some(line)
        })
    }

    /// Returns the time from a flow's sender to its receiver and back, without queues and transmission
    /// times.
    #[must_use]
    pub fn round_trip(&self, topology: &Topology, flow: usize) -> Time {
        let flow = &topology.flows[flow];
        let there = self.lines_between(topology, flow.from, flow.to);
        let back = self.lines_between(topology, flow.to, flow.from);
        let delays = there.chain(back).map(|line| {
            let from = topology.links[line / 2].ends[line % 2];
            let inside = match topology.nodes[from].kind {
                NodeKind::Router { delay, .. } => delay,
                _ => 0,
            };
            topology.line(line).delay.saturating_add(inside)
        });
        delays.fold(0, Time::saturating_add)
    }

    /// Checks that all flows have a path in both directions.
    ///
    /// # Errors
    /// Returns the first flow that has none.
    pub fn check(&self, topology: &Topology) -> Result<(), UnreachableFlow> {
        for (flow, it) in topology.flows.iter().enumerate() {
            if let Some((from, to)) = self.missing(topology, it.from, it.to) {
                return Err(UnreachableFlow { flow, from, to });
            }
        }
        Ok(())
    }

    /// Returns the names of two nodes, the first of which does not reach the second, if either
    /// direction has no path.
    pub(crate) fn missing(
        &self,
        topology: &Topology,
        from: usize,
        to: usize,
    ) -> Option<(String, String)> {
        let name = |node: usize| topology.nodes[node].name.clone();
        let ways = [(from, to), (to, from)].into_iter();
        let mut missing = ways.filter(|&(from, to)| {
            let mut at = from;
            while at != to {
                let Some(line) = self.line(at, to) else {
                    return true;
                };
                at = topology.links[line / 2].ends[1 - line % 2];
            }
            false
        });
        missing.next().map(|(from, to)| (name(from), name(to)))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::topology::{LineParameters, Link, Node};

    fn node(name: &str, host: bool) -> Node {
        let kind = if host {
            NodeKind::Host {
                address: [10, 0, 0, 1].into(),
            }
        } else {
            NodeKind::Switch
        };
        Node {
            name: name.to_owned(),
            kind,
        }
    }

    fn link(a: usize, b: usize) -> Link {
        let line = LineParameters::new(1_000_000, 0);
        Link {
            name: format!("{a}-{b}"),
            ends: [a, b],
            lines: [line.clone(), line],
        }
    }

    #[test]
    fn shortest_route_avoids_passing_through_hosts() {
        let topology = Topology {
            nodes: vec![
                node("a", true),
                node("s", false),
                node("t", false),
                node("b", true),
                node("c", true),
            ],
            links: vec![link(0, 1), link(1, 2), link(2, 3), link(0, 4), link(4, 3)],
            ..Topology::default()
        };
        let routes = Routes::of(&topology);
        assert_eq!(routes.line(0, 3), Some(0), "not by c, which is a host");
        assert_eq!(routes.line(3, 0), Some(5));
        assert_eq!(routes.line(1, 3), Some(2));
        assert_eq!(routes.line(2, 0), Some(3));
        assert_eq!(routes.line(0, 4), Some(6));
        assert_eq!(routes.line(1, 4), None);
    }

    /// Numbers of links between all pairs of nodes, by relaxation; packets do not pass through hosts.
    fn distances(topology: &Topology) -> Vec<Vec<Option<usize>>> {
        let nodes = topology.nodes.len();
        let mut all = vec![vec![None; nodes]; nodes];
        for (node, row) in all.iter_mut().enumerate() {
            row[node] = Some(0);
        }
        let ends = topology.links.iter().map(|link| link.ends);
        let hops: Vec<_> = ends.flat_map(|[a, b]| [(a, b), (b, a)]).collect();
        for _ in 0..nodes {
            for &(from, next) in &hops {
                let passes = !matches!(topology.nodes[next].kind, NodeKind::Host { .. });
                for to in (0..nodes).filter(|to| passes || *to == next) {
                    let by_next = all[next][to].map(|rest: usize| rest + 1);
                    all[from][to] = [all[from][to], by_next].into_iter().flatten().min();
                }
            }
        }
        all
    }

    #[test]
    fn routes_are_shortest_paths() {
        let mut random = npsim_net::Random::new(5, 0);
        for _ in 0..50 {
            let count = 2 + random.below(12) as usize;
            let mut end = || random.below(count as u64) as usize;
            // Some links lead from a node to itself, some are doubled.
            let links = (0..3 * count).map(|_| link(end(), end())).collect();
            let topology = Topology {
                nodes: { 0..count }
                    .map(|number| node(&number.to_string(), number % 3 == 0))
                    .collect(),
                links,
                ..Topology::default()
            };
            let (routes, expected) = (Routes::of(&topology), distances(&topology));
            for (from, row) in expected.iter().enumerate() {
                for (to, distance) in row.iter().enumerate() {
                    let lines = routes.lines_between(&topology, from, to);
                    let found =
                        (from == to || routes.line(from, to).is_some()).then(|| lines.count());
                    assert_eq!(found, *distance, "from {from} to {to}");
                }
            }
        }
    }
}
