//! The units that serve commands: memories, media interface, hash unit, chip-wide CSRs, and devices
//! attached to an SRAM channel.
//!
//! The table below is the only place that lists them all; adding a line puts a unit on the chip.
//! Each unit is implemented in its own folder, as a [`Unit`] of `kernel/unit.rs`. [`dram`] is the
//! model to follow for a new one; CONTRIBUTING.md lists the remaining steps.

pub mod cap;
pub mod dram;
pub mod hash;
pub mod msf;
pub mod scratch;
pub mod sram;

use npsim_isa::{CommandOp, Unit as Served};
use serde::{Deserialize, Serialize};

use crate::kernel::fabric::{CommandId, Fabric};
use crate::kernel::lock::Lock;
use crate::kernel::row::Row;
use crate::kernel::saved_memory::StateError;
use crate::kernel::sideband::{Interrupts, TransferRegisters};
use crate::kernel::target::{CommandTarget, Inlets};
use crate::kernel::unit::{HasTarget, Resources, Unit};
use crate::kernel::unit_counters::UnitCounters;
use cap::{Cap, ProxyTargets};
use dram::Dram;
use hash::Hash;
use msf::{MediaSetup, Msf};
use npsim_profile::Profile;
use scratch::Scratch;
use sram::Sram;

/// The parts of the chip that units reach besides each other.
pub struct UnitSurroundings<'a> {
    /// The microengines' registers.
    pub registers: &'a mut dyn TransferRegisters,
    /// The general-purpose core.
    pub core: &'a mut dyn Interrupts,
}

