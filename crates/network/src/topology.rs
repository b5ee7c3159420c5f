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

/// A network before it runs. Nodes, links and flows are named by their places in the lists.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Topology {
    /// Hosts, switches and routers.
    pub nodes: Vec<Node>,
    /// What joins them.
    pub links: Vec<Link>,
    /// What the hosts send to each other.
    pub flows: Vec<Flow>,
    /// Of the open ends, those at which a host with a [stack](npsim_stack) is.
    pub stacks: Vec<usize>,
    /// What these exchange.
    pub transfers: Vec<Transfer>,
    /// The CPUs of the hosts that have one; what others do takes no time.
    pub cpus: Vec<HostCpu>,
    /// Draws all that is random; each flow and line has a stream of its own under it.
    pub seed: u64,
}

impl Topology {
    /// What a line is called: its link's name, with `back` behind it for the way from the link's
    /// second end.
    #[must_use]
    pub fn line_name(&self, line: usize) -> String {
        let name = &self.links[line / 2].name;
        if line.is_multiple_of(2) {
            name.clone()
        } else {
            format!("{name} back")
        }
    }

    /// The parameters of a line: link n has lines 2 n and 2 n + 1.
    #[must_use]
    pub fn line(&self, line: usize) -> &LineParameters {
        &self.links[line / 2].lines[line % 2]
    }

    /// The node that packets for an address go to: of those whose prefix has it, the one with
    /// the longest.
    #[must_use]
    pub fn node_of(&self, wanted: Ipv4Addr) -> Option<usize> {
        let length = |node: usize| {
            let (own, length) = self.routed(node)?;
            let has = Prefix::new(own, length).contains(wanted);
            has.then_some(length)
        };
        let nodes = 0..self.nodes.len();
        let found = nodes.filter_map(|node| Some((length(node)?, node)));
        // Of equals the first.
        let found = found.max_by_key(|(length, node)| (*length, std::cmp::Reverse(*node)));
        found.map(|(_, node)| node)
    }

    /// Whether a node is an open end.
    #[must_use]
    pub fn is_open(&self, node: usize) -> bool {
        matches!(self.nodes[node].kind, NodeKind::OpenEnd { .. })
    }

    /// The address of a node, and the length of the prefix that is routed to it.
    #[must_use]
    pub fn routed(&self, node: usize) -> Option<(Ipv4Addr, u8)> {
        match self.nodes[node].kind {
            NodeKind::Host { address } => Some((address, 32)),
            NodeKind::OpenEnd { address } => address,
            _ => None,
        }
    }

    /// The address of a node; `0.0.0.0` if it has none.
    #[must_use]
    pub fn address(&self, node: usize) -> Ipv4Addr {
        self.routed(node)
            .map_or(Ipv4Addr::UNSPECIFIED, |(address, _)| address)
    }

    /// What is on the links of a node, beyond switches, the nearest first.
    #[must_use]
    pub fn on_link(&self, node: usize) -> Vec<usize> {
        let mut seen = vec![false; self.nodes.len()];
        seen[node] = true;
        let mut open = VecDeque::from([node]);
        let mut found = Vec::new();
        while let Some(at) = open.pop_front() {
            for link in self.links.iter().filter(|link| link.ends.contains(&at)) {
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

    /// Whether a node is a router, a model or a chip.
    #[must_use]
    pub fn is_router(&self, node: usize) -> bool {
        let kind = &self.nodes[node].kind;
        matches!(kind, NodeKind::Router { .. } | NodeKind::Chip { .. })
    }

    /// The links at a chip's ports; none if the node is no chip.
    #[must_use]
    pub fn ports(&self, node: usize) -> &[Option<usize>] {
        match &self.nodes[node].kind {
            NodeKind::Chip { ports } => ports,
            _ => &[],
        }
    }

    /// Whether a line can drop or lose packets, or has a chip's queues before it: others only join
    /// nodes.
    #[must_use]
    pub fn is_watched(&self, line: usize) -> bool {
        self.leaves_chip(line) || self.line(line).is_watched()
    }

    /// Whether the queue before a line is a chip's own.
    #[must_use]
    pub fn leaves_chip(&self, line: usize) -> bool {
        let from = self.links[line / 2].ends[line % 2];
        matches!(self.nodes[from].kind, NodeKind::Chip { .. })
    }
}

/// What two hosts with a stack exchange.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Transfer {
    /// The name.
    pub name: String,
    /// The node of the client.
    pub from: usize,
    /// The node of the server.
    pub to: usize,
    /// Requests and responses.
    pub exchange: Exchange,
}

/// What a host computes with.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostCpu {
    /// The host.
    pub node: usize,
    /// The cores; at least one.
    pub cores: usize,
    /// What it needs them for.
    pub cost: CpuCost,
}

/// A node.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Node {
    /// The name.
    pub name: String,
    /// What it does.
    pub kind: NodeKind,
}

