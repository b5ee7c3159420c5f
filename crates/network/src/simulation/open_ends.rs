//! Open ends, at which complete Ethernet frames enter and leave.
//!
//! A frame is routed by the address in its IPv4 header, or, for an ARP message, by the requested
//! address; all others, and those for addresses that no node has, go to the router on the link.
//! Switches know the location of every node and do not flood.

use std::collections::VecDeque;
use std::net::Ipv4Addr;

use npsim_protocols::arp::message::{ArpMessage, Operation};
use npsim_protocols::icmp::Datagram;
use npsim_transport::time::Time;
use serde::{Deserialize, Serialize};
use thiserror::Error;

use super::Simulation;
use crate::ethernet::with_ethernet_header;
use crate::event::Event;
use crate::frame::{Content, Frame};
use crate::link_header::{HEADER, Mac, generated_mac};
use crate::stacks::Stacks;
use crate::tap::Tap;
use crate::topology::Topology;

/// A frame that has arrived at an open end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct OutgoingFrame {
    /// The open end.
    pub node: usize,
    /// When its last bit arrived.
    pub at: Time,
    /// The bytes, starting with the destination address, without the check sequence.
    pub bytes: Vec<u8>,
}

/// Why a frame cannot enter.
#[derive(Debug, Clone, PartialEq, Eq, Error)]
pub enum InjectError {
    /// The node is not an open end.
    #[error("node {0} is not an open end")]
    NotOpen(usize),
    /// The node has no link.
    #[error("`{0}` is at no link")]
    Unlinked(String),
    /// The network has run past the frame's time.
    #[error("a frame of {at} ps comes after the network has run to {now} ps")]
    Late {
        /// When the frame was to enter.
        at: Time,
        /// The time that the network has reached.
        now: Time,
    },
    /// The frame is shorter than a header.
    #[error("a frame of {0} bytes is shorter than its header")]
    Short(usize),
}

/// State of an open end.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct OpenEnd {
    /// The nodes on its link, beyond switches, nearest first.
    neighbours: Vec<usize>,
    /// The one among them that gets frames for no node on the link.
    gateway: Option<usize>,
    /// The address from which it last sent, or a made-up one.
    mac: Mac,
    /// Addresses from which it sends later, with the times of their first frames: a replay knows
    /// frames in advance.
    later: VecDeque<(Time, Mac)>,
}

impl OpenEnd {
    pub(super) fn of(topology: &Topology, node: usize) -> Self {
        let neighbours = topology.on_link(node);
        let mut all = neighbours.iter();
        let router = all.find(|other| topology.is_router(**other));
        Self {
            gateway: router.or(neighbours.first()).copied(),
            neighbours,
            mac: generated_mac(node),
            later: VecDeque::new(),
        }
    }

    /// Records that a frame with this source address enters at a time.
    fn sends(&mut self, mac: Mac, at: Time) {
        if self.later.back().map_or(self.mac, |(_, mac)| *mac) != mac {
            self.later.push_back((at, mac));
        }
    }

    /// Returns the destination address of frames that leave at a time.
    fn address(&mut self, now: Time) -> Mac {
        while let Some((_, mac)) = self.later.pop_front_if(|(at, _)| *at < now) {
            self.mac = mac;
        }
        self.mac
    }

    /// Whether it is the same open end as another one.
    pub(super) fn is_like(&self, other: &Self) -> bool {
        self.neighbours == other.neighbours && self.gateway == other.gateway
    }
}

impl Simulation {
    /// Injects a frame at an open end, whose line takes it at a time, or when the frames before it
    /// have left. The frame is complete, but has no check sequence.
    ///
    /// # Errors
    /// Returns an [`InjectError`] if the network has run past that time, or the frame or the open end
    /// is invalid.
    pub fn inject(&mut self, node: usize, bytes: &[u8], at: Time) -> Result<(), InjectError> {
        let Some(Some(_)) = self.open.get(node) else {
            return Err(InjectError::NotOpen(node));
        };
        if at < self.now {
            let now = self.now;
            return Err(InjectError::Late { at, now });
        }
        if bytes.len() < HEADER {
            return Err(InjectError::Short(bytes.len()));
        }
        let to = self.destination(node, bytes);
        let way = to.and_then(|to| Some((to, self.routes.line(node, to)?)));
        let Some((to, line)) = way else {
            let name = self.topology.nodes[node].name.clone();
            return Err(InjectError::Unlinked(name));
        };
        if let (Some(Some(end)), Some(mac)) = (self.open.get_mut(node), bytes[6..].first_chunk()) {
            end.sends(*mac, at);
        }
        let frame = Box::new(Frame::of_ethernet(bytes.to_vec(), node as u32, to as u32));
        let line = line as u32;
        self.events.post(at, node, Event::Enqueue { line, frame });
        Ok(())
    }

