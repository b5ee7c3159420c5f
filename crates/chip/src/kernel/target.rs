//! Where commands go: a number for each inlet of the chip, and how a command
//! finds the one that it is for.
//!
//! The kernel knows inlets by number alone. Which unit has which numbers, and how
//! deep its inlets are, comes from the table of units ([`crate::units`]).

use serde::{Deserialize, Serialize};

use npsim_isa::{CommandOp, Unit};

/// An inlet: that of a unit, or of one channel of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Target(u8);

impl Target {
    /// Room in tables that have a place for each inlet. The table of units is
    /// checked against it when the crate is compiled.
    pub const COUNT: usize = 16;

    /// The inlet of a number below [`Self::COUNT`].
    #[must_use]
    pub(crate) const fn new(number: u8) -> Self {
        assert!(
            (number as usize) < Self::COUNT,
            "the chip has no such inlet"
        );
        Self(number)
    }

    /// Its place in a table of all.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }
}

/// How the address of a command chooses among the channels of its unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Interleave {
    /// There is one channel.
    None,
    /// Bits 31-30 are the channel.
    TopBits,
    /// Channels follow one another after so many bytes.
    Bytes(u32),
}

/// What a profile makes of a unit's inlets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inlet {
    /// Channels, each with an inlet of its own; at least one.
    pub channels: u8,
    /// Commands that wait at an inlet before microengines stall.
    pub depth: u8,
    /// How commands find their channel.
    pub interleave: Interleave,
    /// Whether its commands come through the interface that scratchpad, hash
    /// unit and CSR proxy share, which takes one a bus clock.
    pub shared: bool,
}

/// A unit's inlets in the table of all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Route {
    first: u8,
    channels: u8,
    interleave: Interleave,
}

/// All inlets of a chip.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inlets {
    /// By the unit that an instruction names.
    routes: [Route; Unit::ALL.len()],
    /// Places at each inlet; 0 for one that the chip lacks.
    depths: [u16; Target::COUNT],
    /// Bit t: target t is behind the shared interface.
    shared: u16,
}

impl Inlets {
    /// A chip without units.
    #[must_use]
    pub(crate) fn none() -> Self {
        let nowhere = Route {
            first: 0,
            channels: 1,
            interleave: Interleave::None,
        };
        Self {
            routes: [nowhere; Unit::ALL.len()],
            depths: [0; Target::COUNT],
            shared: 0,
        }
    }

    /// Adds the inlets from `first` on of a unit that serves the commands of
    /// `served`.
    pub(crate) fn add(&mut self, first: Target, inlet: Inlet, served: &[Unit]) {
        for &unit in served {
            self.routes[unit as usize] = Route {
                first: first.0,
                channels: inlet.channels,
                interleave: inlet.interleave,
            };
        }
        for at in first.index()..first.index() + usize::from(inlet.channels) {
            self.depths[at] = inlet.depth.into();
            self.shared |= u16::from(inlet.shared) << at;
        }
    }

    /// Where a command goes. An address that names a channel that the chip lacks
    /// goes to channel 0, which refuses it.
    #[inline(always)]
    #[allow(clippy::inline_always)] // It is a part of issuing a command.
    pub(crate) fn target_of(&self, op: CommandOp, address: u32) -> Target {
        let route = &self.routes[op.info().unit as usize];
        let channel = match route.interleave {
            Interleave::None => 0,
            Interleave::TopBits => {
                let channel = (address >> 30) as u8;
                if channel < route.channels { channel } else { 0 }
            }
            Interleave::Bytes(bytes) => (address / bytes % u32::from(route.channels)) as u8,
        };
        Target(route.first + channel)
    }

    /// Commands that can wait at an inlet.
    #[inline]
    pub(crate) fn depth(&self, target: Target) -> u16 {
        self.depths[target.index()]
    }

    /// Whether an inlet is behind the shared interface.
    #[inline]
    pub(crate) fn is_shared(&self, target: Target) -> bool {
        self.shared >> target.0 & 1 != 0
    }

    /// Whether the chip has the inlet.
    pub(crate) fn has(&self, target: Target) -> bool {
        self.depths
            .get(target.index())
            .is_some_and(|depth| *depth > 0)
    }
}
