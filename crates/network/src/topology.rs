//! A network as plain data: nodes, the links between them, and the flows that cross them.

use std::collections::VecDeque;
use std::net::Ipv4Addr;

use npsim_net::load::Prefix;
use npsim_protocols::{rcp, xcp};
use npsim_stack::Exchange;
use npsim_transport::pacing::CpuCost;
use npsim_transport::rcp::RcpParameters;
use npsim_transport::time::Time;
use npsim_transport::wire::PacketFormat;
use npsim_transport::{HostParameters, Scheme, Supply, XcpAnswer};
use serde::{Deserialize, Serialize};

/// A network before it runs. Nodes, links and flows are identified by their indices in the lists.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Topology {
    /// Hosts, switches and routers.
    pub nodes: Vec<Node>,
    /// The links between them.
    pub links: Vec<Link>,
    /// The flows between the hosts.
    pub flows: Vec<Flow>,
    /// The open ends at which there is a host with a [stack](npsim_stack).
    pub stacks: Vec<usize>,
    /// The exchanges between these hosts.
    pub transfers: Vec<Transfer>,
    /// The CPUs of the hosts that have one; the work of other hosts takes no time.
    pub cpus: Vec<HostCpu>,
    /// Seed of all randomness; each flow and line has its own stream under it.
    pub seed: u64,
}

impl Topology {
    /// Returns the name of a line: its link's name, followed by `back` for the direction from the
    /// link's second end.
    #[must_use]
    pub fn line_name(&self, line: usize) -> String {
        let name = &self.links[line / 2].name;
        if line.is_multiple_of(2) {
            name.clone()
        } else {
            format!("{name} back")
        }
    }

    /// Returns the parameters of a line: link n has lines 2 n and 2 n + 1.
    #[must_use]
    pub fn line(&self, line: usize) -> &LineParameters {
        &self.links[line / 2].lines[line % 2]
    }

    /// Returns the node to which packets for an address go: the one with the longest matching prefix.
    #[must_use]
    pub fn node_of(&self, wanted: Ipv4Addr) -> Option<usize> {
        let length = |node: usize| {
            let (own, length) = self.routed(node)?;
            let has = Prefix::new(own, length).contains(wanted);
            has.then_some(length)
        };
        let nodes = 0..self.nodes.len();
        let found = nodes.filter_map(|node| Some((length(node)?, node)));
        // The first one among equals.
        let found = found.max_by_key(|(length, node)| (*length, std::cmp::Reverse(*node)));
        found.map(|(_, node)| node)
    }

    /// Whether a node is an open end.
    #[must_use]
    pub fn is_open(&self, node: usize) -> bool {
        matches!(self.nodes[node].kind, NodeKind::OpenEnd { .. })
    }

    /// Returns the address of a node, and the length of the prefix that is routed to it.
    #[must_use]
    pub fn routed(&self, node: usize) -> Option<(Ipv4Addr, u8)> {
        match self.nodes[node].kind {
            NodeKind::Host { address } => Some((address, 32)),
            NodeKind::OpenEnd { address } => address,
            _ => None,
        }
    }

    /// Returns the address of a node; `0.0.0.0` if it has none.
    #[must_use]
    pub fn address(&self, node: usize) -> Ipv4Addr {
        self.routed(node)
            .map_or(Ipv4Addr::UNSPECIFIED, |(address, _)| address)
    }

    /// Returns the nodes on the links of a node, beyond switches, nearest first.
    #[must_use]
    pub fn on_link(&self, node: usize) -> Vec<usize> {
        let links = LinksOfNodes::of(self);
        let mut seen = vec![false; self.nodes.len()];
        seen[node] = true;
        let mut open = VecDeque::from([node]);
        let mut found = Vec::new();
        while let Some(at) = open.pop_front() {
            for number in links.at(at) {
                let link = &self.links[number];
                let other = link.ends[usize::from(link.ends[0] == at)];
                if std::mem::replace(&mut seen[other], true) {
                    continue;
                }
                match self.nodes[other].kind {
                    NodeKind::Switch => open.push_back(other),
                    _ => found.push(other),
                }
            }
        }
        found
    }

    /// Whether a node is a router, packet-level or a chip.
    #[must_use]
    pub fn is_router(&self, node: usize) -> bool {
        let kind = &self.nodes[node].kind;
        matches!(kind, NodeKind::Router { .. } | NodeKind::Chip { .. })
    }

    /// Returns the links at a chip's ports; empty if the node is not a chip.
    #[must_use]
    pub fn ports(&self, node: usize) -> &[Option<usize>] {
        match &self.nodes[node].kind {
            NodeKind::Chip { ports } => ports,
            _ => &[],
        }
    }

    /// Whether a line can drop or lose packets, or belongs to a chip's queue: others only join nodes.
    #[must_use]
    pub fn is_watched(&self, line: usize) -> bool {
        self.leaves_chip(line) || self.line(line).is_watched()
    }