/// What a node does with packets.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum NodeKind {
    /// Has the ends of flows.
    Host {
        /// The address.
        address: Ipv4Addr,
    },
    /// Sends and takes whole Ethernet frames: a door to what is no part of the simulation.
    OpenEnd {
        /// The address of what is there, and the length of the prefix that is routed to it. Without one
        /// nothing is: what leaves by a port of a chip at the other end of its link goes to it.
        address: Option<(Ipv4Addr, u8)>,
    },
    /// Passes packets on at once.
    Switch,
    /// Passes packets on after a while and applies its law where they leave.
    Router {
        /// What it does for congestion control, at each line that leaves it.
        law: RouterLaw,
        /// Time from the last bit of a packet to its place in a queue.
        delay: Time,
    },
    /// A whole chip with its microcode, which has the queues before the lines that leave it.
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
        /// What an operator sets; the capacity is that of each line unless one is given.
        parameters: xcp::control::XcpSettings,
        /// A capacity in bytes per second in place of the line's.
        capacity: Option<u64>,
        /// Where feedback is given.
        stamp: FeedbackPoint,
    },
    /// XCP as a TCP option, in packets; feedback is given behind the queue.
    XcpOption {
        /// What an operator sets; the capacity is that of each line unless one is given.
        parameters: xcp::control::XcpSettings,
        /// A capacity in bytes per second in place of the line's.
        capacity: Option<u64>,
        /// How windows and feedback stand in the option.
        format: PacketFormat,
        /// Unit of the option's round-trip times.
        rtt_unit: Time,
    },
    /// RCP; parameters that depend on the capacity follow from that of each line.
    Rcp {
        /// What an operator sets; capacity, target and first rate are scaled to the line's.
        parameters: rcp::rate::RcpSettings,
    },
    /// Quick-Start.
    QuickStart {
        /// Share of the line that may be granted up to, parts per million.
        threshold: u32,
        /// How long a grant counts at least: a window.
        window: Time,
        /// Windows of which the busiest counts.
        samples: u8,
    },
}

/// Where a router gives feedback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum FeedbackPoint {
    /// Before the queue, as the shipped microcode does.
    Arrival,
    /// Behind the queue, as the draft says.
    #[default]
    Departure,
}

/// A link: a line each way.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Link {
    /// The name.
    pub name: String,
    /// The nodes at its ends.
    pub ends: [usize; 2],
    /// The lines from the first end to the second, and back.
    pub lines: [LineParameters; 2],
}

/// One direction of a link, with the queue before it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct LineParameters {
    /// Bits per second.
    pub rate: u64,
    /// Time from the last bit's departure to its arrival.
    pub delay: Time,
    /// Bytes on the line besides each IP packet.
    pub overhead: u32,
    /// Bytes of IP to which a shorter packet is padded.
    pub least: u32,
    /// What waits before it.
    pub queue: QueueParameters,
    /// What is lost on it.
    pub loss: Loss,
    /// When it is down, from one time until another: what begins to leave then is lost.
    pub down: Vec<(Time, Time)>,
    /// What is late, and overtaken; none on a line to or from a chip.
    pub reorder: Option<Reorder>,
}

impl LineParameters {
    /// A line that loses nothing, with an endless queue before it.
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

    /// Time of `bytes` of IP on the line, rounded up to a picosecond.
    #[must_use]
    pub fn time(&self, bytes: u32) -> Time {
        let bytes = bytes.max(self.least);
        let bits = (u128::from(bytes) + u128::from(self.overhead)) * 8;
        let time =
            (bits * u128::from(npsim_transport::time::SECOND)).div_ceil(self.rate.max(1).into());
        Time::try_from(time).unwrap_or(Time::MAX)
    }

    /// Capacity in bytes of the line per second.
    #[must_use]
    pub const fn capacity(&self) -> u64 {
        self.rate / 8
    }
}

/// A queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueParameters {
    /// What it holds besides the packet on the line.
    pub limit: QueueLimit,
    /// Random early detection; none: a FIFO that drops what finds no room.
    pub red: Option<Red>,
}

/// The room of a queue.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub enum QueueLimit {
    /// Endless.
    None,
    /// A number of packets.
    Packets(u64),
    /// A number of bytes.
    Bytes(u64),
}

/// Random early detection (Floyd and Jacobson). Lengths are in packets or bytes, as the queue's limit
/// is; fractions in parts per million.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Red {
    /// Average length from which on packets are dropped.
    pub least: u64,
    /// Average length from which on all are, unless `gentle`.
    pub most: u64,
    /// Weight of the present length in the average.
    pub weight: u32,
    /// Chance of a drop as the average comes to `most`.
    pub chance: u32,
    /// From `most` to twice of it the chance grows to 1.
    pub gentle: bool,
    /// Bytes of a typical packet: the average of an idle queue decays as if they were sent.
    pub packet: u32,
}

/// What a line loses.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub enum Loss {
    /// No loss.
    #[default]
    None,
    /// Each packet with a chance in parts per million.
    Random(u32),
    /// The packets of these numbers, from 0 on, in order.
    Numbers(Vec<u64>),
}

/// Packets that take longer on a line than others.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct Reorder {
    /// The chance of each, in parts per million.
    pub chance: u32,
    /// How much longer.
    pub by: Time,
}

/// What a flow sends, and by which rules.
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
    /// Time to live of what its sender sends; none: 64.
    pub ttl: Option<u8>,
    /// How it sends.
    pub transport: Transport,
}

/// How a flow sends.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub enum Transport {
    /// TCP with a law of congestion control.
    Tcp {
        /// The law.
        scheme: Scheme,
        /// What both hosts are set to.
        host: HostParameters,
        /// What there is to send.
        supply: Supply,
        /// How the receiver answers XCP as a TCP option.
        xcp_option: Option<XcpAnswer>,
    },
    /// RCP's own transport.
    Rcp {
        /// What the hosts are set to.
        host: RcpParameters,
        /// Bytes to send; none: without an end.
        bytes: Option<u64>,
    },
    /// Datagrams at a constant rate, which react to nothing.
    Constant {
        /// Bytes of IP per second.
        rate: u64,
        /// Bytes of IP of each.
        packet: u32,
        /// When it ends.
        until: Option<Time>,
    },
}
