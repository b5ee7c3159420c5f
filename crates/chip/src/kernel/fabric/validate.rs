//! Validation of a fabric read from a file: it may refer only to commands, microengines, contexts
//! and units that its chip has.

use super::{BusCommand, CommandId, Fabric};
use crate::kernel::buffers::Buffers;
use crate::kernel::event::Event;
use npsim_isa::CONTEXTS;

/// Number of signals of a context.
const SIGNALS: u8 = 16;
/// Number of places of a next-neighbour ring.
const NN_PLACES: u8 = 128;
/// Number of transfer registers of a microengine in one direction.
const TRANSFERS: u8 = 128;

impl Fabric {
    /// Whether everything pending or in flight fits a chip like that of `other`.
    pub(crate) fn is_consistent_with(&self, other: &Self) -> bool {
        let microengines = other.nn_rings.len();
        self.nn_rings.len() == microengines
            && self.buffers.as_ref().map(Buffers::count)
                == other.buffers.as_ref().map(Buffers::count)
            && self.raisers.len() == other.raisers.len()
            && self.checks.is_whole()
            && self.buses.is_compatible_with(&other.buses)
            && self.buses.held_slots().all(|slot| self.has(slot))
            && self.free.iter().all(|slot| self.has(slot))
            && self.flights.all().iter().all(|flight| {
                flight.data.len() >= usize::from(flight.words)
                    && is_sound(&flight.command, microengines)
            })
            && self
                .events
                .pending()
                .all(|event| self.can_happen(event, microengines))
    }

    fn has(&self, slot: CommandId) -> bool {
        (slot.0 as usize) < self.flights.len()
    }

    fn can_happen(&self, event: Event, microengines: usize) -> bool {
        match event {
            Event::Push(slot, me) | Event::Pull(slot, me) => {
                self.has(slot) && usize::from(me) < microengines
            }
            Event::Arrive(slot) | Event::Ready(slot) => self.has(slot),
            Event::Signal {
                me,
                context,
                signal,
                by,
            } => {
                let raised = by
                    .place()
                    .is_some_and(|(me, ..)| usize::from(me) < microengines);
                let there = usize::from(me) < microengines && context < CONTEXTS;
                raised && there && signal < SIGNALS
            }
            Event::NnPut { me, index, .. } => usize::from(me) < microengines && index < NN_PLACES,
            Event::Timer { me, context } => usize::from(me) < microengines && context < CONTEXTS,
            Event::CommandBus(cluster) => usize::from(cluster) < self.buses.clusters(),
            Event::Turn(target) => self.buses.has(target),
            // The media interface and the core validate their codes themselves.
            Event::Media(_) | Event::Gpp(_) | Event::Directed(_) => true,
            Event::Microengine(me) | Event::StallOver(me) => usize::from(me) < microengines,
        }
    }
}

fn is_sound(command: &BusCommand, microengines: usize) -> bool {
    usize::from(command.me) < microengines
        && usize::from(command.transfer_me) < microengines
        && command.context < CONTEXTS
        && command.signal_context < CONTEXTS
        && command.transfer < TRANSFERS
}

#[cfg(test)]
mod tests {
    use crate::kernel::event::Event;
    use crate::kernel::fabric::{CommandId, Fabric, NnRing};
    use crate::kernel::target::CommandTarget;
    use crate::units::Units;
    use npsim_profile::Profile;

    #[test]
    fn dangling_references_in_a_snapshot_are_detected() {
        let whole = Fabric::new(Profile::load("ixp2400").unwrap(), Units::inlets);
        assert!(whole.is_consistent_with(&whole));
        let wrong: [fn(&mut Fabric); 9] = [
            |fabric| fabric.events.post(5, Event::Ready(CommandId(0))),
            |fabric| fabric.events.post(5000, Event::Microengine(8)),
            |fabric| fabric.events.post(5, Event::Timer { me: 0, context: 8 }),
            |fabric| fabric.events.post(5, Event::CommandBus(2)),
            |fabric| fabric.events.post(5, Event::StallOver(8)),
            |fabric| fabric.free.push(CommandId(0)),
            |fabric| fabric.nn_rings.push(NnRing::default()),
            |fabric| {
                fabric.buses = Fabric::new(Profile::load("ixp2800").unwrap(), Units::inlets).buses;
            },
            |fabric| {
                let target = CommandTarget::new(1);
                fabric.buses.hold(0, 0, CommandId(3), target);
            },
        ];
        for (number, wrong) in wrong.into_iter().enumerate() {
            let mut fabric = whole.clone();
            wrong(&mut fabric);
            assert!(!fabric.is_consistent_with(&whole), "{number}");
        }
        let mut fabric = whole.clone();
        fabric.events.post(5000, Event::Microengine(7));
        fabric.events.post(5, Event::CommandBus(1));
        assert!(fabric.is_consistent_with(&whole));
    }
}
