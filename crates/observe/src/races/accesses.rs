//! The accesses of contexts: reads that may begin updates, and the last writes.

use std::collections::BTreeMap;
use std::sync::Arc;

use npsim_chip::Cycle;

use super::clock::{Moment, VectorClock};
use super::race::Longword;
use super::signals::RaisedSignals;

/// A read that may be the beginning of an update.
#[derive(Clone, Debug)]
pub struct PendingRead {
    pub at: Cycle,
    pub pc: u16,
    pub moment: Moment,
}

/// The last write of a longword by one context.
#[derive(Clone, Debug)]
pub struct Write {
    pub at: Cycle,
    pub pc: u16,
    pub moment: Moment,
    pub read: Option<(Cycle, u16)>,
    pub atomic: bool,
}

/// What is known about a longword.
#[derive(Clone, Debug, Default)]
pub struct LongwordState {
    pub writes: Vec<Write>,
    pub polled: bool,
}

/// What a context knows and has begun.
#[derive(Clone, Debug)]
pub struct ContextAccesses {
    pub clock: Arc<VectorClock>,
    pub signals: RaisedSignals,
    pub reads: BTreeMap<Longword, PendingRead>,
    /// The last local-memory longword read by each instruction.
    pub loaded: BTreeMap<u16, Longword>,
    pub executing: bool,
}

impl ContextAccesses {
    /// Learns of moments.
    pub fn learn(&mut self, moments: &[Moment]) {
        for moment in moments {
            Arc::make_mut(&mut self.clock).learn(moment);
        }
    }
}

impl LongwordState {
    /// Keeps the last write of each context.
    pub fn put(&mut self, write: Write) {
        match { self.writes.iter_mut() }.find(|it| it.moment.who == write.moment.who) {
            Some(own) => *own = write,
            None => self.writes.push(write),
        }
    }
}
