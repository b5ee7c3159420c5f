//! Hosts with a stack at open ends: when they are polled, and where their frames go.
//!
//! A stack is polled when a frame arrives and at the times that it requests, so that an idle one
//! costs nothing. As with endpoints, an event is posted only if it is earlier than the one already
//! posted, and one that comes too early finds nothing due.

use super::Simulation;
use crate::event::Event;
use crate::frame::Frame;
use crate::stacks::Stacks;
use crate::tap::Tap;
use npsim_stack::Role;

impl Simulation {
    /// Posts the first action of each stack.
    pub(crate) fn begin(&mut self, stacks: &mut Stacks) {
        for node in 0..self.topology.nodes.len() {
            if let Some(stack) = stacks.at(node) {
                stack.due = stack.host.due();
                self.arm(node, stacks);
            }
        }
    }

    /// Handles a time requested by a stack, unless the stack has since requested a later one.
    pub(super) fn rouse(&mut self, node: usize, stacks: &mut Stacks, tap: &mut dyn Tap) {
        let Some(stack) = stacks.at(node) else { return };
        if stack.armed == Some(self.now) {
            stack.armed = None;
        }
        if stack.due.is_some_and(|due| due <= self.now) {
            self.poll(node, stacks, tap);
        } else {
            self.arm(node, stacks);
        }
    }

    /// Polls a stack and sends its frames.
    pub(super) fn poll(&mut self, node: usize, stacks: &mut Stacks, tap: &mut dyn Tap) {
        let Some(stack) = stacks.at(node) else { return };
        let mut out = Vec::new();
        stack.due = stack.host.poll(self.now, &mut out);
        for (number, role, counters) in stack.host.ends() {
            let transfer = &mut self.transfers[number];
            match role {
                Role::Client => transfer.client = counters,
                Role::Server => transfer.server = counters,
            }
        }
        for bytes in out {
            if let Some(to) = self.destination(node, &bytes) {
                let frame = Frame::of_ethernet(bytes, node as u32, to as u32);
                self.pass_on(node, Box::new(frame), tap);
            }
        }
        self.arm(node, stacks);
    }

    fn arm(&mut self, node: usize, stacks: &mut Stacks) {
        let Some(stack) = stacks.at(node) else { return };
        let Some(due) = stack.due else { return };
        let at = due.max(self.now);
        if stack.armed.is_none_or(|armed| at < armed) {
            stack.armed = Some(at);
            let node = node as u32;
            self.events.post(at, node as usize, Event::Rouse { node });
        }
    }
}
