//! Dumbbells: senders, a router, a bottleneck, receivers.

use npsim_network::topology::{
    FeedbackPoint, Flow, LineParameters, Link, Loss, Node, NodeKind, QueueLimit, Red, RouterLaw,
    Topology, Transport,
};
use npsim_protocols::xcp::control::XcpSettings;
use npsim_transport::control::{XcpLoss, XcpParameters};
use npsim_transport::time::{MILLISECOND, SECOND, Time};
use npsim_transport::{HostParameters, RtoParameters, Scheme, Supply};

/// The queue before the bottleneck, and the router's scheme.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Discipline {
    Fifo,
    Red,
    Xcp,
}

/// The side of the bottleneck on which a second, tighter one is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Side {
    Before,
    After,
}

/// A dumbbell of the slides on XCP in Linux: 10 Mb/s, 500 ms, two bandwidth-delay products of queue, all
/// times divided and rates multiplied by `k`.
#[derive(Clone, Debug)]
pub struct Dumbbell {
    pub discipline: Discipline,
    /// Round-trip times of the flows.
    pub rtts: Vec<Time>,
    /// When each flow opens.
    pub starts: Vec<Time>,
    /// Bits per second of the bottleneck.
    pub rate: u64,
    /// Bandwidth-delay products of the queue, in tenths, for 500 ms.
    pub queue: u64,
    /// The capacity that XCP assumes, in parts per thousand of the real one.
    pub capacity: u64,
    /// A FIFO of 100 packets at 5 Mb/s that is not an XCP router.
    pub second: Option<Side>,
    /// Packets that the bottleneck's line loses, parts per million.
    pub loss: u32,
    pub sack: bool,
    /// Bytes of payload that a receiver has room for.
    pub buffer: u32,
    pub k: u64,
    pub seed: u64,
}

/// The link with the bottleneck is the first; its line 0 is the bottleneck.
pub const BOTTLENECK: usize = 0;
/// The line of the second bottleneck, if there is one.
pub const SECOND_BOTTLENECK: usize = 2;
const PACKET: u32 = 1_000;
/// Of the second bottleneck: bits per second and packets.
const SECOND_RATE: u64 = 5_000_000;
const SECOND_QUEUE: u64 = 100;

impl Dumbbell {
    pub fn new(discipline: Discipline) -> Self {
        Self {
            discipline,
            rtts: vec![500 * MILLISECOND; 4],
            starts: vec![0; 4],
            rate: 10_000_000,
            queue: 20,
            capacity: 1_000,
            second: None,
            loss: 0,
            sack: true,
            buffer: 64 << 20,
            k: 1,
            seed: 1,
        }
    }

    /// The rig with other starts: each flow up to half a second later, never the same in two runs. The
    /// window at which an overshoot ends depends on who came first by a packet, so one run says little.
    pub fn run(mut self, run: u64) -> Self {
        for (flow, start) in (0..).zip(&mut self.starts) {
            let late = flow * (37 + 60 * run) + run * 61 * (flow * flow + 1);
            *start += late % 500 * MILLISECOND;
        }
        self.seed = run + 1;
        self
    }

    /// Bytes of a bandwidth-delay product of 500 ms.
    pub fn product(&self) -> u64 {
        self.rate / 8 / 2
    }

