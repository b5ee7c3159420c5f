//! Commands in flight, with the knowledge of their contexts at issue.

use std::sync::Arc;

use npsim_chip::Cycle;

use super::clock::{Moment, VectorClock};

/// A command in flight.
#[derive(Clone, Debug)]
pub struct IssuedCommand {
    /// The number of its context.
    pub who: usize,
    pub pc: u16,
    /// The cycle of issue.
    pub at: Cycle,
    /// The knowledge of its context at that time.
    pub known: Arc<VectorClock>,
    /// The cycle at which it reached its unit.
    pub arrived: Option<Cycle>,
    /// What its context learns by it, once it is done.
    pub learned: Vec<Moment>,
    /// Whether it is done: a unit may report that before it reports the service of the command.
    pub done: bool,
}

impl IssuedCommand {
    /// Its arrival at the unit, which serves it now, with the context's knowledge.
    pub fn moment(&self, now: Cycle) -> Moment {
        Moment {
            who: self.who,
            at: self.arrived.unwrap_or(now),
            known: self.known.clone(),
        }
    }
}

/// All commands in flight, by slot; completed ones stay until the slot is reused.
#[derive(Clone, Debug, Default)]
pub struct CommandsInFlight {
    slots: Vec<Option<IssuedCommand>>,
}

impl CommandsInFlight {
    pub fn insert(&mut self, slot: usize, command: IssuedCommand) {
        if self.slots.len() <= slot {
            self.slots.resize(slot + 1, None);
        }
        self.slots[slot] = Some(command);
    }

    pub fn get_mut(&mut self, slot: usize) -> Option<&mut IssuedCommand> {
        self.slots.get_mut(slot)?.as_mut()
    }

    /// The earliest command in flight that a context issued at an instruction.
    pub fn first_of(&self, who: usize, pc: u16) -> Option<&IssuedCommand> {
        let commands = self.slots.iter().flatten();
        let own = commands.filter(|it| (it.who, it.pc) == (who, pc) && !it.done);
        own.min_by_key(|it| it.at)
    }
}
