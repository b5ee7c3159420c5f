//! What a unit is to the chip: something that takes commands at its inlets, asks
//! for their data, serves them and counts.
//!
//! A unit is a folder below [`crate::units`] and one line in the table there.
//! From that line and this trait come the numbers of the inlets, which events the unit
//! gets, the rows of the statistics, the names in traces, and what a saved state
//! holds. Its parameters are in the profile, its commands in the instruction set;
//! CONTRIBUTING.md lists where else a new unit has to be entered.

use crate::kernel::command::CommandId;
use crate::kernel::fabric::Fabric;
use crate::kernel::lock::Lock;
use crate::kernel::row::Row;
use crate::kernel::saved_memory::StateError;
use crate::kernel::target::{CommandTarget, Inlet};
use crate::kernel::unit_counters::UnitCounters;
use npsim_profile::Profile;

/// Parts of an inlet's unit that are busy one by one.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Resources {
    /// The unit does one thing at a time.
    One,
    /// Lane 0 reads, lane 1 writes.
    Directions,
    /// Each bank is a lane.
    Banks,
}

/// A unit of the chip that takes commands.
///
/// The life of a command is described in [`crate::kernel::fabric`]. A unit owes it
/// three things: one [`Fabric::release`] when it leaves the inlet, an end
/// ([`Fabric::push`], [`Fabric::finish`] or [`Fabric::retire`]), and no answer
/// that depends on anything but the order of events.
pub trait Unit {
    /// The most inlets that any chip has of it, one for each channel.
    const CHANNELS: u8 = 1;
    /// Whether it is a memory: statistics list these first.
    const MEMORY: bool = false;
    /// What of it can be busy at one time.
    const RESOURCES: Resources = Resources::One;

    /// What it needs of others when a command acts ([`crate::kernel::sideband`]).
    type Sideband<'a>;

    /// The inlets on a chip.
    fn inlet(profile: &Profile) -> Inlet;

    /// A command has reached the inlet.
    fn arrive(&mut self, slot: CommandId, fabric: &mut Fabric);

    /// The data that [`Fabric::pull`] asked for is in the slot.
    fn pulled(&mut self, slot: CommandId, fabric: &mut Fabric);

    /// The time that [`Fabric::ready_at`] asked for has come.
    fn ready(&mut self, slot: CommandId, fabric: &mut Fabric, beside: Self::Sideband<'_>);

    /// An [`Event::Turn`](crate::kernel::event::Event::Turn) of one of its inlets
    /// has come: the channel may go on.
    fn turn(&mut self, channel: u8, fabric: &mut Fabric);

    /// What each channel counted, in order.
    fn counters(&self) -> impl Iterator<Item = &UnitCounters>;

    /// What a channel counted that no other unit does. The statistics take the names.
    fn own_counters(&self, channel: u8) -> Row {
        let _ = channel;
        Row::default()
    }

    /// The longwords in it that are watched as locks.
    fn locks(&self) -> impl Iterator<Item = &Lock> {
        std::iter::empty()
    }

    /// The commands that are served before one that waits at an inlet of the unit or
    /// in a queue behind it; `None` where it does not wait there. Only shown.
    fn ahead_of(&self, slot: CommandId, channel: u8) -> Option<Vec<CommandId>> {
        let _ = (slot, channel);
        None
    }

    /// Appends to a saved state what serialization leaves out: the contents of
    /// large memories.
    fn save(&self, out: &mut Vec<u8>) {
        let _ = out;
    }

    /// Completes a unit that was read from a saved state: checks that it is one
    /// of the same chip as `own`, and takes from `rest` what [`Self::save`] wrote.
    ///
    /// # Errors
    /// It is the state of another chip, or ends too early.
    fn restore(&mut self, own: &Self, rest: &mut &[u8]) -> Result<(), StateError> {
        let _ = (own, rest);
        Ok(())
    }

    /// Takes over what serialization leaves out, from the unit as it was before its
    /// state was made anew from numbers ([`crate::periodic_skip`]).
    fn adopt_unsaved(&mut self, from: &mut Self)
    where
        Self: Sized,
    {
        let _ = from;
    }

    /// How often a write changed what serialization leaves out. Time is skipped only where
    /// nothing did.
    fn changes(&self) -> u64 {
        0
    }

    /// Bytes of its large memories, which bound what [`Self::save`] writes.
    fn memory_bytes(&self) -> u64 {
        0
    }

    /// Lets copies of it have its large memories too, until one is written to.
    fn share_memory(&mut self) {}

    /// Bytes of the host's memory that its large memories take beside those of another
    /// unit, with which they may share pages.
    fn host_bytes(&self, beside: Option<&Self>) -> usize
    where
        Self: Sized,
    {
        let _ = beside;
        0
    }
}

/// A unit's place in the table of units.
pub trait HasTarget: Unit {
    /// The first inlet.
    const FIRST: CommandTarget;

    /// The inlet of a channel.
    #[must_use]
    fn target(channel: u8) -> CommandTarget {
        debug_assert!(channel < Self::CHANNELS);
        CommandTarget::new(Self::FIRST.index() as u8 + channel)
    }
}
