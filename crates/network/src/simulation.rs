//! The simulation: events one after the other.

mod state;

use npsim_protocols::ParameterError;
use npsim_transport::pacing::Cpu;
use npsim_transport::time::Time;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use crate::census::{Census, CpuCensus, FlowCensus};
use crate::event::{Event, Events};
use crate::frame::{Content, Frame, HEADERS};
use crate::host::{Endpoint, FlowView, Output};
use crate::law::Law;
use crate::line::{DropReason, Line};
use crate::routes::{RouteError, Routes};
use crate::topology::{NodeKind, Topology};

/// A network that cannot run.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum NetworkError {
    /// A flow finds no way.
    #[error(transparent)]
    Route(#[from] RouteError),
    /// An end of a flow or a link is no such node.
    #[error("{what} {number} names node {node}, which {fault}")]
    Node {
        /// `flow`, `link` or `CPU`.
        what: &'static str,
        /// Which one.
        number: usize,
        /// The node.
        node: usize,
        /// Why it will not do.
        fault: &'static str,
    },
    /// A parameter of a router's law is out of its range.
    #[error("router `{router}`: {error}")]
    Law {
        /// The router's name.
        router: String,
        /// What is wrong.
        error: ParameterError,
    },
    /// A line that never sends.
    #[error("link `{0}` has a rate of 0")]
    Rate(String),
}

/// The sender of a flow after it has acted.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct SenderSeen {
    /// What it shows of itself.
    pub view: FlowView,
    /// Segments that it has sent again, so far.
    pub retransmitted: u64,
    /// Expiries of its retransmission timer, so far.
    pub timeouts: u64,
}

/// Sees what goes over lines, and what senders do.
pub trait Tap {
    /// Whether it wants to see what goes over a line.
    fn watches(&self, line: usize) -> bool {
        let _ = line;
        true
    }

    /// Whether it wants to see what senders do.
    fn watches_senders(&self) -> bool {
        false
    }

    /// The sender of a flow has acted.
    fn sender(&mut self, now: Time, flow: usize, seen: &SenderSeen) {
        let _ = (now, flow, seen);
    }

    /// A line begins to send a frame that will arrive.
    fn sent(&mut self, now: Time, line: usize, frame: &Frame) {
        let _ = (now, line, frame);
    }

    /// A queue has no place for a frame.
    fn dropped(&mut self, now: Time, line: usize, frame: &Frame, reason: DropReason) {
        let _ = (now, line, frame, reason);
    }

    /// A line begins to send a frame that will be lost on it.
    fn lost(&mut self, now: Time, line: usize, frame: &Frame) {
        let _ = (now, line, frame);
    }
}

/// Looks away.
#[derive(Debug, Clone, Copy, Default)]
pub struct NoTap;

impl Tap for NoTap {
    fn watches(&self, _: usize) -> bool {
        false
    }
}

/// An end of a flow at its node.
#[derive(Debug, Clone, Serialize, Deserialize)]
struct End {
    endpoint: Endpoint,
    node: usize,
    peer: usize,
    /// The earliest event that is posted for it.
    armed: Option<Time>,
}

