//! What a watcher of a run may see.
//!
//! A probe is a generic parameter: with [`NoProbe`] all calls compile away.
//! Microengines run ahead of each other, so calls are in order for each
//! microengine but not among them; every call carries its cycle.

use crate::Cycle;
use crate::fabric::BusCommand;

/// A watcher. All methods do nothing unless overridden.
pub trait Probe {
    /// Whether anything is watched at all.
    const ON: bool;

    /// An instruction is issued.
    fn instruction(&mut self, me: u8, context: u8, pc: u16, cycle: Cycle) {
        let _ = (me, context, pc, cycle);
    }

    /// A taken branch threw away `slots` issue slots.
    fn aborted(&mut self, me: u8, context: u8, pc: u16, cycle: Cycle, slots: Cycle) {
        let _ = (me, context, pc, cycle, slots);
    }

    /// The microengine went from one context to another, or to or from idleness.
    fn context_switch(&mut self, me: u8, from: Option<u8>, to: Option<u8>, cycle: Cycle) {
        let _ = (me, from, to, cycle);
    }

    /// The microengine could not issue a command from `from` until `until`.
    fn stall(&mut self, me: u8, context: u8, pc: u16, from: Cycle, until: Cycle) {
        let _ = (me, context, pc, from, until);
    }

    /// A command was issued.
    fn command(&mut self, command: &BusCommand, cycle: Cycle) {
        let _ = (command, cycle);
    }
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProbe;

impl Probe for NoProbe {
    const ON: bool = false;
}
