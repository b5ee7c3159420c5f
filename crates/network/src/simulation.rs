//! The simulation: the network and its state. [`run`] has the events.

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

/// An endpoint of a flow at its node.
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
pub(crate) struct DepartingFrame {
    /// The line by which it leaves.
    pub line: usize,
    /// The frame.
    pub frame: Box<Frame>,
    /// When its first bit leaves.
    pub begins: Time,
    /// When its last bit leaves.
    pub ends: Time,
    /// Time from its last bit into the chip to its first bit out.
    pub waited: Time,
    /// Bytes in the chip for that line when it arrived, including its own.
    pub longest: u64,
}

/// A simulation of hosts, switches, lines and packet-level routers. Whole chips are run by the
/// [`Network`](crate::Network) around it.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Simulation {
    topology: Topology,
    routes: Routes,
    now: Time,
    events: Events,
    lines: Vec<Line>,
    /// The law at each line that leaves a router with one.
    laws: Vec<Option<LineLaw>>,
    /// The endpoints: flow n has its sender at 2 n and its receiver at 2 n + 1.
    ends: Vec<FlowEndpoint>,
    flows: Vec<FlowCounters>,
    /// Frames that have begun to go to chips and have not been taken yet.
    to_chips: Vec<ToChip>,
    /// The CPU of each node that has one.
    cpus: Vec<Option<HostCpu>>,
    /// Messages that reached hosts.
    messages: MessageCounters,
    /// State of each node that is an open end.
    open: Vec<Option<OpenEnd>>,
    /// Data exchanged by hosts with a stack.
    transfers: Vec<TransferCounters>,
    /// Frames that have arrived at open ends and have not been taken yet.
    outgoing: Vec<OutgoingFrame>,
    #[serde(skip)]
    out: EndpointOutput,
}

/// A frame on its way to a chip.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub(crate) struct ToChip {
    /// The line by which it arrives.
    pub line: usize,
    /// The frame.
    pub frame: Box<Frame>,
    /// When its first bit arrives.
    pub begins: Time,
}

impl Clone for EndpointOutput {
    /// It is always empty between two events.
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl Simulation {
    /// Creates a network at time 0.
    ///
    /// # Errors
    /// Returns a [`NetworkError`] if a reference is invalid, a path is missing, or a parameter is
    /// out of range.
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

    /// Returns the topology of the network.
    #[must_use]
    pub const fn topology(&self) -> &Topology {
        &self.topology
    }

    /// Returns the time that has been reached.
    #[must_use]
    pub const fn now(&self) -> Time {
        self.now
    }

    /// Whether nothing will happen any more.
    #[must_use]
    pub fn is_over(&self) -> bool {
        self.events.next_at().is_none()
    }

    /// Returns the first line on the path from one node to another.
    pub(crate) fn route(&self, node: usize, to: usize) -> Option<usize> {
        self.routes.line(node, to)
    }

    /// Returns the time of the next known event.
    pub(crate) fn next_at(&self) -> Time {
        self.events.next_at().unwrap_or(Time::MAX)
    }

    /// Takes the frames that have begun to go to chips since the last call.
    pub(crate) fn take_to_chips(&mut self) -> std::vec::Drain<'_, ToChip> {
        self.to_chips.drain(..)
    }

    /// Counts a frame that has arrived at a chip, which is to forward it by a line.
    pub(crate) fn expect(&mut self, line: usize, frame: &Frame) {
        self.lines[line].expect(frame.bytes);
    }

    /// Handles a frame that a chip begins to send by a line. Returns the frame if it goes to
    /// another chip.
    pub(crate) fn depart(&mut self, leaving: DepartingFrame, tap: &mut dyn Tap) -> Option<ToChip> {
        let DepartingFrame {
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

    /// Handles a frame that was lost in a chip.
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

    /// Takes back a frame that was presumed lost, but leaves its chip.
    pub(crate) fn find(&mut self, line: usize, frame: &Frame, reason: DropReason) {
        self.lines[line].find(frame.bytes, reason);
        if let Some(flow) = frame.own_flow() {
            self.flows[flow].gone.take_back(frame.bytes.into());
        }
    }

    /// Counts a packet of a flow that will not reach a host.
    fn count_gone(&mut self, frame: &Frame) {
        if let Some(flow) = frame.own_flow() {
            self.flows[flow].gone.add(frame.bytes.into());
        }
    }

    /// Returns all counters up to now.
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

    /// Restarts the measurement of the longest queues.
    pub fn reset_longest_queues(&mut self) {
        self.lines.iter_mut().for_each(Line::reset_longest);
    }

    /// Returns the state of a flow's sender.
    #[must_use]
    pub fn view(&self, flow: usize) -> FlowView {
        self.ends[2 * flow].endpoint.view()
    }

    /// Returns the bytes and packets that wait for a line.
    #[must_use]
    pub fn queue(&self, line: usize) -> (u64, u64) {
        (self.lines[line].waiting(), self.lines[line].packets())
    }

    /// Returns the frames in flight: on lines, in routers and in queues.
    pub fn frames(&self) -> impl Iterator<Item = &Frame> {
        let waiting = self.lines.iter().flat_map(Line::frames);
        self.events.frames().chain(waiting)
    }
}