    /// Whether a line's queue is inside a chip.
    #[must_use]
    pub fn leaves_chip(&self, line: usize) -> bool {
        let from = self.links[line / 2].ends[line % 2];
        matches!(self.nodes[from].kind, NodeKind::Chip { .. })
    }
}

/// The links of each node, in the order of their numbers.
#[derive(Debug)]
pub(crate) struct LinksOfNodes {
    /// Where the links of each node begin, and at the end where the last ones end.
    begins: Vec<usize>,
    links: Vec<usize>,
}

impl LinksOfNodes {
    pub(crate) fn of(topology: &Topology) -> Self {
        // A link of a node to itself is listed once.
        let ends = |link: &Link| {
            let [a, b] = link.ends;
            [Some(a), (b != a).then_some(b)].into_iter().flatten()
        };
        let mut begins = vec![0; topology.nodes.len() + 1];
        for end in topology.links.iter().flat_map(ends) {
            begins[end + 1] += 1;
        }
        for node in 0..topology.nodes.len() {
            begins[node + 1] += begins[node];
        }
        let mut next = begins.clone();
        let mut links = vec![0; begins[topology.nodes.len()]];
        for (number, link) in topology.links.iter().enumerate() {
            for end in ends(link) {
                links[next[end]] = number;
                next[end] += 1;
            }
        }
        Self { begins, links }
    }

    /// Returns the numbers of a node's links.
    pub(crate) fn at(&self, node: usize) -> impl Iterator<Item = usize> + '_ {
        self.links[self.begins[node]..self.begins[node + 1]]
            .iter()
            .copied()
    }
}

/// An exchange between two hosts with a stack.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transfer {
    /// The name.
    pub name: String,
    /// The node of the client.
    pub from: usize,
    /// The node of the server.
    pub to: usize,
    /// The requests and responses.
    pub exchange: Exchange,
}

/// The CPU of a host.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostCpu {
    /// The host.
    pub node: usize,
    /// Number of cores; at least one.
    pub cores: usize,
    /// Cost of its work.
    pub cost: CpuCost,
}

/// A node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// The name.
    pub name: String,
    /// Kind of the node.
    pub kind: NodeKind,
}

/// What a node does with packets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum NodeKind {
    /// A host with endpoints of flows.
    Host {
        /// The address.
        address: Ipv4Addr,
    },
    /// Sends and takes complete Ethernet frames: a gateway to the world outside of the simulation.
    OpenEnd {
        /// The address outside, and the length of the prefix that is routed to it. Without an address
        /// nothing is routed there, and it takes the frames that leave by a chip's port at the other
        /// end of its link.
        address: Option<(Ipv4Addr, u8)>,
    },
    /// Forwards packets without delay.
    Switch,
    /// Forwards packets after a delay and applies its law where they leave.
    Router {
        /// Its congestion control law, at each line that leaves it.
        law: RouterLaw,
        /// Time from the last bit of a packet to its entry into a queue.
        delay: Time,
    },
    /// A whole chip with its microcode, which implements the queues of the lines that leave it.
    Chip {
        /// The link at each port, from port 0 on.
        ports: Vec<Option<usize>>,
    },
}

/// What a router does to packets besides queueing them.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum RouterLaw {
    /// No law.
    #[default]
    None,
    /// XCP.
    Xcp {
        /// Parameters set by the operator; the capacity is that of each line unless one is given.
        parameters: xcp::control::XcpSettings,
        /// Capacity in bytes per second, instead of the line's.
        capacity: Option<u64>,
        /// Where feedback is given.
        stamp: FeedbackPoint,
    },
    /// XCP as a TCP option, in packets; feedback is given after the queue.
    XcpOption {
        /// Parameters set by the operator; the capacity is that of each line unless one is given.
        parameters: xcp::control::XcpSettings,
        /// Capacity in bytes per second, instead of the line's.
        capacity: Option<u64>,
        /// Encoding of windows and feedback in the option.
        format: PacketFormat,
        /// Unit of the option's round-trip times.
        rtt_unit: Time,
    },
    /// RCP; parameters that depend on the capacity are derived from that of each line.
    Rcp {
        /// Parameters set by the operator; capacity, target and initial rate are scaled to the line's.
        parameters: rcp::rate::RcpSettings,
    },
    /// Quick-Start.
    QuickStart {
        /// Share of the line up to which requests are granted, in parts per million.
        threshold: u32,
        /// Minimum time for which a grant counts: a window.
        window: Time,
        /// Number of windows, of which the busiest counts.
        samples: u8,
    },
}

/// Where a router gives feedback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum FeedbackPoint {
    /// Before the queue, as the shipped microcode does.
    Arrival,
    /// After the queue, as in the draft.
    #[default]
    Departure,
}

