//! The data of commands: when a unit may read for one, and transfers between registers and units.

use super::{CommandId, Fabric};
use crate::Cycle;
use crate::kernel::event::Event;

impl Fabric {
    /// The cycle from which the bus that takes the data lets a unit start to read for a command; 0
    /// if it may start now.
    #[inline]
    pub(crate) fn push_ready(&self, slot: CommandId) -> Cycle {
        if self.buses.push_is_free(self.now) {
            0
        } else {
            self.push_ready_on_bus(slot)
        }
    }

    #[inline(never)]
    fn push_ready_on_bus(&self, slot: CommandId) -> Cycle {
        self.buses.push_ready(&self.flight(slot).command)
    }

    /// Requests `words` longwords of the issuer's OUT registers, starting no earlier than
    /// `not_before`; [`Event::Pull`] follows when the last has been taken.
    #[inline(never)]
    pub fn pull(&mut self, slot: CommandId, words: u8, not_before: Cycle) {
        // A separate function, so that the common path saves no registers for observers.
        if self.special_data {
            self.pull_specially(slot, words, not_before);
        } else {
            self.pull_as::<false>(slot, words, not_before);
        }
    }

    #[cold]
    #[inline(never)]
    fn pull_specially(&mut self, slot: CommandId, words: u8, not_before: Cycle) {
        self.pull_as::<true>(slot, words, not_before);
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // The whole body of both callers.
    fn pull_as<const SPECIAL: bool>(&mut self, slot: CommandId, words: u8, not_before: Cycle) {
        let flight = &mut self.flights[slot];
        flight.words = words;
        let lead = not_before.saturating_sub(self.now);
        let trace = SPECIAL.then_some(&mut self.trace);
        let done = self
            .buses
            .pull(self.now, lead, &flight.command, words, trace);
        let me = flight.command.transfer_me;
        self.events.post(done, Event::Pull(slot, me));
    }

    /// Pushes the first `words` longwords of the slot's data, starting no earlier than now;
    /// [`Event::Push`] follows with the last of them. If `words` is 0, only the push signals are
    /// delivered.
    pub fn push(&mut self, slot: CommandId, words: u8) {
        self.push_at(slot, words, self.now);
    }

    /// Pushes as [`Self::push`] does, but the data is ready only at `not_before`. The data must be
    /// in the slot now.
    #[inline(never)]
    pub fn push_at(&mut self, slot: CommandId, words: u8, not_before: Cycle) {
        // Kept separate, so that the common path saves no registers for rare cases.
        if self.special_data {
            self.push_specially(slot, words, not_before);
        } else {
            self.push_as::<false>(slot, words, not_before);
        }
    }

    /// Pushes data if an observer wants events of buses or completions may be deliberately delayed.
    #[cold]
    #[inline(never)]
    fn push_specially(&mut self, slot: CommandId, words: u8, not_before: Cycle) {
        self.push_as::<true>(slot, words, not_before);
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // The whole body of both callers.
    fn push_as<const SPECIAL: bool>(&mut self, slot: CommandId, words: u8, not_before: Cycle) {
        let flight = &mut self.flights[slot];
        flight.words = words;
        let lead = not_before.saturating_sub(self.now);
        let trace = SPECIAL.then_some(&mut self.trace);
        let done = self
            .buses
            .push(self.now, lead, &flight.command, words, trace);
        // Only the completion that the microengine sees is delayed. The bus is booked as usual, so
        // that the delay moves no other command.
        let me = flight.command.transfer_me;
        let late = if SPECIAL { self.late(slot) } else { 0 };
        self.events.post(done + late, Event::Push(slot, me));
    }
}
