//! What a channel knows about a waiting command, one bit each.

/// What is known about a waiting command, one bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CommandFlags(u16);

impl CommandFlags {
    /// No flags.
    pub const NONE: Self = Self(0);
    /// The command needs the read pins.
    pub const READS: Self = Self(1);
    /// The command needs the write pins.
    pub const WRITES: Self = Self(1 << 1);
    /// The command reads and writes a longword in a single operation.
    pub const ATOMIC: Self = Self(1 << 2);
    /// The command changes the longwords or the entry that it accesses.
    pub const CHANGES: Self = Self(1 << 3);
    /// The command needs the push bus.
    pub const PUSHES: Self = Self(1 << 4);
    /// The command's data has arrived.
    pub const READY: Self = Self(1 << 5);
    /// The command works on an entry of the Q-array.
    pub const ENTRY: Self = Self(1 << 6);
    /// The command is for a device.
    pub const WINDOW: Self = Self(1 << 7);
    /// No older command holds it back: the search has been made, and later commands queue behind
    /// it.
    pub const NO_OLDER_CONFLICT: Self = Self(1 << 8);
    /// A younger command may be waiting for it to start: one has found it in its search for
    /// conflicts.
    pub const BLOCKS_YOUNGER: Self = Self(1 << 9);
    /// Commands that need more than their pins to be free.
    pub const SPECIAL: Self = Self(Self::ATOMIC.0 | Self::ENTRY.0 | Self::WINDOW.0);
    /// Flags of a plain read of memory.
    pub const READ: Self = Self(Self::READS.0 | Self::PUSHES.0);
    /// Flags of the pins and the bus that a command needs.
    pub const NEEDS: Self = Self(Self::READS.0 | Self::WRITES.0 | Self::PUSHES.0);
    /// Flags common to all commands on Q-array entries.
    pub const USE: Self = Self(Self::ENTRY.0 | Self::CHANGES.0);
    /// Flags common to all atomic operations.
    pub const EXCHANGE: Self = Self(Self::READS.0 | Self::ATOMIC.0 | Self::CHANGES.0);

    /// Whether this set has at least one of the given flags.
    #[inline]
    pub const fn has(self, other: Self) -> bool {
        self.0 & other.0 != 0
    }

    /// The flags of this set that are in `some`, together with `others`.
    #[inline]
    pub const fn among(self, some: Self, others: Self) -> Self {
        Self(self.0 & some.0 | others.0)
    }

    /// This set with the given flags added if `holds`.
    #[inline]
    pub const fn with(self, other: Self, holds: bool) -> Self {
        if holds { Self(self.0 | other.0) } else { self }
    }
}
