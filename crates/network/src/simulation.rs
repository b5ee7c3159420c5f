//! The simulation: what there is, and how it stands. [`run`] says what happens.

mod check;
mod open_ends;
mod run;
mod stack_hosts;
mod state;

use npsim_transport::pacing::HostCpu;
use npsim_transport::time::Time;
use serde::{Deserialize, Serialize};

pub use check::NetworkError;
pub use open_ends::{InjectError, OutgoingFrame};

use crate::counters::{
    CpuCounters, FlowCounters, MessageCounters, NetworkCounters, TransferCounters,
};
use crate::event::{Event, Events};
use crate::frame::Frame;
use crate::host::{Endpoint, EndpointOutput, FlowView};
use crate::law::LineLaw;
use crate::line::{DropReason, Line};
use crate::routes::Routes;
use crate::tap::Tap;
use crate::topology::{NodeKind, Topology};

use check::check;
use open_ends::OpenEnd;

/// An end of a flow at its node.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct FlowEndpoint {
    endpoint: Endpoint,
    node: usize,
    peer: usize,
    /// The earliest event that is posted for it.
    armed: Option<Time>,
}

/// A frame that begins to leave a chip.
#[derive(Debug)]
pub(crate) struct LeavingFrame {
    /// The line that it leaves by.
    pub line: usize,
    /// Itself.
    pub frame: Box<Frame>,
    /// When its first bit leaves.
    pub begins: Time,
    /// When its last bit does.
    pub ends: Time,
    /// From its last bit into the chip to its first bit out.
    pub waited: Time,
    /// Bytes that were in the chip for the line when it came, its own among them.
    pub longest: u64,
}

/// Hosts, switches, lines and packet-level routers that run. Whole chips are run by a
/// [`Network`](crate::Network) around it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Simulation {
    topology: Topology,
    routes: Routes,
    now: Time,
    events: Events,
    lines: Vec<Line>,
    /// The law at each line, where a router with one has it.
    laws: Vec<Option<LineLaw>>,
    /// The endpoints: of flow n the sender at 2 n, the receiver at 2 n + 1.
    ends: Vec<FlowEndpoint>,
    flows: Vec<FlowCounters>,
    /// What has begun to go to chips and was not taken yet.
    to_chips: Vec<ToChip>,
    /// The CPU of each node that has one.
    cpus: Vec<Option<HostCpu>>,
    /// Messages that have reached hosts.
    messages: MessageCounters,
    /// By node, what is known of it if it is an open end.
    open: Vec<Option<OpenEnd>>,
    /// What hosts with a stack have exchanged.
    transfers: Vec<TransferCounters>,
    /// What has come to open ends and was not taken yet.
    outgoing: Vec<OutgoingFrame>,
    #[serde(skip)]
    out: EndpointOutput,
}

/// A frame on its way to a chip.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ToChip {
    /// The line that it comes by.
    pub line: usize,
    /// Itself.
    pub frame: Box<Frame>,
    /// When its first bit comes.
    pub begins: Time,
}

impl Clone for EndpointOutput {
    /// There is nothing in it between two events.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Simulation {
    /// A network at time 0.
    ///
    /// # Errors
    /// [`NetworkError`]: something names nothing, leads nowhere, or is out of range.
    pub fn new(topology: Topology) -> Result<Self, NetworkError> {
        check(&topology)?;
        let routes = Routes::of(&topology);
        routes.check(&topology)?;
        for (number, it) in topology.transfers.iter().enumerate() {
            if let Some((from, to)) = routes.missing(&topology, it.from, it.to) {
                return Err(NetworkError::Transfer { number, from, to });
            }
        }
        let mut it = Self {
            routes,
            now: 0,
            events: Events::default(),
            lines: Vec::new(),
            laws: Vec::new(),
            ends: Vec::new(),
            flows: Vec::new(),
            to_chips: Vec::new(),
            cpus: vec![None; topology.nodes.len()],
            messages: MessageCounters::default(),
            open: { 0..topology.nodes.len() }
                .map(|node| { topology.is_open(node) }.then(|| OpenEnd::of(&topology, node)))
                .collect(),
            transfers: vec![TransferCounters::default(); topology.transfers.len()],
            outgoing: Vec::new(),
            out: EndpointOutput::default(),
            topology,
        };
        it.connect()?;
        for cpu in &it.topology.cpus {
            it.cpus[cpu.node] = Some(HostCpu::new(cpu.cores, cpu.cost));
        }
        for (number, flow) in it.topology.flows.iter().enumerate() {
            let nodes = [flow.from, flow.to];
            let addresses = nodes.map(|node| it.topology.address(node));
            let ends = Endpoint::of(flow, number, addresses, it.topology.seed);
            for (endpoint, (node, peer)) in { ends.into_iter() }.zip([(0, 1), (1, 0)]) {
                it.ends.push(FlowEndpoint {
                    endpoint,
                    node: nodes[node],
                    peer: nodes[peer],
                    armed: None,
                });
            }
            it.flows.push(FlowCounters {
                start: flow.start,
                ..FlowCounters::default()
            });
            let open = Event::Open {
                flow: number as u32,
            };
            it.events.post(flow.start, flow.from, open);
        }
        Ok(it)
    }

