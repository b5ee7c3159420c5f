//! A command waiting at a channel, in a compact form for the search for the next one to start.

use serde::{Deserialize, Serialize};

use super::super::flags::CommandFlags;
use super::super::op_traits::NamedAddress;
use super::{longword, words};
use crate::kernel::fabric::{BusCommand, CommandId};

/// The range of longwords of the channel within which commands must not overtake each other.
/// Q-array entries are numbered after the longwords, and the registers, counted as one, after the
/// entries. Checking whether two commands concern the same thing is thus a single comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct AddressRange {
    pub first: u32,
    pub end: u32,
}

/// The place of Q-array entry 0; no channel has that many longwords.
const ENTRIES: u32 = 1 << 30;
/// The place of the registers.
const REGISTERS: u32 = ENTRIES + 256;

impl AddressRange {
    /// The range of a command to something of the channel itself.
    #[inline]
    pub fn of(command: &BusCommand, names: NamedAddress) -> Self {
        let first = longword(command.address);
        match names {
            NamedAddress::Longword => Self::one(first),
            NamedAddress::Longwords => Self {
                first,
                end: first + words(command),
            },
            NamedAddress::Entry => Self::of_entry(super::entry_number(command.address)),
            NamedAddress::Register => Self::one(REGISTERS),
        }
    }

    /// An entry of the Q-array.
    #[inline]
    pub const fn of_entry(entry: u8) -> Self {
        Self::one(ENTRIES + entry as u32)
    }

    /// A single place.
    #[inline]
    pub const fn one(first: u32) -> Self {
        Self {
            first,
            end: first + 1,
        }
    }

    /// Whether the two ranges overlap.
    #[inline]
    pub const fn meets(self, other: Self) -> bool {
        self.first < other.end && other.first < self.end
    }

    /// Whether the range is in memory.
    pub const fn is_memory(self) -> bool {
        self.end <= ENTRIES
    }

    /// Whether the range is the registers.
    pub const fn is_register(self) -> bool {
        self.first == REGISTERS
    }

    /// The Q-array entry of a command that is known to work on one.
    #[inline]
    pub const fn known_entry(self) -> u8 {
        self.first.wrapping_sub(ENTRIES) as u8
    }

    /// The Q-array entry that the range stands for, if any.
    #[inline]
    pub const fn entry(self) -> Option<usize> {
        let entry = self.first.wrapping_sub(ENTRIES);
        if entry < REGISTERS - ENTRIES {
            Some(entry as usize)
        } else {
            None
        }
    }
}

/// A waiting command. The cycle from which it could have started, but for other commands, is in the
/// scratch field of its flight, and the window of a command for a [device](CommandFlags::WINDOW) is
/// in a list of the channel, so that little has to be moved around.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(from = "SavedCommand", into = "SavedCommand")]
pub(in super::super) struct QueuedCommand {
    pub concern: AddressRange,
    pub slot: CommandId,
    pub marks: CommandFlags,
}

impl QueuedCommand {
    /// Whether its data has arrived.
    #[inline]
    pub const fn is_ready(self) -> bool {
        self.marks.has(CommandFlags::READY)
    }

    /// The FIFO that it waits in: 0 for reads, 1 for writes.
    #[inline]
    pub const fn fifo(self) -> usize {
        self.marks.has(CommandFlags::WRITES) as usize
    }

    /// Whether neither command may overtake the other.
    #[inline]
    pub const fn conflicts(self, other: Self) -> bool {
        self.concern.meets(other.concern)
            && (self.marks.has(CommandFlags::CHANGES) || other.marks.has(CommandFlags::CHANGES))
    }
}

/// Data pins, as stored in a saved state.
#[derive(Clone, Copy, Serialize, Deserialize)]
enum SavedPins {
    Read,
    Write,
    None,
}

/// An address range, as stored in a saved state.
#[derive(Clone, Copy, Serialize, Deserialize)]
enum SavedRange {
    Memory { first: u32, end: u32, writes: bool },
    Window { first: u32, end: u32, writes: bool },
    Entry(u8),
    Csr,
}

/// A waiting command, as stored in a saved state.
#[derive(Serialize, Deserialize)]
struct SavedCommand {
    slot: CommandId,
    port: SavedPins,
    atomic: bool,
    concern: SavedRange,
    pushes: bool,
    ready: bool,
}

impl From<QueuedCommand> for SavedCommand {
    fn from(it: QueuedCommand) -> Self {
        let AddressRange { first, end } = it.concern;
        let writes = it.marks.has(CommandFlags::CHANGES);
        let port = match it.marks {
            marks if marks.has(CommandFlags::READS) => SavedPins::Read,
            marks if marks.has(CommandFlags::WRITES) => SavedPins::Write,
            _ => SavedPins::None,
        };
        let concern = match it.concern.entry() {
            Some(entry) => SavedRange::Entry(entry as u8),
            None if it.concern.is_register() => SavedRange::Csr,
            None if it.marks.has(CommandFlags::WINDOW) => SavedRange::Window { first, end, writes },
            None => SavedRange::Memory { first, end, writes },
        };
        Self {
            slot: it.slot,
            port,
            atomic: it.marks.has(CommandFlags::ATOMIC),
            concern,
            pushes: it.marks.has(CommandFlags::PUSHES),
            ready: it.is_ready(),
        }
    }
}

impl From<SavedCommand> for QueuedCommand {
    fn from(it: SavedCommand) -> Self {
        let (concern, changes) = match it.concern {
            // Starting a command relies on a range like those made on arrival.
            SavedRange::Memory { first, end, writes } => {
                let least = first.saturating_add(1);
                let end = end.clamp(least, first.saturating_add(16).max(least));
                (AddressRange { first, end }, writes)
            }
            SavedRange::Window { first, end, writes } => (AddressRange { first, end }, writes),
            SavedRange::Entry(entry) => (AddressRange::of_entry(entry), true),
            SavedRange::Csr => (AddressRange::one(REGISTERS), true),
        };
        let marks = CommandFlags::NONE
            .with(CommandFlags::READS, matches!(it.port, SavedPins::Read))
            .with(CommandFlags::WRITES, matches!(it.port, SavedPins::Write))
            .with(CommandFlags::ATOMIC, it.atomic)
            .with(CommandFlags::CHANGES, changes)
            .with(CommandFlags::PUSHES, it.pushes)
            .with(CommandFlags::READY, it.ready)
            .with(
                CommandFlags::ENTRY,
                matches!(it.concern, SavedRange::Entry(_)),
            )
            .with(
                CommandFlags::WINDOW,
                matches!(it.concern, SavedRange::Window { .. }),
            )
            // Whether another command waits for it is not saved, so assume that one does.
            .with(CommandFlags::BLOCKS_YOUNGER, true);
        Self {
            slot: it.slot,
            marks,
            concern,
        }
    }
}