/// A frame that begins to leave a chip.
#[derive(Debug)]
pub(crate) struct Leaving {
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
    laws: Vec<Option<Law>>,
    /// Those of flow n at 2 n, which sends, and 2 n + 1.
    ends: Vec<End>,
    flows: Vec<FlowCensus>,
    /// What has begun to go to chips and was not taken yet.
    to_chips: Vec<ToChip>,
    /// The CPU of each node that has one.
    cpus: Vec<Option<Cpu>>,
    #[serde(skip)]
    out: Output,
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

impl Clone for Output {
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
            out: Output::default(),
            topology,
        };
        it.lay_lines()?;
        for cpu in &it.topology.cpus {
            it.cpus[cpu.node] = Some(Cpu::new(cpu.cores, cpu.cost));
        }
        for (number, flow) in it.topology.flows.iter().enumerate() {
            let nodes = [flow.from, flow.to];
            let addresses = nodes.map(|node| it.topology.address(node));
            let ends = Endpoint::of(flow, number, addresses, it.topology.seed);
            for (endpoint, (node, peer)) in { ends.into_iter() }.zip([(0, 1), (1, 0)]) {
                it.ends.push(End {
                    endpoint,
                    node: nodes[node],
                    peer: nodes[peer],
                    armed: None,
                });
            }
            it.flows.push(FlowCensus {
                start: flow.start,
                ..FlowCensus::default()
            });
            let open = Event::Open {
                flow: number as u32,
            };
            it.events.post(flow.start, flow.from, open);
        }
        Ok(it)
    }

    fn lay_lines(&mut self) -> Result<(), NetworkError> {
        for link in &self.topology.links {
            for (parameters, (from, to)) in { link.lines.iter() }.zip([(0, 1), (1, 0)]) {
                let ends = (link.ends[from], link.ends[to]);
                let number = self.lines.len() as u64;
                let line = Line::new(parameters.clone(), ends, self.topology.seed, number);
                let node = &self.topology.nodes[ends.0];
                let law = match &node.kind {
                    NodeKind::Router { law, .. } => {
                        let seed = self.topology.seed ^ number;
                        Law::of(law, parameters.capacity(), seed).map_err(|error| {
                            NetworkError::Law {
                                router: node.name.clone(),
                                error,
                            }
                        })?
                    }
                    _ => None,
                };
                for (timer, at) in law.iter().flat_map(Law::timers) {
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
    pub(crate) fn depart(&mut self, leaving: Leaving, tap: &mut dyn Tap) -> Option<ToChip> {
        let Leaving {
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
            self.flows[frame.flow as usize].gone.add(frame.bytes.into());
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
        self.flows[frame.flow as usize].gone.add(frame.bytes.into());
        tap.dropped(now, line, frame, reason);
    }

    /// A frame that was thought lost leaves its chip.
    pub(crate) fn find(&mut self, line: usize, frame: &Frame, reason: DropReason) {
        self.lines[line].find(frame.bytes, reason);
        let gone = &mut self.flows[frame.flow as usize].gone;
        gone.take_back(frame.bytes.into());
    }

    /// Runs to a time: all that happens until then, that time included. What goes to chips stays
    /// with them; a [`Network`](crate::Network) brings it there.
    pub fn run_to(&mut self, until: Time, tap: &mut dyn Tap) {
        while let Some((at, event)) = self.events.take(until) {
            self.now = at;
            match event {
                Event::Arrive { line, frame } => self.arrive(line as usize, frame, tap),
                Event::TakeIn { node, frame } => self.take_in(node as usize, &frame, tap),
                Event::Enqueue { line, frame } => self.enqueue(line as usize, frame, tap),
                Event::Free { line } => {
                    self.lines[line as usize].awaited = false;
                    self.send(line as usize, tap);
                }
                Event::Law { line, timer } => {
                    let it = &self.lines[line as usize];
                    if let Some(law) = &mut self.laws[line as usize] {
                        let again = law.fire(timer, it.waiting()).max(1);
                        let node = it.from;
                        let again = at.saturating_add(again);
                        self.events.post(again, node, Event::Law { line, timer });
                    }
                }
                Event::Open { flow } => {
                    let end = flow as usize * 2;
                    self.ends[end].endpoint.open(at, &mut self.out);
                    self.put_out(end, at, tap);
                }
                Event::Wake { endpoint } => self.wake(endpoint as usize, tap),
            }
        }
        self.now = self.now.max(until);
    }

    /// Everything that was counted until now.
    #[must_use]
    pub fn census(&self) -> Census {
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
            let busy = self.cpus[cpu.node].as_ref().map_or(0, Cpu::busy);
            CpuCensus {
                cores: cpu.cores as u64,
                time: self.now,
                busy,
            }
        });
        Census {
            at: self.now,
            time: self.now,
            cpus: cpus.collect(),
            lines: self
                .lines
                .iter()
                .map(|line| line.census(self.now))
                .collect(),
            flows: flows.collect(),
        }
    }

    /// The longest queues that are told are those from now on.
    pub fn forget_longest_queues(&mut self) {
        self.lines.iter_mut().for_each(Line::forget_longest);
    }

    /// What the sender of a flow shows of itself.
    #[must_use]
    pub fn view(&self, flow: usize) -> FlowView {
        self.ends[2 * flow].endpoint.view()
    }

    /// Bytes and packets that wait before a line.
    #[must_use]
    pub fn queue(&self, line: usize) -> (u64, u64) {
        (self.lines[line].waiting(), self.lines[line].packets())
    }

    /// Frames that are under way: on lines, in routers and in queues.
    pub fn frames(&self) -> impl Iterator<Item = &Frame> {
        let waiting = self.lines.iter().flat_map(Line::frames);
        self.events.frames().chain(waiting)
    }

    /// The last bit of a frame has come to a node.
    fn arrive(&mut self, line: usize, mut frame: Box<Frame>, tap: &mut dyn Tap) {
        let node = self.lines[line].to;
        match self.topology.nodes[node].kind {
            // What goes to a chip is no event of this kind.
            NodeKind::Switch | NodeKind::Chip { .. } => self.pass_on(node, frame, tap),
            NodeKind::Host { .. } => {
                let cpu = self.cpus[node].as_mut();
                let done = cpu.map_or(self.now, |cpu| cpu.packet(self.now, frame.flow));
                if done == self.now {
                    return self.take_in(node, &frame, tap);
                }
                let host = node as u32;
                self.events
                    .post(done, node, Event::TakeIn { node: host, frame });
            }
            NodeKind::Router { delay, .. } => {
                if let Content::Packet(packet) = &mut frame.content {
                    packet.ttl = packet.ttl.saturating_sub(1);
                    if packet.ttl == 0 {
                        return self.expire(node, &frame, tap);
                    }
                }
                if delay == 0 {
                    self.pass_on(node, frame, tap);
                } else if let Some(line) = self.routes.line(node, frame.to as usize) {
                    let line = line as u32;
                    let at = self.now.saturating_add(delay);
                    self.events.post(at, node, Event::Enqueue { line, frame });
                }
            }
        }
    }

    /// A frame whose time to live is over is for the slow path, which does not answer here.
    fn expire(&mut self, node: usize, frame: &Frame, tap: &mut dyn Tap) {
        if let Some(line) = self.routes.line(node, frame.to as usize) {
            let reason = self.lines[line].refuse(self.now, frame);
            self.flows[frame.flow as usize].gone.add(frame.bytes.into());
            tap.dropped(self.now, line, frame, reason);
        }
    }

    /// A node sends a frame on its way.
    fn pass_on(&mut self, node: usize, frame: Box<Frame>, tap: &mut dyn Tap) {
        // Flows without a way were refused.
        if let Some(line) = self.routes.line(node, frame.to as usize) {
            self.enqueue(line, frame, tap);
        }
    }

    /// A frame comes to the queue before a line.
    fn enqueue(&mut self, line: usize, mut frame: Box<Frame>, tap: &mut dyn Tap) {
        let law = self.laws[line].as_mut();
        let taken = if law.is_none_or(|law| law.arrive(&mut frame)) {
            self.lines[line].admit(self.now, &frame)
        } else {
            Err(self.lines[line].refuse(self.now, &frame))
        };
        if let Err(reason) = taken {
            self.flows[frame.flow as usize].gone.add(frame.bytes.into());
            tap.dropped(self.now, line, &frame, reason);
            return;
        }
        self.lines[line].put(frame);
        self.send(line, tap);
    }

    /// Lets a line send, or be told when it can.
    fn send(&mut self, number: usize, tap: &mut dyn Tap) {
        let line = &mut self.lines[number];
        let free = line.is_free(self.now);
        if free && let Some(mut sending) = line.send(self.now) {
            let waiting = line.waiting();
            if let Some(law) = &mut self.laws[number] {
                law.depart(&mut sending.frame, waiting);
            }
            let to = line.to;
            let frame = sending.frame;
            let chip = matches!(self.topology.nodes[to].kind, NodeKind::Chip { .. });
            if sending.arrives.is_some() {
                tap.sent(self.now, number, &frame);
            }
            if sending.arrives.is_some() && chip {
                self.to_chips.push(ToChip {
                    line: number,
                    frame,
                    begins: sending.begins,
                });
            } else if let Some(at) = sending.arrives {
                let line = number as u32;
                self.events.post(at, to, Event::Arrive { line, frame });
            } else {
                self.flows[frame.flow as usize].gone.add(frame.bytes.into());
                tap.lost(self.now, number, &frame);
            }
        }
        let line = &mut self.lines[number];
        if line.packets() > 0 && !line.awaited {
            line.awaited = true;
            let (at, node) = (line.busy_until(), line.from);
            self.events.post(
                at,
                node,
                Event::Free {
                    line: number as u32,
                },
            );
        }
    }

    /// A frame is where it was to go.
    fn take_in(&mut self, node: usize, frame: &Frame, tap: &mut dyn Tap) {
        let flow = frame.flow as usize;
        self.flows[flow].arrived.add(frame.bytes.into());
        // Both ends may be at one node only where a flow goes from a host to itself, which is refused.
        let receives = self.ends[2 * flow].node != node;
        if receives {
            self.flows[flow].reached.add(frame.bytes.into());
        }
        let end = 2 * flow + usize::from(receives);
        match &frame.content {
            Content::Packet(packet) => {
                let endpoint = &mut self.ends[end].endpoint;
                endpoint.receive(self.now, packet, &mut self.out);
            }
            Content::Datagram { .. } => {
                let payload = u64::from(frame.bytes).saturating_sub(HEADERS as u64);
                self.flows[flow].delivered += payload;
            }
        }
        self.put_out(end, self.now, tap);
    }

    fn wake(&mut self, end: usize, tap: &mut dyn Tap) {
        let it = &mut self.ends[end];
        if it.armed == Some(self.now) {
            it.armed = None;
        }
        // It may have been put off since this was posted.
        let mut since = self.now;
        if it.endpoint.wake_at().is_some_and(|at| at <= self.now) {
            if let Some(cpu) = &mut self.cpus[it.node] {
                since = cpu.timer(self.now, (end / 2) as u32);
            }
            it.endpoint.wake(self.now, &mut self.out);
        }
        self.put_out(end, since, tap);
    }

    /// Sends what an endpoint has put out, which its host's CPU begins with at `since`, and sees that it
    /// is woken.
    fn put_out(&mut self, end: usize, since: Time, tap: &mut dyn Tap) {
        let mut out = std::mem::take(&mut self.out);
        let (node, to) = (self.ends[end].node, self.ends[end].peer as u32);
        let flow = (end / 2) as u32;
        let packets = out.packets.drain(..).map(|packet| {
            let bytes = packet.length() as u32;
            (Content::Packet(packet), bytes)
        });
        let datagrams = { out.datagrams.drain(..) }
            .map(|(number, bytes)| (Content::Datagram { number }, bytes));
        for (content, bytes) in packets.chain(datagrams) {
            self.flows[flow as usize].sent.add(bytes.into());
            let frame = Box::new(Frame {
                content,
                bytes,
                flow,
                to,
            });
            let cpu = self.cpus[node].as_mut();
            let done = cpu.map_or(self.now, |cpu| cpu.packet(since, flow));
            if done == self.now {
                self.pass_on(node, frame, tap);
            } else if let Some(line) = self.routes.line(node, to as usize) {
                let line = line as u32;
                self.events.post(done, node, Event::Enqueue { line, frame });
            }
        }
        self.out = out;
        // Senders have even numbers.
        if end.is_multiple_of(2) && tap.watches_senders() {
            let endpoint = &self.ends[end].endpoint;
            let counters = endpoint.sender().unwrap_or_default();
            let seen = SenderSeen {
                view: endpoint.view(),
                retransmitted: counters.retransmitted,
                timeouts: counters.timeouts,
            };
            tap.sender(self.now, flow as usize, &seen);
        }
        let it = &mut self.ends[end];
        let Some(at) = it.endpoint.wake_at() else {
            return;
        };
        let at = at.max(self.now);
        if it.armed.is_none_or(|armed| at < armed) {
            it.armed = Some(at);
            let endpoint = end as u32;
            self.events.post(at, node, Event::Wake { endpoint });
        }
    }
}

/// Whether all that is named is there.
fn check(topology: &Topology) -> Result<(), NetworkError> {
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
                return Err(fault("CPU", number, cpu.node, "is no host"));
            }
            Some(_) => {}
        }
    }
    for (number, flow) in topology.flows.iter().enumerate() {
        for node in [flow.from, flow.to] {
            match topology.nodes.get(node) {
                None => return Err(fault("flow", number, node, "is not there")),
                Some(it) if !matches!(it.kind, NodeKind::Host { .. }) => {
                    return Err(fault("flow", number, node, "is no host"));
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