    pub fn topology(&self) -> Topology {
        let k = self.k;
        let rate = self.rate * k;
        let bytes = self.product() * self.queue / 10;
        let packets = bytes / u64::from(PACKET);
        let law = if self.discipline == Discipline::Xcp {
            let usual = XcpSettings::for_capacity(rate / 8);
            RouterLaw::Xcp {
                parameters: XcpSettings {
                    initial_interval: usual.initial_interval / k as u32,
                    min_interval: usual.min_interval / k as u32,
                    max_interval: usual.max_interval / k as u32,
                    allowed_queue: usual.allowed_queue / k as u32,
                    ..usual
                },
                capacity: Some(rate / 8 * self.capacity / 1_000),
                stamp: FeedbackPoint::Departure,
            }
        } else {
            RouterLaw::None
        };
        let router = |name: &str| Node {
            name: name.to_owned(),
            kind: NodeKind::Router { law, delay: 0 },
        };
        let mut line = LineParameters::new(rate, MILLISECOND / k);
        line.queue.limit = QueueLimit::Packets(packets);
        if self.loss > 0 {
            line.loss = Loss::Random(self.loss);
        }
        if self.discipline == Discipline::Red {
            line.queue.red = Some(Red {
                least: packets / 4,
                most: packets * 3 / 4,
                weight: 2_000,
                chance: 100_000,
                gentle: false,
                packet: PACKET,
            });
        }
        let mut topology = Topology {
            nodes: vec![router("left"), router("right")],
            links: vec![Link {
                name: "bottleneck".to_owned(),
                ends: [0, 1],
                lines: [line, LineParameters::new(rate, MILLISECOND / k)],
            }],
            seed: self.seed,
            ..Topology::default()
        };
        let (mut entry, mut exit, mut inside) = (0, 1, 2 * MILLISECOND);
        if let Some(side) = self.second {
            let mut line = LineParameters::new(SECOND_RATE * k, MILLISECOND / k);
            let back = line.clone();
            line.queue.limit = QueueLimit::Packets(SECOND_QUEUE);
            topology.nodes.push(Node {
                name: "other".to_owned(),
                kind: NodeKind::Router {
                    law: RouterLaw::None,
                    delay: 0,
                },
            });
            let ends = match side {
                Side::Before => [2, 0],
                Side::After => [1, 2],
            };
            topology.links.push(Link {
                name: "second bottleneck".to_owned(),
                ends,
                lines: [line, back],
            });
            match side {
                Side::Before => entry = 2,
                Side::After => exit = 2,
            }
            inside += MILLISECOND;
        }
        for (number, (rtt, start)) in self.rtts.iter().zip(&self.starts).enumerate() {
            let host = |side: u8| Node {
                name: format!("{}{number}", ["s", "d"][usize::from(side)]),
                kind: NodeKind::Host {
                    address: [10, side, 0, number as u8 + 1].into(),
                },
            };
            let (from, to) = (topology.nodes.len(), topology.nodes.len() + 1);
            topology.nodes.extend([host(0), host(1)]);
            // All delay except the milliseconds of sender and bottlenecks is on the receiver's
            // side.
            let far = (rtt / 2 - inside) / k;
            for (ends, delay) in [([from, entry], MILLISECOND / k), ([exit, to], far)] {
                let line = LineParameters::new(rate * 10, delay);
                topology.links.push(Link {
                    name: format!("access {ends:?}"),
                    ends,
                    lines: [line.clone(), line],
                });
            }
            topology.flows.push(Flow {
                name: format!("flow {number}"),
                from,
                to,
                start: start / k,
                ttl: None,
                transport: self.transport(),
            });
        }
        topology
    }

    fn transport(&self) -> Transport {
        let xcp = self.discipline == Discipline::Xcp;
        let host = HostParameters {
            mss: PACKET as u16 - 40,
            receive_buffer: self.buffer,
            sack: self.sack,
            rto: RtoParameters::LINUX,
            ..HostParameters::default()
        };
        let scheme = if xcp {
            Scheme::Xcp(XcpParameters {
                loss: XcpLoss::Halve,
                ..XcpParameters::default()
            })
        } else {
            Scheme::Reno
        };
        Transport::Tcp {
            scheme: scheme.scaled(self.k).expect("times that k divides"),
            host: host.scaled(self.k).expect("times that k divides"),
            supply: Supply::Endless,
            xcp_option: None,
        }
    }

    /// Paper time.
    pub fn at(&self, seconds: u64) -> Time {
        seconds * SECOND / self.k
    }
}
