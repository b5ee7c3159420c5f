//! Checks whether an external state fits a network.
//!
//! A state is read only if its digest and that of all inputs are correct, so any error found here
//! was made by hand. Even then it must do no harm.

use std::mem::discriminant;

use npsim_protocols::icmp::Datagram;

use crate::event::Event;
use crate::frame::{Content, Frame};
use crate::link_header::HEADER;

use super::Simulation;

impl Simulation {
    /// Whether a frame could belong to this network.
    pub(crate) fn has(&self, frame: &Frame) -> bool {
        let (flows, nodes) = (self.flows.len(), self.topology.nodes.len());
        let from = match frame.content {
            Content::Arp { from, .. } | Content::Ethernet { from, .. } => from,
            _ => frame.to,
        };
        // A packet has a flow; a message may have none.
        let flow = frame
            .flow
            .map_or(!frame.is_flow_packet(), |flow| (flow as usize) < flows);
        let sound = match &frame.content {
            Content::Icmp(bytes) => Datagram::of(bytes).is_some(),
            Content::Ethernet { bytes, .. } => bytes.len() >= HEADER,
            _ => true,
        };
        sound && flow && (frame.to as usize) < nodes && (from as usize) < nodes
    }

    /// Continues from a state of the same network.
    ///
    /// # Errors
    /// Returns a message if it is not such a state.
    pub(crate) fn restore(&mut self, state: Self) -> Result<(), String> {
        if state.topology != self.topology || state.routes != self.routes {
            return Err("it is of another network".to_owned());
        }
        let lines = { state.lines.iter() }.zip(&self.lines);
        let ends = { state.ends.iter() }.zip(&self.ends);
        let alike = state.lines.len() == self.lines.len()
            && { lines }.into_iter().all(|(one, other)| one.is_like(other))
            && state.laws.len() == self.laws.len()
            && { state.laws.iter() }.zip(&self.laws).all(|(one, other)| {
                one.as_ref().map(discriminant) == other.as_ref().map(discriminant)
            })
            && state.ends.len() == self.ends.len()
            && { ends }.into_iter().all(|(one, other)| {
                discriminant(&one.endpoint) == discriminant(&other.endpoint)
                    && (one.node, one.peer) == (other.node, other.peer)
            })
            && state.flows.len() == self.flows.len()
            && state.transfers.len() == self.transfers.len()
            && state.cpus.len() == self.cpus.len()
            && state.open.len() == self.open.len()
            && { state.open.iter() }
                .zip(&self.open)
                .all(|(one, other)| match (one, other) {
                    (Some(one), Some(other)) => one.is_like(other),
                    (one, other) => one.is_none() && other.is_none(),
                })
            && { state.outgoing.iter() }
                .all(|frame| self.open.get(frame.node).is_some_and(Option::is_some))
            && { state.cpus.iter() }
                .zip(&self.cpus)
                .all(|(one, other)| one.is_some() == other.is_some());
        if !alike {
            return Err("its lines, flows and hosts are not those of the network".to_owned());
        }
        let fits = |event: &Event| match event {
            Event::Arrive { line, frame } | Event::Enqueue { line, frame } => {
                (*line as usize) < self.lines.len() && self.has(frame)
            }
            Event::TakeIn { node, frame } => {
                (*node as usize) < self.topology.nodes.len() && self.has(frame)
            }
            // The state of a network with stacks cannot be saved.
            Event::Rouse { .. } => false,
            Event::Free { line } | Event::Law { line, .. } => (*line as usize) < self.lines.len(),
            Event::Open { flow } => (*flow as usize) < self.flows.len(),
            Event::Wake { endpoint } => (*endpoint as usize) < self.ends.len(),
        };
        let mut to_chips = state.to_chips.iter();
        if !state.events.is_sound(fits)
            || !state.frames().all(|frame| self.has(frame))
            || !to_chips.all(|it| it.line < self.lines.len() && self.has(&it.frame))
        {
            return Err("what it has in flight is impossible in the network".to_owned());
        }
        *self = state;
        Ok(())
    }
}