    fn connect(&mut self) -> Result<(), NetworkError> {
        for link in &self.topology.links {
            for (parameters, (from, to)) in { link.lines.iter() }.zip([(0, 1), (1, 0)]) {
                let ends = (link.ends[from], link.ends[to]);
                let number = self.lines.len() as u64;
                let line = Line::new(parameters.clone(), ends, self.topology.seed, number);
                let node = &self.topology.nodes[ends.0];
                let law = match &node.kind {
                    NodeKind::Router { law, .. } => {
                        let seed = self.topology.seed ^ number;
                        LineLaw::of(law, parameters.capacity(), seed).map_err(|error| {
                            NetworkError::Law {
                                router: node.name.clone(),
                                error,
                            }
                        })?
                    }
                    _ => None,
                };
                for (timer, at) in law.iter().flat_map(LineLaw::timers) {
                    let line = number as u32;
                    self.events.post(at, ends.0, Event::Law { line, timer });
                }
                self.laws.push(law);
                self.lines.push(line);
            }
        }
        Ok(())
    }

    /// The network.
    #[must_use]
    pub const fn topology(&self) -> &Topology {
        &self.topology
    }

    /// The time that has been come to.
    #[must_use]
    pub const fn now(&self) -> Time {
        self.now
    }

    /// Whether nothing will happen any more.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.events.next_at().is_none()
    }

    /// The first line on the way from a node to another one.
    pub(crate) fn route(&self, node: usize, to: usize) -> Option<usize> {
        self.routes.line(node, to)
    }

    /// When something happens next, of what is known.
    pub(crate) fn next_at(&self) -> Time {
        self.events.next_at().unwrap_or(Time::MAX)
    }

    /// What has begun to go to chips since this was asked last.
    pub(crate) fn take_to_chips(&mut self) -> std::vec::Drain<'_, ToChip> {
        self.to_chips.drain(..)
    }

    /// A frame has come to a chip, which is to send it on by a line.
    pub(crate) fn expect(&mut self, line: usize, frame: &Frame) {
        self.lines[line].expect(frame.bytes);
    }

    /// A chip begins to send a frame by a line. What goes to another chip is given back.
    pub(crate) fn depart(&mut self, leaving: LeavingFrame, tap: &mut dyn Tap) -> Option<ToChip> {
        let LeavingFrame {
            line: number,
            frame,
            begins,
            ends,
            waited,
            longest,
        } = leaving;
        let line = &mut self.lines[number];
        let (to, delay) = (line.to, line.delay());
        let lost = line.depart(begins, frame.bytes, waited, longest);
        if lost {
            self.count_gone(&frame);
            tap.lost(begins, number, &frame);
            return None;
        }
        tap.sent(begins, number, &frame);
        if matches!(self.topology.nodes[to].kind, NodeKind::Chip { .. }) {
            return Some(ToChip {
                line: number,
                frame,
                begins: begins.saturating_add(delay),
            });
        }
        let at = ends.saturating_add(delay);
        self.events.post_from_chip(at, to, number as u32, frame);
        None
    }

    /// A chip has lost a frame at a time.
    pub(crate) fn lose(
        &mut self,
        now: Time,
        line: usize,
        frame: &Frame,
        reason: DropReason,
        tap: &mut dyn Tap,
    ) {
        self.lines[line].lose(frame.bytes, reason);
        self.count_gone(frame);
        tap.dropped(now, line, frame, reason);
    }

    /// A frame that was thought lost leaves its chip.
    pub(crate) fn find(&mut self, line: usize, frame: &Frame, reason: DropReason) {
        self.lines[line].find(frame.bytes, reason);
        if let Some(flow) = frame.own_flow() {
            self.flows[flow].gone.take_back(frame.bytes.into());
        }
    }

    /// A packet of a flow will reach no host.
    fn count_gone(&mut self, frame: &Frame) {
        if let Some(flow) = frame.own_flow() {
            self.flows[flow].gone.add(frame.bytes.into());
        }
    }

    /// Everything that was counted until now.
    #[must_use]
    pub fn counters(&self) -> NetworkCounters {
        let flows = { self.flows.iter() }.enumerate().map(|(flow, counted)| {
            let mut counted = *counted;
            if let Some(sender) = self.ends[2 * flow].endpoint.sender() {
                counted.sender = sender;
            }
            if let Some(receiver) = self.ends[2 * flow + 1].endpoint.receiver() {
                counted.receiver = receiver;
                counted.delivered = receiver.received;
            }
            counted
        });
        let cpus = { self.topology.cpus.iter() }.map(|cpu| {
            let busy = self.cpus[cpu.node].as_ref().map_or(0, HostCpu::busy);
            CpuCounters {
                cores: cpu.cores as u64,
                time: self.now,
                busy,
            }
        });
        NetworkCounters {
            at: self.now,
            time: self.now,
            cpus: cpus.collect(),
            messages: self.messages,
            lines: self
                .lines
                .iter()
                .map(|line| line.counters(self.now))
                .collect(),
            flows: flows.collect(),
            transfers: { self.transfers.iter() }
                .map(TransferCounters::counted)
                .collect(),
        }
    }

    /// Measures the longest queues from now on.
    pub fn forget_longest_queues(&mut self) {
        self.lines.iter_mut().for_each(Line::forget_longest);
    }

    /// The state of the sender of a flow.
    #[must_use]
    pub fn view(&self, flow: usize) -> FlowView {
        self.ends[2 * flow].endpoint.view()
    }

    /// Bytes and packets that wait before a line.
    #[must_use]
    pub fn queue(&self, line: usize) -> (u64, u64) {
        (self.lines[line].waiting(), self.lines[line].packets())
    }

    /// Frames that are in flight: on lines, in routers and in queues.
    pub fn frames(&self) -> impl Iterator<Item = &Frame> {
        let waiting = self.lines.iter().flat_map(Line::frames);
        self.events.frames().chain(waiting)
    }
}