    /// Takes the frames that have arrived at open ends since the last call, in chronological order.
    pub fn take_outgoing(&mut self) -> Vec<OutgoingFrame> {
        std::mem::take(&mut self.outgoing)
    }

    /// Returns the node to which a frame from an open end goes.
    pub(super) fn destination(&self, from: usize, bytes: &[u8]) -> Option<usize> {
        let end = self.open[from].as_ref()?;
        let wanted = ArpMessage::from_frame(bytes).map(|message| message.target.1);
        let on_link = |node: &usize| end.neighbours.contains(node);
        if let Some(wanted) = wanted {
            return self
                .topology
                .node_of(wanted)
                .filter(on_link)
                .or(end.gateway);
        }
        let packet = Datagram::from_frame(bytes).map(|packet| packet.destination());
        let node = packet.and_then(|wanted| self.topology.node_of(wanted));
        node.filter(|node| self.routes.line(from, *node).is_some())
            .or(end.gateway)
    }

    /// Handles a frame that has arrived at an open end.
    pub(super) fn go_out(
        &mut self,
        node: usize,
        line: usize,
        frame: &Frame,
        stacks: &mut Stacks,
        tap: &mut dyn Tap,
    ) {
        let now = self.now;
        let own = self.open[node]
            .as_mut()
            .map_or(generated_mac(node), |end| end.address(now));
        let peer = match frame.content {
            // The last router has put its address here, if it is known.
            Content::Ethernet { ref bytes, .. } => bytes[6..].first_chunk().copied(),
            _ => None,
        };
        let peer = peer.unwrap_or_else(|| generated_mac(self.lines[line].from));
        // Endpoints only create packets that fit into frames.
        let Ok(bytes) = with_ethernet_header(frame, &self.topology, own, peer) else {
            return;
        };
        if let Some(stack) = stacks.at(node) {
            stack.host.receive(bytes);
            self.poll(node, stacks, tap);
        } else {
            let at = self.now;
            self.outgoing.push(OutgoingFrame { node, at, bytes });
        }
    }

    /// Handles an ARP message that has arrived at a packet-level router: it answers requests of open
    /// ends for all addresses that are not on their side, and for the first address of their prefix,
    /// which stands for its own.
    pub(super) fn answer(&mut self, node: usize, line: usize, frame: &Frame, tap: &mut dyn Tap) {
        let Content::Arp { message, from } = &frame.content else {
            return;
        };
        let (asker, wanted) = (message.sender.1, message.target.1);
        let back = line ^ 1;
        let there = self.topology.node_of(wanted);
        let first = |(own, length): (Ipv4Addr, u8)| {
            let mask = u32::MAX.checked_shr(length.into()).unwrap_or(0);
            (mask > 1).then(|| Ipv4Addr::from((u32::from(own) & !mask) + 1))
        };
        let beyond = there.is_none_or(|there| {
            self.routes.line(node, there) != Some(back)
                || self.topology.routed(there).and_then(first) == Some(wanted)
        });
        // A probe checks whether another node has the sender's own address.
        let probe = asker.is_unspecified() || asker == wanted;
        let asks = message.operation == Operation::Request && self.topology.is_open(*from as usize);
        if asks && beyond && !probe {
            let answer = Content::Arp {
                message: message.reply(generated_mac(node)),
                from: node as u32,
            };
            let answer = Frame {
                content: answer,
                to: *from,
                ..frame.clone()
            };
            self.pass_on(node, Box::new(answer), tap);
        }
    }
}
