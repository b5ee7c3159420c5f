//! A chip attached to its links.

use std::fmt;
use std::ops::ControlFlow;

use npsim_chip::Cycle;
use npsim_chip::core::CoreKind;
use npsim_chip::kernel::observer::{NoObserver, Observer};
use npsim_project::problem::Problem;
use npsim_protocols::arp;
use npsim_protocols::icmp::{Datagram, ICMP, message};
use npsim_session::links::{FrameOrigin, LinkFrame, LostFrame};
use npsim_session::node::{NetworkedState, Node};
use npsim_session::report::NodeReport;
use npsim_session::session::seed_of;
use npsim_session::simulation::RunSettings;
use npsim_transport::time::{SECOND, Time};
use serde::{Deserialize, Serialize};

use super::in_transit::InTransit;
use super::system::System;
use crate::ethernet::{self, Mac};
use crate::frame::{Content, Frame, PacketLabel};
use crate::line::DropReason;
use crate::link_header;
use crate::simulation::{DepartingFrame, Simulation, ToChip};
use crate::tap::Tap;
use crate::topology::{NodeKind, Topology};

/// A port and its link.
#[derive(Debug, Clone, Copy)]
struct Port {
    /// The outgoing line.
    out: usize,
    /// The incoming line.
    into: usize,
    /// Delay of the outgoing line.
    delay: Time,
    /// Delay of the incoming line.
    delay_into: Time,
    /// The node at the other end.
    peer: usize,
    /// The port's own address.
    own: Mac,
    /// The address of the other end.
    neighbour: Mac,
}

impl Port {
    /// Returns the open end to which a frame that leaves by the port goes, if any.
    fn open_end(&self, bytes: &[u8], topology: &Topology) -> Option<usize> {
        let packet = Datagram::from_frame(bytes);
        let to = packet.and_then(|packet| topology.node_of(packet.destination()));
        let to = to.unwrap_or(self.peer);
        topology.is_open(to).then_some(to)
    }
}

/// A chip in a network.
pub(crate) struct ChipNode {
    pub node: Node,
    observer: Box<dyn Observer + Send>,
    /// The cycle at which it was restored.
    restored: Cycle,
    pub system: System,
    pub name: String,
    seed: u64,
    hertz: u64,
    ports: Vec<Option<Port>>,
    inside: InTransit,
    /// Frames that left and that the network does not carry.
    pub unknown_frames: u64,
}

impl fmt::Debug for ChipNode {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("ChipNode")
            .field("name", &self.name)
            .field("node", &self.node)
            .field("inside", &self.inside)
            .finish_non_exhaustive()
    }
}

/// What a chip has counted since the start.
#[derive(Debug, Clone)]
pub struct ChipReport<'a> {
    /// The node's name.
    pub name: &'a str,
    /// The system that it runs.
    pub system: &'a System,
    /// Frames that left and that the network does not carry.
    pub unknown_frames: u64,
    /// Report in the form of the stats file.
    pub node: NodeReport,
}

/// Departures and losses of a chip, in its own cycles.
#[derive(Debug, Default)]
pub(crate) struct NodeEvents {
    departures: Vec<LinkFrame>,
    lost: Vec<LostFrame>,
}

/// The state of a chip in a network.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct ChipNodeState {
    chip: NetworkedState,
    inside: InTransit,
    unknown_frames: u64,
}

impl ChipNode {
    /// Saves the state between two runs.
    pub fn save(&mut self) -> Result<ChipNodeState, Problem> {
        Ok(ChipNodeState {
            chip: self.node.save_networked()?,
            inside: self.inside.clone(),
            unknown_frames: self.unknown_frames,
        })
    }

    /// Continues from a state of the same chip in the same network.
    pub fn restore(&mut self, state: ChipNodeState, outside: &Simulation) -> Result<(), String> {
        let lines = 2 * outside.topology().links.len();
        if !state.inside.is_sound(lines, |frame| outside.has(frame)) {
            return Err(format!(
                "frames in `{}` are not from the network",
                self.name
            ));
        }
        self.node.restore_networked(state.chip)?;
        self.restored = self.node.handled();
        self.inside = state.inside;
        self.unknown_frames = state.unknown_frames;
        Ok(())
    }

    /// Attaches an observer, which sees all later events. It does not affect the run.
    pub fn observe(&mut self, observer: Box<dyn Observer + Send>) {
        self.observer = observer;
    }

    /// Returns the number of cycles skipped, and of all cycles, since it was created or restored.
    pub fn skipped(&self) -> (Cycle, Cycle) {
        let all = self.node.handled() - self.restored;
        (self.node.chip().skipped(), all)
    }

