//! A command that waits at a channel: what the search for the next one to start looks
//! at, in as little room as it takes.

use serde::{Deserialize, Serialize};

use super::super::flags::CommandFlags;
use super::super::op_traits::NamedAddress;
use super::{longword, words};
use crate::kernel::fabric::{BusCommand, CommandId};

/// What a command must not overtake: a stretch of the longwords of the channel. Behind
/// them the entries of the Q-array are counted on, and behind these the registers, which
/// are one. Whether two commands concern the same is so one comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct AddressRange {
    pub first: u32,
    pub end: u32,
}

/// The place of Q-array entry 0: no channel has as many longwords.
const ENTRIES: u32 = 1 << 30;
/// The place of the registers.
const REGISTERS: u32 = ENTRIES + 256;

impl AddressRange {
    /// What a command concerns that names something of the channel itself.
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

    /// One longword, or what stands for one.
    #[inline]
    pub const fn one(first: u32) -> Self {
        Self {
            first,
            end: first + 1,
        }
    }

    /// Whether two of them have anything in common.
    #[inline]
    pub const fn meets(self, other: Self) -> bool {
        self.first < other.end && other.first < self.end
    }

    /// Whether it is longwords.
    pub const fn is_memory(self) -> bool {
        self.end <= ENTRIES
    }

    /// Whether it is the registers.
    pub const fn is_register(self) -> bool {
        self.first == REGISTERS
    }

    /// The Q-array entry of a command that is known to work on one.
    #[inline]
    pub const fn known_entry(self) -> u8 {
        self.first.wrapping_sub(ENTRIES) as u8
    }

    /// The Q-array entry that it is.
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

/// A command that waits. Since when it could start, but for others, is the note of its
/// flight, and a command for a [device](CommandFlags::WINDOW) has its window in a list of the
/// channel, so that there is little to be moved about.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(from = "SavedCommand", into = "SavedCommand")]
pub(in super::super) struct QueuedCommand {
    pub concern: AddressRange,
    pub slot: CommandId,
    pub marks: CommandFlags,
}

impl QueuedCommand {
    /// Whether its data is there.
    #[inline]
    pub const fn is_ready(self) -> bool {
        self.marks.has(CommandFlags::READY)
    }

    /// The FIFO that it waits in: 0 of those that read, 1 of those that write.
    #[inline]
    pub const fn fifo(self) -> usize {
        self.marks.has(CommandFlags::WRITES) as usize
    }

    /// Whether one of the two must not overtake the other.
    #[inline]
    pub const fn conflicts(self, other: Self) -> bool {
        self.concern.meets(other.concern)
            && (self.marks.has(CommandFlags::CHANGES) || other.marks.has(CommandFlags::CHANGES))
    }
}

/// Data pins, as a saved state names them.
#[derive(Clone, Copy, Serialize, Deserialize)]
enum SavedPins {
    Read,
    Write,
    None,
}

/// A concern, as a saved state names it.
#[derive(Clone, Copy, Serialize, Deserialize)]
enum SavedRange {
    Memory { first: u32, end: u32, writes: bool },
    Window { first: u32, end: u32, writes: bool },
    Entry(u8),
    Csr,
}

/// What a saved state holds of a command that waits.
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
            // What starts relies on the stretch as it is made when a command comes.
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
            // What others know of it is not saved, and may be so.
            .with(CommandFlags::BLOCKS_YOUNGER, true);
        Self {
            slot: it.slot,
            marks,
            concern,
        }
    }
}
