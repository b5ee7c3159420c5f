//! The interface between a unit and the chip: a unit takes commands at its inlets, requests their
//! data, serves them and counts.
//!
//! A unit is a folder below [`crate::units`] and one line in the table there. That line and this
//! trait determine the numbers of the inlets, the events that the unit gets, the rows of the
//! statistics, the names in traces, and the contents of a saved state. Its parameters are in the
//! profile, its commands in the instruction set; CONTRIBUTING.md lists where else a new unit has to
//! be entered.

use crate::kernel::command::CommandId;
use crate::kernel::fabric::Fabric;
use crate::kernel::lock::Lock;
use crate::kernel::row::Row;
use crate::kernel::saved_memory::StateError;
use crate::kernel::target::{CommandTarget, Inlet};
use crate::kernel::unit_counters::UnitCounters;
use npsim_profile::Profile;

/// Parts of an inlet's unit that can be busy independently.
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
/// The life of a command is described in [`crate::kernel::fabric`]. For each command, a unit must call
/// [`Fabric::release`] once when the command leaves the inlet and end it once ([`Fabric::push`],
/// [`Fabric::finish`] or [`Fabric::retire`]), and its results may depend only on the order of events.
pub trait Unit {
    /// The most inlets that the unit has on any chip, one per channel.
    const CHANNELS: u8 = 1;
    /// Whether the unit is a memory; statistics list memories first.
    const MEMORY: bool = false;
    /// The parts of the unit that can be busy independently.
    const RESOURCES: Resources = Resources::One;

    /// What the unit needs from others when a command executes ([`crate::kernel::sideband`]).
    type Sideband<'a>;

    /// The unit's inlets on a chip.
    fn inlet(profile: &Profile) -> Inlet;

    /// Handles a command that has reached the inlet.
    fn arrive(&mut self, slot: CommandId, fabric: &mut Fabric);

    /// Continues a command for which the data requested by [`Fabric::pull`] is in the slot.
    fn pulled(&mut self, slot: CommandId, fabric: &mut Fabric);

    /// Continues a command when the time requested by [`Fabric::ready_at`] has come.
    fn ready(&mut self, slot: CommandId, fabric: &mut Fabric, beside: Self::Sideband<'_>);

    /// Handles an [`Event::Turn`](crate::kernel::event::Event::Turn) of one of its inlets: the
    /// channel may continue.
    fn turn(&mut self, channel: u8, fabric: &mut Fabric);

    /// The counters of each channel, in order.
    fn counters(&self) -> impl Iterator<Item = &UnitCounters>;

    /// Counters of a channel that no other unit has. The statistics use the names.
    fn own_counters(&self, channel: u8) -> Row {
        let _ = channel;
        Row::default()
    }

    /// The unit's longwords that are watched as locks.
    fn locks(&self) -> impl Iterator<Item = &Lock> {
        std::iter::empty()
    }

    /// The commands that are served before one that waits at an inlet of the unit or in a queue
    /// behind it; `None` if it does not wait there. For display only.
    fn ahead_of(&self, slot: CommandId, channel: u8) -> Option<Vec<CommandId>> {
        let _ = (slot, channel);
        None
    }

    /// Appends to a saved state the part that serialization leaves out: the contents of large
    /// memories.
    fn save(&self, out: &mut Vec<u8>) {
        let _ = out;
    }

    /// Completes a unit read from a saved state: checks that it is from the same chip as `own`, and
    /// takes from `rest` what [`Self::save`] wrote.
    ///
    /// # Errors
    /// Returns an error if the state is from another chip or ends too early.
    fn restore(&mut self, own: &Self, rest: &mut &[u8]) -> Result<(), StateError> {
        let _ = (own, rest);
        Ok(())
    }

    /// Takes over the fields that serialization leaves out from the unit as it was before its state
    /// was rebuilt from numbers ([`crate::periodic_skip`]).
    fn adopt_unsaved(&mut self, from: &mut Self)
    where
        Self: Sized,
    {
        let _ = from;
    }

    /// Number of writes that changed data that serialization leaves out. Time is skipped only if
    /// there were none.
    fn changes(&self) -> u64 {
        0
    }

    /// Size of the unit's large memories in bytes, which bounds the output of [`Self::save`].
    fn memory_bytes(&self) -> u64 {
        0
    }

    /// Lets copies of the unit share its large memories until one is written to.
    fn share_memory(&mut self) {}

    /// Bytes of host memory that its large memories take, not counting pages shared with another
    /// unit.
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