/// A line of the table: the unit's field and type, its constructor, the units of the instruction
/// set whose commands it serves (the first gives it its name), and the neighbours that it is passed
/// when a command takes effect.
///
/// Inlets are numbered in the order of the lines. New units go at the end: a number is a track in
/// timelines.
macro_rules! units {
    (|$profile:ident, $media:ident, $outside:ident| $(
        $(#[doc = $doc:literal])+
        $field:ident: $unit:ident = $new:expr, serves $first:ident $($more:ident)*, beside $beside:expr;
    )+) => {
        /// All units of a chip.
        #[derive(Clone, Debug, Serialize, Deserialize)]
        pub struct Units { $($(#[doc = $doc])+ pub $field: $unit,)+ }

        /// Units of the instruction set and the number of inlets, line by line.
        const LINES: &[(Served, u8)] = &[$((Served::$first, <$unit as Unit>::CHANNELS),)+];

        #[allow(non_camel_case_types)]
        enum Line { $($field,)+ }

        $(impl HasTarget for $unit {
            const FIRST: CommandTarget = first(Line::$field as usize);
        })+

        impl Units {
            /// The units of a chip in their initial state.
            #[must_use]
            pub fn new($profile: &Profile, $media: &MediaSetup<'_>) -> Self {
                Self { $($field: $new,)+ }
            }

            /// The inlets of a chip.
            #[must_use]
            pub fn inlets(profile: &Profile) -> Inlets {
                let mut inlets = Inlets::none();
                $(inlets.add(
                    <$unit>::FIRST,
                    <$unit>::inlet(profile),
                    &[Served::$first, $(Served::$more,)*],
                );)+
                inlets
            }

            /// Handles a command that has reached its inlet.
            #[inline(always)]
            #[allow(clippy::inline_always)] // Part of the event loop.
            pub(crate) fn arrive(&mut self, slot: CommandId, fabric: &mut Fabric) {
                match served(fabric.flight(slot).command.op) {
                    $(Served::$first $(| Served::$more)* => self.$field.arrive(slot, fabric),)+
                }
            }

            /// Handles the arrival of a command's data.
            #[inline]
            pub(crate) fn pulled(&mut self, slot: CommandId, fabric: &mut Fabric) {
                match served(fabric.flight(slot).command.op) {
                    $(Served::$first $(| Served::$more)* => self.$field.pulled(slot, fabric),)+
                }
            }

            /// Lets a command take effect.
            #[inline]
            pub(crate) fn ready(&mut self, slot: CommandId, fabric: &mut Fabric, $outside: UnitSurroundings<'_>) {
                let Self { $($field,)+ } = self;
                match served(fabric.flight(slot).command.op) {
                    $(Served::$first $(| Served::$more)* => $field.ready(slot, fabric, $beside),)+
                }
            }

            /// Lets a channel continue at its turn.
            #[inline(always)]
            #[allow(clippy::inline_always)] // Part of the event loop.
            pub(crate) fn turn(&mut self, target: CommandTarget, fabric: &mut Fabric) {
                let channel = target.channel();
                match target.unit() {
                    $(Served::$first $(| Served::$more)* => self.$field.turn(channel, fabric),)+
                }
            }

            /// The commands that are served before one that is waiting at a unit.
            pub fn ahead_of(&self, slot: CommandId, target: CommandTarget) -> Option<Vec<CommandId>> {
                let channel = target.channel();
                match target.unit() {
                    $(Served::$first $(| Served::$more)* => self.$field.ahead_of(slot, channel),)+
                }
            }

            /// The counters of each inlet's unit or channel, with the row of those specific to the
            /// unit: memories first, the rest in table order.
            pub fn counters(&self) -> impl Iterator<Item = (CommandTarget, &UnitCounters, Row)> {
                let mut rows = Vec::new();
                $(rows.extend((0..).zip(self.$field.counters()).map(|(channel, counters)| {
                    let own = self.$field.own_counters(channel);
                    (<$unit>::MEMORY, (<$unit>::target(channel), counters, own))
                }));)+
                rows.sort_by_key(|(memory, _)| !memory);
                rows.into_iter().map(|(_, row)| row)
            }

            /// The longwords watched as locks, unit by unit.
            pub fn locks(&self) -> impl Iterator<Item = &Lock> {
                std::iter::empty()$(.chain(self.$field.locks()))+
            }

            /// Appends the state that serialization leaves out.
            pub(crate) fn save(&self, out: &mut Vec<u8>) {
                $(self.$field.save(out);)+
            }

            /// Completes units that were read from a saved state.
            ///
            /// # Errors
            /// Returns an error if the state is from a chip other than `own`, or is too short.
            pub(crate) fn restore(
                &mut self,
                own: &Self,
                rest: &mut &[u8],
            ) -> Result<(), StateError> {
                $(self.$field.restore(&own.$field, rest)?;)+
                Ok(())
            }

            /// Takes over the state that serialization leaves out.
            pub(crate) fn adopt_unsaved(&mut self, from: &mut Self) {
                $(self.$field.adopt_unsaved(&mut from.$field);)+
            }

            /// Number of writes to the state that serialization leaves out.
            pub(crate) fn changes(&self) -> u64 {
                [$(self.$field.changes()),+].iter().sum()
            }

            /// Size of all large memories, in bytes.
            pub(crate) fn memory_bytes(&self) -> u64 {
                [$(self.$field.memory_bytes()),+].iter().sum()
            }

            /// Shares all large memories with copies, until one is written.
            pub(crate) fn share_memory(&mut self) {
                $(self.$field.share_memory();)+
            }

            /// Bytes of host memory that all large memories occupy in addition to those of
            /// `beside`.
            pub(crate) fn host_bytes(&self, beside: Option<&Self>) -> usize {
                [$(self.$field.host_bytes(beside.map(|it| &it.$field))),+].iter().sum()
            }
        }

        impl CommandTarget {
            /// The resources of its unit that can be busy independently.
            #[must_use]
            pub fn lanes(self) -> Resources {
                match self.unit() {
                    $(Served::$first $(| Served::$more)* => <$unit>::RESOURCES,)+
                }
            }
        }
    };
}

units! { |profile, media, outside|
    /// Scratchpad.
    scratch: Scratch = Scratch::new(profile), serves Scratch, beside ();
    /// Hash unit.
    hash: Hash = Hash::new(profile), serves Hash, beside ();
    /// Media interface.
    msf: Msf = Msf::new(profile, media), serves Msf, beside outside.registers;
    /// Chip-wide CSRs and the PCI mailbox.
    cap: Cap = Cap::new(profile), serves Cap Pci, beside ProxyTargets {
        banks: [scratch, hash],
        core: outside.core,
    };
    /// All SRAM channels.
    sram: Sram = Sram::new(profile), serves Sram, beside ();
    /// All DRAM channels.
    dram: Dram = Dram::new(profile), serves Dram, beside msf;
}

/// The unit of each operation, for lookup by index.
static SERVED: [Served; CommandOp::ALL.len()] = {
    let mut all = [LINES[0].0; CommandOp::ALL.len()];
    let mut at = 0;
    while at < all.len() {
        all[CommandOp::ALL[at] as usize] = CommandOp::ALL[at].info().unit;
        at += 1;
    }
    all
};

/// The unit that serves an operation.
#[inline]
fn served(op: CommandOp) -> Served {
    SERVED[op as usize]
}

/// The first inlet of a line, after those of the preceding lines.
const fn first(line: usize) -> CommandTarget {
    let (mut at, mut number) = (0, 0);
    while at < line {
        number += LINES[at].1;
        at += 1;
    }
    CommandTarget::new(number)
}

/// Unit and channel of each inlet. Numbers past the last are never assigned.
const OWNERS: [(Served, u8); CommandTarget::COUNT] = {
    let mut owners = [(LINES[0].0, 0); CommandTarget::COUNT];
    let (mut line, mut number) = (0, 0);
    while line < LINES.len() {
        let (unit, channels) = LINES[line];
        let mut channel = 0;
        while channel < channels {
            owners[number] = (unit, channel);
            number += 1;
            channel += 1;
        }
        line += 1;
    }
    owners
};

impl CommandTarget {
    /// The unit, as instructions name it.
    #[must_use]
    #[inline]
    pub const fn unit(self) -> Served {
        OWNERS[self.index()].0
    }

    /// The channel; 0 for a unit with a single inlet.
    #[must_use]
    #[inline]
    pub const fn channel(self) -> u8 {
        OWNERS[self.index()].1
    }

    /// Its display name: `dram0`, `scratch`.
    #[must_use]
    pub fn name(self) -> String {
        let (unit, channel) = OWNERS[self.index()];
        let name = unit.info().name;
        match LINES.iter().find(|line| line.0 == unit) {
            Some((_, 2..)) => format!("{name}{channel}"),
            _ => name.to_owned(),
        }
    }

    /// The display name of one of its lanes: `dram0 bank 2`, `sram1 reads`.
    #[must_use]
    pub fn lane_name(self, lane: u8) -> String {
        let name = self.name();
        match (self.lanes(), lane) {
            (Resources::One, _) => name,
            (Resources::Directions, 0) => format!("{name} reads"),
            (Resources::Directions, _) => format!("{name} writes"),
            (Resources::Banks, bank) => format!("{name} bank {bank}"),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn inlets_have_stable_numbers_and_names() {
        let profile = Profile::load("ixp2400").unwrap();
        let inlets = Units::inlets(&profile);
        let names: Vec<_> = (0..CommandTarget::COUNT as u8)
            .map(CommandTarget::new)
            .filter(|target| inlets.has(*target))
            .map(|target| format!("{} {}", target.index(), target.name()))
            .collect();
        assert_eq!(
            names,
            [
                "0 scratch",
                "1 hash",
                "2 msf",
                "3 cap",
                "4 sram0",
                "5 sram1",
                "8 dram0"
            ]
        );
        assert_eq!(Dram::target(2).lane_name(3), "dram2 bank 3");
        assert_eq!(Sram::target(3).lane_name(1), "sram3 writes");
        assert_eq!(Cap::FIRST.lane_name(0), "cap");
        assert_eq!(Cap::FIRST.unit(), Served::Cap);
    }

    #[test]
    fn statistics_list_memories_first() {
        let profile = Profile::load("ixp2800").unwrap();
        let units = Units::new(&profile, &MediaSetup::default());
        let names: Vec<_> = units.counters().map(|(target, ..)| target.name()).collect();
        assert_eq!(
            names.join(" "),
            "scratch sram0 sram1 sram2 sram3 dram0 dram1 dram2 hash msf cap"
        );
    }
}
