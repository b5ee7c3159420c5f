//! Targets of commands: a number for each inlet of the chip, and the routing of a command to its
//! inlet.
//!
//! The kernel identifies inlets by number alone. The numbers and inlet depths of each unit come
//! from the table of units ([`crate::units`]).

use serde::{Deserialize, Serialize};

use npsim_isa::Unit;

/// The inlet of a unit, or of one of its channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize)]
pub struct CommandTarget(u8);

impl CommandTarget {
    /// Size of tables with an entry for each inlet. The table of units is checked against it at
    /// compile time.
    pub const COUNT: usize = 16;

    /// The inlet with a number below [`Self::COUNT`].
    #[must_use]
    pub(crate) const fn new(number: u8) -> Self {
        assert!(
            (number as usize) < Self::COUNT,
            "the chip has no such inlet"
        );
        Self(number)
    }

    /// The index in a table of all targets.
    #[must_use]
    pub const fn index(self) -> usize {
        // Masked, so that an access to a table of this size needs no bounds check.
        self.0 as usize % Self::COUNT
    }
}

/// How the address of a command selects one of its unit's channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Interleave {
    /// There is one channel.
    None,
    /// Bits 31-30 are the channel.
    TopBits,
    /// Channels alternate every so many bytes.
    Bytes(u32),
}

/// The inlets that a profile gives a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inlet {
    /// The number of channels, each with its own inlet; at least one.
    pub channels: u8,
    /// Number of commands that can wait at an inlet before microengines stall.
    pub depth: u8,
    /// How commands are routed to a channel.
    pub interleave: Interleave,
    /// Whether its commands come through the interface shared by scratchpad, hash unit and CSR
    /// proxy, which takes one per bus clock.
    pub shared: bool,
}

/// A marker for addresses of which more than the top bits is needed.
const SPREAD: CommandTarget = CommandTarget(u8::MAX);

/// A unit's inlets within the table of all inlets.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct UnitInlets {
    first: u8,
    channels: u8,
    interleave: Interleave,
}

impl UnitInlets {
    /// The inlet that an address selects. An address of a channel that the chip lacks goes to
    /// channel 0, which rejects it.
    fn target(self, address: u32) -> CommandTarget {
        let channel = match self.interleave {
            Interleave::None => 0,
            Interleave::TopBits => {
                let channel = (address >> 30) as u8;
                if channel < self.channels { channel } else { 0 }
            }
            Interleave::Bytes(bytes) => (address / bytes % u32::from(self.channels)) as u8,
        };
        CommandTarget(self.first + channel)
    }

    /// The inlets by bits 31-30 of the address, if these bits suffice.
    fn by_top_bits(self) -> [CommandTarget; 4] {
        if matches!(self.interleave, Interleave::Bytes(_)) && self.channels > 1 {
            return [SPREAD; 4];
        }
        std::array::from_fn(|top| self.target((top as u32) << 30))
    }
}

/// All inlets of a chip.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Inlets {
    /// Routing by the unit that an instruction names.
    routes: [UnitInlets; Unit::ALL.len()],
    /// Depth of each inlet; 0 for one that the chip lacks.
    depths: [u16; CommandTarget::COUNT],
    /// The inlets by unit and by bits 31-30 of the address, derived from `routes`.
    by_top_bits: [CommandTarget; 4 * Unit::ALL.len()],
    /// Whether an inlet is behind the shared interface.
    shared: [bool; CommandTarget::COUNT],
}

impl Inlets {
    /// Creates the inlets of a chip without units.
    #[must_use]
    pub(crate) fn none() -> Self {
        let nowhere = UnitInlets {
            first: 0,
            channels: 1,
            interleave: Interleave::None,
        };
        Self {
            routes: [nowhere; Unit::ALL.len()],
            by_top_bits: [nowhere.by_top_bits()[0]; 4 * Unit::ALL.len()],
            depths: [0; CommandTarget::COUNT],
            shared: [false; CommandTarget::COUNT],
        }
    }

    /// Adds a unit's inlets, starting at `first`, for commands to the units in `served`.
    pub(crate) fn add(&mut self, first: CommandTarget, inlet: Inlet, served: &[Unit]) {
        for &unit in served {
            let route = UnitInlets {
                first: first.0,
                channels: inlet.channels,
                interleave: inlet.interleave,
            };
            self.routes[unit as usize] = route;
            self.by_top_bits[4 * unit as usize..][..4].copy_from_slice(&route.by_top_bits());
        }
        for at in first.index()..first.index() + usize::from(inlet.channels) {
            self.depths[at] = inlet.depth.into();
            self.shared[at] = inlet.shared;
        }
    }

    /// The target of a unit's command.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Part of issuing a command.
    pub(crate) fn target_of(&self, unit: Unit, address: u32) -> CommandTarget {
        let target = self.by_top_bits[4 * unit as usize + (address >> 30) as usize];
        if target == SPREAD {
            return self.target_apart(unit, address);
        }
        target
    }

    /// The target if more than the top bits of the address is needed.
    #[inline(never)]
    fn target_apart(&self, unit: Unit, address: u32) -> CommandTarget {
        self.routes[unit as usize].target(address)
    }

    /// Number of commands that can wait at an inlet.
    #[inline]
    pub(crate) fn depth(&self, target: CommandTarget) -> u16 {
        self.depths[target.index()]
    }

    /// Whether an inlet is behind the shared interface.
    #[inline]
    pub(crate) fn is_shared(&self, target: CommandTarget) -> bool {
        self.shared[target.index()]
    }

    /// Whether the chip has the inlet.
    pub(crate) fn has(&self, target: CommandTarget) -> bool {
        self.depths
            .get(usize::from(target.0))
            .is_some_and(|depth| *depth > 0)
    }
}
