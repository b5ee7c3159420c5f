//! The units' inlets, by number.

use serde::{Deserialize, Serialize};

use npsim_isa::Unit;

/// A unit's inlet: what a command is sent to.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Target(u8);

/// Number of targets of the largest chip.
pub(super) const TARGETS: usize = Target::COUNT;

impl Target {
    /// How many there are at most.
    pub const COUNT: usize = 12;
    /// The scratchpad.
    pub const SCRATCH: Self = Self(0);
    /// The hash unit.
    pub const HASH: Self = Self(1);
    /// The media interface.
    pub const MSF: Self = Self(2);
    /// The CSR proxy and the PCI mailbox.
    pub const CAP: Self = Self(3);

    /// An SRAM channel, 0-3.
    #[must_use]
    pub const fn sram(channel: u8) -> Self {
        Self(4 + channel % 4)
    }

    /// A DRAM channel, 0-3.
    #[must_use]
    pub const fn dram(channel: u8) -> Self {
        Self(8 + channel % 4)
    }

    /// The channel of an SRAM or DRAM target, 0 for others.
    #[must_use]
    pub const fn channel(self) -> u8 {
        if self.0 < 4 { 0 } else { self.0 % 4 }
    }

    /// Whether a chip can have it.
    pub(crate) const fn is_one(self) -> bool {
        (self.0 as usize) < TARGETS
    }

    /// Whether it takes its commands through the interface that scratchpad, hash
    /// unit and CSR proxy share.
    pub(super) const fn shares_interface(self) -> bool {
        matches!(self.0, 0 | 1 | 3)
    }

    /// Its place in a table of all.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The unit.
    #[must_use]
    pub const fn unit(self) -> Unit {
        match self.0 {
            0 => Unit::Scratch,
            1 => Unit::Hash,
            2 => Unit::Msf,
            3 => Unit::Cap,
            4..8 => Unit::Sram,
            _ => Unit::Dram,
        }
    }
}
