//! The events of a simulation, one after the other.

use npsim_protocols::arp::message::Operation;
use npsim_protocols::icmp::Datagram;
use npsim_protocols::icmp::message::IcmpContent;
use npsim_transport::time::Time;

use crate::ethernet::generated_mac;
use crate::event::Event;
use crate::frame::{Content, Frame, HEADERS, Hop, TTL};
use crate::stacks::Stacks;
use crate::tap::{SenderSnapshot, Tap};
use crate::topology::NodeKind;

use super::{Simulation, ToChip};

/// Flow number of messages without a flow in a host's CPU.
const NO_FLOW: u32 = u32::MAX;

impl Simulation {
    /// Runs up to and including a time. Frames for chips and for hosts with a stack are kept; a
    /// [`Network`](crate::Network) delivers them.
    pub fn run_to(&mut self, until: Time, tap: &mut dyn Tap) {
        self.run_with(until, &mut Stacks::default(), tap);
    }

    /// Runs to a time with these stacks at its open ends.
    pub(crate) fn run_with(&mut self, until: Time, stacks: &mut Stacks, tap: &mut dyn Tap) {
        while let Some((at, event)) = self.events.take(until) {
            self.now = at;
            match event {
                Event::Arrive { line, frame } => self.arrive(line as usize, frame, stacks, tap),
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
                Event::Rouse { node } => self.rouse(node as usize, stacks, tap),
            }
        }
        self.now = self.now.max(until);
    }

