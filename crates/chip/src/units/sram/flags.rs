//! What a channel knows of a command that waits, a bit each.

/// What is known of a waiting command, a bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CommandFlags(u16);

impl CommandFlags {
    /// No flags.
    pub const NONE: Self = Self(0);
    /// The command needs the pins that read.
    pub const READS: Self = Self(1);
    /// The command needs the pins that write.
    pub const WRITES: Self = Self(1 << 1);
    /// The command reads and writes a longword in one.
    pub const ATOMIC: Self = Self(1 << 2);
    /// The command changes the longwords or the entry that it accesses.
    pub const CHANGES: Self = Self(1 << 3);
    /// The command needs the push bus.
    pub const PUSHES: Self = Self(1 << 4);
    /// The command's data is there.
    pub const READY: Self = Self(1 << 5);
    /// The command works on an entry of the Q-array.
    pub const ENTRY: Self = Self(1 << 6);
    /// The command is for a device.
    pub const WINDOW: Self = Self(1 << 7);
    /// No older command holds it back: the search has been made, and later ones come behind it.
    pub const NO_OLDER_CONFLICT: Self = Self(1 << 8);
    /// One behind it may wait for it to start: such a one has looked for what holds it back.
    pub const BLOCKS_YOUNGER: Self = Self(1 << 9);
    /// Commands that need more than their pins to be free.
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

    /// The flags of this set that are in `some`, and `others`.
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