    /// Returns what it has counted so far.
    pub fn report(&self) -> ChipReport<'_> {
        let system = &self.system;
        ChipReport {
            name: &self.name,
            system,
            unknown_frames: self.unknown_frames,
            node: NodeReport::of(
                &self.node,
                &system.project,
                &system.programs,
                Some(self.seed),
            ),
        }
    }

    /// Runs to a cycle, or less far. All frames that begin to arrive before that cycle must have been fed to the
    /// chip. `progress` is called now and then and tells whether to continue. All earlier departures are known to all
    /// nodes.
    pub fn run_to(&mut self, until: Cycle, progress: &mut dyn FnMut(Cycle) -> ControlFlow<()>) {
        self.node.clear_answer_deadline();
        self.continue_to(until, progress);
    }

    /// Continues to a later cycle while the departures since [`Self::run_to`] are not yet known to other nodes.
    pub fn continue_to(
        &mut self,
        until: Cycle,
        progress: &mut dyn FnMut(Cycle) -> ControlFlow<()>,
    ) {
        self.node.run_open(until, &mut *self.observer, progress);
    }

    /// Returns the first cycle in which it acts on its own, or in which a known frame begins to arrive.
    pub fn acts(&self) -> Cycle {
        self.node.next_start().min(self.node.silent_until())
    }

    /// Whether it has anything to do before a cycle that it has not reached.
    pub fn could_run_before(&self, cycle: Cycle) -> bool {
        self.node.handled() < cycle && self.acts() < cycle
    }

    /// Creates the chip with index `number` in the network, at cycle 0.
    pub fn new(
        system: System,
        number: usize,
        topology: &Topology,
        core: CoreKind,
    ) -> Result<Self, Problem> {
        let node = system.node;
        let project = &system.project;
        let hertz = project.capacity.hertz;
        let ports: Vec<_> = { topology.ports(node).iter().enumerate() }
            .map(|(port, link)| {
                let number = (*link)?;
                let link = &topology.links[number];
                let side = usize::from(link.ends[0] != node);
                Some(Port {
                    out: 2 * number + side,
                    into: 2 * number + 1 - side,
                    delay: link.lines[side].delay,
                    delay_into: link.lines[1 - side].delay,
                    peer: link.ends[1 - side],
                    own: project.macs[port],
                    neighbour: system.neighbours[port],
                })
            })
            .collect();
        let nearest = { ports.iter().flatten() }.map(|port| port.delay_into).min();
        let back = nearest.unwrap_or(Time::MAX);
        let answer = { ports.iter() }
            .map(|port| {
                let time = port.map_or(Time::MAX, |port| port.delay.saturating_add(back));
                floor(u128::from(time) * u128::from(hertz) / u128::from(SECOND))
            })
            .collect();
        let seed = seed_of(topology.seed, number);
        let settings = RunSettings {
            seed: Some(seed),
            ..RunSettings::new(core)
        };
        Ok(Self {
            node: Node::networked(project, &system.programs, settings, answer)?,
            observer: Box::new(NoObserver),
            restored: 0,
            seed,
            name: topology.nodes[node].name.clone(),
            system,
            hertz,
            ports,
            inside: InTransit::default(),
            unknown_frames: 0,
        })
    }

    /// Returns the cycle at a time, or the first one after it; the maximum stands for no time.
    pub fn cycle(&self, time: Time) -> Cycle {
        if time == Time::MAX {
            return Cycle::MAX;
        }
        floor((u128::from(time) * u128::from(self.hertz)).div_ceil(u128::from(SECOND)))
    }

    /// Returns the time of a cycle, rounded down, so that [`Self::cycle`] restores the cycle.
    pub fn time(&self, cycle: Cycle) -> Time {
        if cycle == Cycle::MAX {
            return Time::MAX;
        }
        floor(u128::from(cycle) * u128::from(SECOND) / u128::from(self.hertz.max(1)))
    }

    /// Returns the smallest delay from its ports to nodes that are not chips; the maximum if there are none.
    pub fn delay_outwards(&self, topology: &Topology) -> Time {
        let ports = self.ports_to(topology, false);
        ports.map(|port| port.delay).min().unwrap_or(Time::MAX)
    }

    /// Returns the smallest delay to its ports from nodes that are not chips; the maximum if there are none.
    pub fn delay_inwards(&self, topology: &Topology) -> Time {
        let ports = self.ports_to(topology, false);
        ports.map(|port| port.delay_into).min().unwrap_or(Time::MAX)
    }

    /// Returns the chips linked to it, by node, with the delay from each.
    pub fn chips_before(&self, topology: &Topology) -> Vec<(usize, Time)> {
        let ports = self.ports_to(topology, true);
        ports.map(|port| (port.peer, port.delay_into)).collect()
    }

    fn ports_to(&self, topology: &Topology, chips: bool) -> impl Iterator<Item = &Port> {
        let kind = move |port: &&Port| {
            let kind = &topology.nodes[port.peer].kind;
            matches!(kind, NodeKind::Chip { .. }) == chips
        };
        self.ports.iter().flatten().filter(kind)
    }

    /// Feeds a frame that arrives by one of its links.
    pub fn feed(&mut self, coming: ToChip, simulation: &mut Simulation) -> Result<(), Problem> {
        let ToChip {
            line,
            frame,
            begins,
        } = coming;
        let topology = simulation.topology();
        let ports = self.ports.iter().enumerate();
        let mut ports = ports.filter_map(|(number, port)| Some((number, (*port)?)));
        let Some((number, port)) = ports.find(|(_, port)| port.into == line) else {
            return Ok(());
        };
        let bytes = ethernet::with_ethernet_header(&frame, topology, port.own, port.neighbour);
        let bytes = bytes.map_err(|error| Problem::new(error.to_string()))?;
        let rate = topology.links[line / 2].lines[line % 2].rate;
        let bits = u128::from(ethernet::bits(frame.bytes));
        let length = floor((bits * u128::from(SECOND)).div_ceil(u128::from(rate.max(1))));
        let ends = begins.saturating_add(length);
        let way = simulation.route(self.system.node, frame.to as usize);
        let origin = way.map(|way| {
            simulation.expect(way, &frame);
            let number = self.inside.enter((*frame).clone(), way, ends);
            FrameOrigin {
                frame: number,
                arrived: self.cycle(ends),
            }
        });
        let (start, end) = (self.cycle(begins), self.cycle(ends));
        self.node.put(LinkFrame {
            start,
            end,
            port: number as u8,
            bytes,
            origin,
        });
        Ok(())
    }

    /// Takes what the chip has done since the last call.
    pub fn take(&mut self) -> NodeEvents {
        NodeEvents {
            departures: self.node.take_departures(),
            lost: self.node.take_lost(),
        }
    }

    /// Passes on to the network what the chip did. Returns the frames that go to other chips.
    pub fn notify(
        &mut self,
        happened: NodeEvents,
        simulation: &mut Simulation,
        tap: &mut dyn Tap,
    ) -> Vec<ToChip> {
        let mut onwards = Vec::new();
        let mut lost = happened.lost.into_iter().peekable();
        for departure in happened.departures {
            while let Some(lost) = lost.next_if(|lost| lost.cycle <= departure.start) {
                self.lost(lost, simulation, tap);
            }
            onwards.extend(self.departed(departure, simulation, tap));
        }
        lost.for_each(|lost| self.lost(lost, simulation, tap));
        onwards
    }

    fn lost(&mut self, lost: LostFrame, simulation: &mut Simulation, tap: &mut dyn Tap) {
        if let Some(origin) = lost.origin {
            let at = self.time(lost.cycle);
            self.lose(origin.frame, DropReason::Media, at, simulation, tap);
        }
    }

    /// Handles the loss of an incoming frame for a reason that the chip reports.
    fn lose(
        &mut self,
        number: u64,
        reason: DropReason,
        at: Time,
        simulation: &mut Simulation,
        tap: &mut dyn Tap,
    ) {
        let Some(transit) = self.inside.lose(number, reason) else {
            return;
        };
        if let Some(before) = transit.lost {
            simulation.find(transit.line, &transit.frame, before);
        }
        simulation.lose(at, transit.line, &transit.frame, reason, tap);
    }

    /// Handles a frame that has begun to leave the chip, in one of three ways:
    ///
    /// | the frame | counted in the network as | `waited`, `longest` |
    /// | --- | --- | --- |
    /// | did not arrive before: a message of the core ([`Self::send_message`]) | expected and departed, or [`Self::unknown_frames`] | 0 |
    /// | arrived before, is understood by hosts, at a port with a link | departed; frames of its flow that it overtook are lost | since its last bit arrived; bytes of its line that left in that time |
    /// | arrived before, anything else | lost to the microcode, and [`Self::unknown_frames`] | none |
    ///
    /// A frame that was presumed lost and leaves after all is first taken back, so that it is
    /// counted once. Returns the frame if it goes to another chip.
    fn departed(
        &mut self,
        departure: LinkFrame,
        simulation: &mut Simulation,
        tap: &mut dyn Tap,
    ) -> Option<ToChip> {
        let (begins, ends) = (self.time(departure.start), self.time(departure.end));
        let port = self.ports.get(usize::from(departure.port));
        let port = port.copied().flatten();
        let bytes = departure.bytes;
        // A packet that the chip's core forwards has lost its origin.
        let number = departure.origin.map(|origin| origin.frame).or_else(|| {
            let label = PacketLabel::of(link_header::packet(&bytes)?)?;
            self.inside.find(&label, simulation.topology())
        });
        let left = number.and_then(|number| self.inside.leave(number));
        let Some((transit, overtaken)) = left else {
            return self.send_message(&bytes, port, (begins, ends), simulation, tap);
        };
        for lost in overtaken {
            let reason = lost.lost.unwrap_or(DropReason::Microcode);
            simulation.lose(begins, lost.line, &lost.frame, reason, tap);
        }
        if let Some(reason) = transit.lost {
            simulation.find(transit.line, &transit.frame, reason);
        }
        let changed = match transit.frame.content {
            Content::Ethernet { from, .. } => {
                let topology = simulation.topology();
                let to = port.and_then(|port| port.open_end(&bytes, topology));
                let to = to.map_or(transit.frame.to, |to| to as u32);
                Some(Frame::of_ethernet(bytes, from, to))
            }
            _ => link_header::packet(&bytes).and_then(|packet| transit.frame.changed(packet).ok()),
        };
        let (Some(port), Some(frame)) = (port, changed) else {
            self.unknown_frames += 1;
            let reason = DropReason::Microcode;
            simulation.lose(begins, transit.line, &transit.frame, reason, tap);
            return None;
        };
        let longest = self.inside.longest(&transit, begins);
        let leaving = DepartingFrame {
            line: port.out,
            frame: Box::new(frame),
            begins,
            ends,
            waited: begins.saturating_sub(transit.came),
            longest,
        };
        simulation.depart(leaving, tap)
    }

    /// Sends a frame that the chip's core has created. If it is not a message, or its port has no link, the network
    /// does not carry it.
    fn send_message(
        &mut self,
        bytes: &[u8],
        port: Option<Port>,
        (begins, ends): (Time, Time),
        simulation: &mut Simulation,
        tap: &mut dyn Tap,
    ) -> Option<ToChip> {
        let message = self.message(bytes, port, begins, simulation, tap);
        let (Some(port), Some(frame)) = (port, message) else {
            self.unknown_frames += 1;
            return None;
        };
        simulation.expect(port.out, &frame);
        let leaving = DepartingFrame {
            line: port.out,
            frame: Box::new(frame),
            begins,
            ends,
            waited: 0,
            longest: 0,
        };
        simulation.depart(leaving, tap)
    }
}

