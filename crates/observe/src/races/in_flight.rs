//! Commands in flight, with what their contexts knew when they issued them.

use std::sync::Arc;

use npsim_chip::Cycle;

use super::clock::{Moment, VectorClock};

/// A command in flight.
#[derive(Clone, Debug)]
pub struct IssuedCommand {
    /// The number of its context.
    pub who: usize,
    pub pc: u16,
    /// When it was issued.
    pub at: Cycle,
    /// What its context knew then.
    pub known: Arc<VectorClock>,
    /// When it reached its unit.
    pub arrived: Option<Cycle>,
    /// What its context knows by it, once it is done.
    pub learned: Vec<Moment>,
    /// It is done: a unit may tell that before it tells when it served the command.
    pub done: bool,
}

impl IssuedCommand {
    /// When and with what knowledge it reached its unit, which serves it now.
    pub fn moment(&self, now: Cycle) -> Moment {
        Moment {
            who: self.who,
            at: self.arrived.unwrap_or(now),
            known: self.known.clone(),
        }
    }
}

/// All commands in flight, by slot; what is done stays until the slot has another.
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

    /// The command that a context issued first of those of an instruction.
    pub fn first_of(&self, who: usize, pc: u16) -> Option<&IssuedCommand> {
        let commands = self.slots.iter().flatten();
        let own = commands.filter(|it| (it.who, it.pc) == (who, pc) && !it.done);
        own.min_by_key(|it| it.at)
    }
}
