//! What a channel knows of a command that waits, a bit each.

/// What is known of a waiting command, a bit each.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct CommandFlags(u16);

impl CommandFlags {
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
    pub const NO_OLDER_CONFLICT: Self = Self(1 << 8);
    /// One behind it may wait for it to start: such a one has looked for what holds it back.
    pub const BLOCKS_YOUNGER: Self = Self(1 << 9);
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