impl ChipNode {
    /// Returns the frame created by the chip's core, if it is a message that the network carries or goes to an open
    /// end. The packet that a message refers to has ended in the slow path.
    fn message(
        &mut self,
        bytes: &[u8],
        port: Option<Port>,
        begins: Time,
        simulation: &mut Simulation,
        tap: &mut dyn Tap,
    ) -> Option<Frame> {
        let (port, topology) = (port?, simulation.topology());
        if let Some(message) = arp::message::ArpMessage::from_frame(bytes) {
            // A host on this link, or whatever else is at its other end.
            let to = topology.node_of(message.target.1);
            let to = to.filter(|to| simulation.route(self.system.node, *to) == Some(port.out));
            return Some(Frame {
                content: Content::Arp {
                    message,
                    from: self.system.node as u32,
                },
                bytes: ethernet::MIN_IP_BYTES,
                flow: None,
                to: to.unwrap_or(port.peer) as u32,
            });
        }
        let open = port.open_end(bytes, topology);
        let packet = Datagram::from_frame(bytes);
        let message = packet.filter(|packet| packet.protocol() == ICMP);
        let quoted = message.and_then(|message| {
            let label = PacketLabel::of(message::quote(&message)?)?;
            self.inside.find(&label, topology)
        });
        let frame = if let Some(to) = open {
            Frame::of_ethernet(bytes.to_vec(), self.system.node as u32, to as u32)
        } else {
            let message = message?;
            Frame {
                content: Content::Icmp(message.bytes().into()),
                bytes: message.length() as u32,
                flow: None,
                to: topology.node_of(message.destination())? as u32,
            }
        };
        let transit = quoted.and_then(|number| self.inside.get(number));
        let flow = transit.and_then(|transit| transit.frame.flow);
        if let Some(number) = quoted {
            self.lose(number, DropReason::SlowPath, begins, simulation, tap);
        }
        Some(Frame { flow, ..frame })
    }
}

fn floor(number: u128) -> u64 {
    u64::try_from(number).unwrap_or(u64::MAX)
}