/// A link: one line in each direction.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// The name.
    pub name: String,
    /// The nodes at its ends.
    pub ends: [usize; 2],
    /// The lines from the first end to the second, and back.
    pub lines: [LineParameters; 2],
}

/// One direction of a link, with its queue.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineParameters {
    /// Bits per second.
    pub rate: u64,
    /// Time from the last bit's departure to its arrival.
    pub delay: Time,
    /// Bytes on the line besides each IP packet.
    pub overhead: u32,
    /// IP bytes to which shorter packets are padded.
    pub least: u32,
    /// Its queue.
    pub queue: QueueParameters,
    /// Its losses.
    pub loss: Loss,
    /// Periods in which it is down, from one time until another: frames that begin to leave then are
    /// lost.
    pub down: Vec<(Time, Time)>,
    /// Frames that are late and overtaken; `None` on a line to or from a chip.
    pub reorder: Option<Reorder>,
}

impl LineParameters {
    /// Returns the parameters of a lossless line with an unlimited queue.
    #[must_use]
    pub const fn new(rate: u64, delay: Time) -> Self {
        Self {
            rate,
            delay,
            overhead: 0,
            least: 0,
            queue: QueueParameters {
                limit: QueueLimit::None,
                red: None,
            },
            loss: Loss::None,
            down: Vec::new(),
            reorder: None,
        }
    }

    /// Whether it can drop or lose something: other lines only join nodes.
    #[must_use]
    pub fn is_watched(&self) -> bool {
        self.queue.limit != QueueLimit::None || self.loss != Loss::None || !self.down.is_empty()
    }

    /// Returns the time of `bytes` IP bytes on the line, rounded up to a picosecond.
    #[must_use]
    pub fn time(&self, bytes: u32) -> Time {
        let bytes = bytes.max(self.least);
        let bits = (u128::from(bytes) + u128::from(self.overhead)) * 8;
        let time =
            (bits * u128::from(npsim_transport::time::SECOND)).div_ceil(self.rate.max(1).into());
        Time::try_from(time).unwrap_or(Time::MAX)
    }

    /// Returns the capacity in bytes on the line per second.
    #[must_use]
    pub const fn capacity(&self) -> u64 {
        self.rate / 8
    }
}

/// The parameters of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueParameters {
    /// Its capacity, besides the packet on the line.
    pub limit: QueueLimit,
    /// Random early detection; `None` for a FIFO with tail drop.
    pub red: Option<Red>,
}

/// The capacity of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum QueueLimit {
    /// Unlimited.
    None,
    /// A number of packets.
    Packets(u64),
    /// A number of bytes.
    Bytes(u64),
}

/// Random early detection (Floyd and Jacobson). Lengths are in packets or bytes, like the queue's
/// limit; fractions are in parts per million.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Red {
    /// Average length from which packets may be dropped.
    pub least: u64,
    /// Average length from which all packets are dropped, unless `gentle`.
    pub most: u64,
    /// Weight of the current length in the average.
    pub weight: u32,
    /// Drop probability as the average approaches `most`.
    pub chance: u32,
    /// Whether the probability grows to 1 between `most` and twice `most`.
    pub gentle: bool,
    /// Bytes of a typical packet: the average of an idle queue decays as if such packets were sent.
    pub packet: u32,
}

/// The losses of a line.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Loss {
    /// No loss.
    #[default]
    None,
    /// Each packet with this probability, in parts per million.
    Random(u32),
    /// The packets with these numbers, counted from 0, in ascending order.
    Numbers(Vec<u64>),
}

/// Extra delay of some packets on a line.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reorder {
    /// Probability for each packet, in parts per million.
    pub chance: u32,
    /// The extra delay.
    pub by: Time,
}

/// A flow: its ends and its transport.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Flow {
    /// The name.
    pub name: String,
    /// The node that sends.
    pub from: usize,
    /// The node that receives.
    pub to: usize,
    /// When it opens.
    pub start: Time,
    /// Time to live of its sender's packets; 64 if `None`.
    pub ttl: Option<u8>,
    /// Its transport.
    pub transport: Transport,
}

/// The transport of a flow.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Transport {
    /// TCP with a congestion control scheme.
    Tcp {
        /// The scheme.
        scheme: Scheme,
        /// Parameters of both hosts.
        host: HostParameters,
        /// The data to send.
        supply: Supply,
        /// How the receiver answers XCP as a TCP option.
        xcp_option: Option<XcpAnswer>,
    },
    /// RCP's own transport.
    Rcp {
        /// Parameters of the hosts.
        host: RcpParameters,
        /// Bytes to send; unlimited if `None`.
        bytes: Option<u64>,
    },
    /// Datagrams at a constant rate, without congestion control.
    Constant {
        /// Bytes of IP per second.
        rate: u64,
        /// IP bytes of each datagram.
        packet: u32,
        /// When it stops.
        until: Option<Time>,
    },
}