    /// Handles the arrival of the last bit of a frame at a node.
    fn arrive(
        &mut self,
        line: usize,
        mut frame: Box<Frame>,
        stacks: &mut Stacks,
        tap: &mut dyn Tap,
    ) {
        let node = self.lines[line].to;
        match self.topology.nodes[node].kind {
            // Frames that go to a chip do not become events of this kind.
            NodeKind::Switch | NodeKind::Chip { .. } => self.pass_on(node, frame, tap),
            NodeKind::Host { .. } => {
                let cpu = self.cpus[node].as_mut();
                let done = cpu.map_or(self.now, |cpu| {
                    cpu.packet(self.now, frame.flow.unwrap_or(NO_FLOW))
                });
                if done == self.now {
                    return self.take_in(node, &frame, tap);
                }
                let host = node as u32;
                self.events
                    .post(done, node, Event::TakeIn { node: host, frame });
            }
            NodeKind::OpenEnd { .. } => self.go_out(node, line, &frame, stacks, tap),
            NodeKind::Router { delay, .. } => {
                match frame.content.hop(node) {
                    Hop::Goes => {}
                    Hop::Expires => return self.expire(node, &frame, tap),
                    Hop::Ends => return self.answer(node, line, &frame, tap),
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

    /// Drops a frame whose time to live has expired. It is for the slow path, which does not respond
    /// here.
    fn expire(&mut self, node: usize, frame: &Frame, tap: &mut dyn Tap) {
        if let Some(line) = self.routes.line(node, frame.to as usize) {
            let reason = self.lines[line].refuse(self.now, frame);
            self.count_gone(frame);
            tap.dropped(self.now, line, frame, reason);
        }
    }

    /// Forwards a frame from a node.
    pub(super) fn pass_on(&mut self, node: usize, frame: Box<Frame>, tap: &mut dyn Tap) {
        // Flows without a path were rejected.
        if let Some(line) = self.routes.line(node, frame.to as usize) {
            self.enqueue(line, frame, tap);
        }
    }

    /// Handles the arrival of a frame at the queue of a line.
    fn enqueue(&mut self, line: usize, mut frame: Box<Frame>, tap: &mut dyn Tap) {
        let law = self.laws[line].as_mut();
        let taken = if law.is_none_or(|law| law.arrive(&mut frame)) {
            self.lines[line].admit(self.now, &frame)
        } else {
            Err(self.lines[line].refuse(self.now, &frame))
        };
        if let Err(reason) = taken {
            self.count_gone(&frame);
            tap.dropped(self.now, line, &frame, reason);
            return;
        }
        self.lines[line].put(frame);
        self.send(line, tap);
    }

    /// Lets a line send, or posts an event for when it can.
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
                self.count_gone(&frame);
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

    /// Handles a frame that has reached its destination.
    fn take_in(&mut self, node: usize, frame: &Frame, tap: &mut dyn Tap) {
        let Some(flow) = frame.own_flow() else {
            return self.receive_message(node, frame, tap);
        };
        self.flows[flow].arrived.add(frame.bytes.into());
        // Both ends could be at one node only if a flow led from a host to itself, which is rejected.
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
            // These belong to no flow.
            Content::Icmp(_) | Content::Arp { .. } | Content::Ethernet { .. } => {}
        }
        self.put_out(end, self.now, tap);
    }

    /// Handles a message that has reached a host. As hosts do (RFC 1122), it answers ARP requests for
    /// its address, and counts the rest. An ICMP error about a flow is not final: the flow continues
    /// (3.2.2.1, 4.2.3.9).
    fn receive_message(&mut self, node: usize, frame: &Frame, tap: &mut dyn Tap) {
        let address = self.topology.address(node);
        match &frame.content {
            Content::Icmp(bytes) => {
                let said = Datagram::of(bytes).and_then(|packet| IcmpContent::of(&packet, address));
                self.messages.count(said, frame.bytes);
                if let (Some(flow), Some(IcmpContent::Error(_))) = (frame.flow, said) {
                    self.flows[flow as usize].messages.count(said, frame.bytes);
                }
            }
            Content::Arp { message, from } => {
                self.messages.arp.add(frame.bytes.into());
                if message.operation != Operation::Request || message.target.1 != address {
                    return;
                }
                let answer = Box::new(Frame {
                    content: Content::Arp {
                        message: message.reply(generated_mac(node)),
                        from: node as u32,
                    },
                    to: *from,
                    ..frame.clone()
                });
                self.leave_host(node, answer, self.now, tap);
            }
            Content::Ethernet { .. } => self.messages.others.add(frame.bytes.into()),
            Content::Packet(_) | Content::Datagram { .. } => {}
        }
    }

    /// Sends a frame from a host, whose CPU begins to process it at `since`.
    fn leave_host(&mut self, node: usize, frame: Box<Frame>, since: Time, tap: &mut dyn Tap) {
        let flow = frame.flow.unwrap_or(NO_FLOW);
        let cpu = self.cpus[node].as_mut();
        let done = cpu.map_or(self.now, |cpu| cpu.packet(since, flow));
        if done == self.now {
            self.pass_on(node, frame, tap);
        } else if let Some(line) = self.routes.line(node, frame.to as usize) {
            let line = line as u32;
            self.events.post(done, node, Event::Enqueue { line, frame });
        }
    }

    fn wake(&mut self, end: usize, tap: &mut dyn Tap) {
        let it = &mut self.ends[end];
        if it.armed == Some(self.now) {
            it.armed = None;
        }
        // The timer may have been postponed since this event was posted.
        let mut since = self.now;
        if it.endpoint.wake_at().is_some_and(|at| at <= self.now) {
            if let Some(cpu) = &mut self.cpus[it.node] {
                since = cpu.timer(self.now, (end / 2) as u32);
            }
            it.endpoint.wake(self.now, &mut self.out);
        }
        self.put_out(end, since, tap);
    }

    /// Sends the output of an endpoint, which its host's CPU begins to process at `since`, and schedules
    /// its next wake-up.
    ///
    /// Flow n has the endpoints 2 n, its sender, and 2 n + 1, its receiver (`ends` of `simulation.rs`).
    /// A wake-up is posted only if it is earlier than the one already posted (`armed`); one that comes
    /// too early finds nothing due and is posted again.
    fn put_out(&mut self, end: usize, since: Time, tap: &mut dyn Tap) {
        let mut out = std::mem::take(&mut self.out);
        let (node, to) = (self.ends[end].node, self.ends[end].peer as u32);
        let flow = (end / 2) as u32;
        // The flow's setting does not apply to the answers of its receiver.
        let ttl = { end.is_multiple_of(2) }
            .then(|| self.topology.flows[end / 2].ttl)
            .flatten();
        let packets = out.packets.drain(..).map(|mut packet| {
            packet.ttl = ttl.unwrap_or(packet.ttl);
            let bytes = packet.length() as u32;
            (Content::Packet(packet), bytes)
        });
        let datagrams = out.datagrams.drain(..).map(|(number, bytes)| {
            let ttl = ttl.unwrap_or(TTL);
            (Content::Datagram { number, ttl }, bytes)
        });
        for (content, bytes) in packets.chain(datagrams) {
            self.flows[flow as usize].sent.add(bytes.into());
            let frame = Box::new(Frame {
                content,
                bytes,
                flow: Some(flow),
                to,
            });
            self.leave_host(node, frame, since, tap);
        }
        self.out = out;
        if end.is_multiple_of(2) && tap.watches_senders() {
            let endpoint = &self.ends[end].endpoint;
            let counters = endpoint.sender().unwrap_or_default();
            let seen = SenderSnapshot {
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
