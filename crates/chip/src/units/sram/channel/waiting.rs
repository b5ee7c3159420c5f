//! A command that waits at a channel: what the search for the next one to start looks
//! at, in as little room as it takes.

use serde::{Deserialize, Serialize};

use super::super::facts::Names;
use super::{longword, words};
use crate::kernel::fabric::{BusCommand, Slot};

/// What is known of a waiting command, a bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Marks(u16);

impl Marks {
    /// None of them.
    pub const NONE: Self = Self(0);
    /// It needs the pins that read.
    pub const READS: Self = Self(1);
    /// It needs the pins that write.
    pub const WRITES: Self = Self(1 << 1);
    /// It reads and writes a longword in one.
    pub const ATOMIC: Self = Self(1 << 2);
    /// It changes what it concerns.
    pub const CHANGES: Self = Self(1 << 3);
    /// It needs the push bus.
    pub const PUSHES: Self = Self(1 << 4);
    /// Its data is there.
    pub const READY: Self = Self(1 << 5);
    /// It works on an entry of the Q-array.
    pub const ENTRY: Self = Self(1 << 6);
    /// It is for a device.
    pub const WINDOW: Self = Self(1 << 7);
    /// None before it holds it back: it was looked for, and what comes later comes behind it.
    pub const LEADS: Self = Self(1 << 8);
    /// One behind it may wait for it to start: such a one has looked for what holds it back.
    pub const HOLDS: Self = Self(1 << 9);
    /// Those that need more than their pins to be free.
    pub const SPECIAL: Self = Self(Self::ATOMIC.0 | Self::ENTRY.0 | Self::WINDOW.0);
    /// What a plain read of memory has.
    pub const READ: Self = Self(Self::READS.0 | Self::PUSHES.0);
    /// The pins and the bus that it needs.
    pub const NEEDS: Self = Self(Self::READS.0 | Self::WRITES.0 | Self::PUSHES.0);
    /// What all that works on entries has.
    pub const USE: Self = Self(Self::ENTRY.0 | Self::CHANGES.0);
    /// What all atomic operations have.
    pub const EXCHANGE: Self = Self(Self::READS.0 | Self::ATOMIC.0 | Self::CHANGES.0);

    /// Whether it has one of these.
    #[inline]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// Those of them that it has, and others.
    #[inline]
    pub const fn among(self, some: Self, others: Self) -> Self {
        Self(self.0 & some.0 | others.0)
    }

    /// With these too, if a condition holds.
    #[inline]
    pub const fn with(self, other: Self, holds: bool) -> Self {
        if holds { Self(self.0 | other.0) } else { self }
    }
}

/// What a command must not overtake: a stretch of the longwords of the channel. Behind
/// them the entries of the Q-array are counted on, and behind these the registers, which
/// are one. Whether two commands concern the same is so one comparison.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in super::super) struct Concern {
    pub first: u32,
    pub end: u32,
}

/// The place of Q-array entry 0: no channel has as many longwords.
const ENTRIES: u32 = 1 << 30;
/// The place of the registers.
const REGISTERS: u32 = ENTRIES + 256;

impl Concern {
    /// What a command concerns that names something of the channel itself.
    #[inline]
    pub fn of(command: &BusCommand, names: Names) -> Self {
        let first = longword(command.address);
        match names {
            Names::Longword => Self::one(first),
            Names::Longwords => Self {
                first,
                end: first + words(command),
            },
            Names::Entry => Self::of_entry(super::entry_number(command.address)),
            Names::Register => Self::one(REGISTERS),
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
/// flight, and a command for a [device](Marks::WINDOW) has its window in a list of the
/// channel, so that there is little to be moved about.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
#[serde(from = "Saved", into = "Saved")]
pub(in super::super) struct Waiting {
    pub concern: Concern,
    pub slot: Slot,
    pub marks: Marks,
}

impl Waiting {
    /// Whether its data is there.
    #[inline]
    pub const fn is_ready(self) -> bool {
        self.marks.has(Marks::READY)
    }

    /// The FIFO that it waits in: 0 of those that read, 1 of those that write.
    #[inline]
    pub const fn fifo(self) -> usize {
        self.marks.has(Marks::WRITES) as usize
    }

    /// Whether one of the two must not overtake the other.
    #[inline]
    pub const fn conflicts(self, other: Self) -> bool {
        self.concern.meets(other.concern)
            && (self.marks.has(Marks::CHANGES) || other.marks.has(Marks::CHANGES))
    }
}

/// Data pins, as a saved state names them.
#[derive(Clone, Copy, Serialize, Deserialize)]
enum Port {
    Read,
    Write,
    None,
}

/// A concern, as a saved state names it.
#[derive(Clone, Copy, Serialize, Deserialize)]
enum Named {
    Memory { first: u32, end: u32, writes: bool },
    Window { first: u32, end: u32, writes: bool },
    Entry(u8),
    Csr,
}

/// What a saved state holds of a command that waits.
#[derive(Serialize, Deserialize)]
struct Saved {
    slot: Slot,
    port: Port,
    atomic: bool,
    concern: Named,
    pushes: bool,
    ready: bool,
}

impl From<Waiting> for Saved {
    fn from(it: Waiting) -> Self {
        let Concern { first, end } = it.concern;
        let writes = it.marks.has(Marks::CHANGES);
        let port = match it.marks {
            marks if marks.has(Marks::READS) => Port::Read,
            marks if marks.has(Marks::WRITES) => Port::Write,
            _ => Port::None,
        };
        let concern = match it.concern.entry() {
            Some(entry) => Named::Entry(entry as u8),
            None if it.concern.is_register() => Named::Csr,
            None if it.marks.has(Marks::WINDOW) => Named::Window { first, end, writes },
            None => Named::Memory { first, end, writes },
        };
        Self {
            slot: it.slot,
            port,
            atomic: it.marks.has(Marks::ATOMIC),
            concern,
            pushes: it.marks.has(Marks::PUSHES),
            ready: it.is_ready(),
        }
    }
}

impl From<Saved> for Waiting {
    fn from(it: Saved) -> Self {
        let (concern, changes) = match it.concern {
            // What starts relies on the stretch as it is made when a command comes.
            Named::Memory { first, end, writes } => {
                let least = first.saturating_add(1);
                let end = end.clamp(least, first.saturating_add(16).max(least));
                (Concern { first, end }, writes)
            }
            Named::Window { first, end, writes } => (Concern { first, end }, writes),
            Named::Entry(entry) => (Concern::of_entry(entry), true),
            Named::Csr => (Concern::one(REGISTERS), true),
        };
        let marks = Marks::NONE
            .with(Marks::READS, matches!(it.port, Port::Read))
            .with(Marks::WRITES, matches!(it.port, Port::Write))
            .with(Marks::ATOMIC, it.atomic)
            .with(Marks::CHANGES, changes)
            .with(Marks::PUSHES, it.pushes)
            .with(Marks::READY, it.ready)
            .with(Marks::ENTRY, matches!(it.concern, Named::Entry(_)))
            .with(Marks::WINDOW, matches!(it.concern, Named::Window { .. }))
            // What others know of it is not saved, and may be so.
            .with(Marks::HOLDS, true);
        Self {
            slot: it.slot,
            marks,
            concern,
        }
    }
}
