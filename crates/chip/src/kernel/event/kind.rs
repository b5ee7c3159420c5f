//! What can happen, and what of it comes first in a cycle.

use serde::{Deserialize, Serialize};

use crate::kernel::command::Slot;
use crate::kernel::raiser::Raiser;
use crate::kernel::target::Target;

/// Queues of a bucket, one for each rank but those of turns.
pub(super) const QUEUES: usize = 4;

/// Something that happens at a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// The last data word of a command is in the IN registers of a microengine (rank 0).
    Push(Slot, u8),
    /// A command's data has been taken from the OUT registers of a microengine (rank 0).
    Pull(Slot, u8),
    /// A signal reaches a context (rank 0).
    Signal {
        /// Index of the microengine, 0 to n - 1.
        me: u8,
        /// Context 0-7.
        context: u8,
        /// Signal number 1-15.
        signal: u8,
        /// Who raised it.
        by: Raiser,
    },
    /// A word reaches a microengine's next-neighbour ring (rank 0).
    NnPut {
        /// Index of the receiving microengine.
        me: u8,
        /// Position in the ring, 0-127.
        index: u8,
        /// The word.
        value: u32,
        /// A put to the ring; else a write of one register.
        ring: bool,
    },
    /// A context's future count may have come (rank 0).
    Timer {
        /// Index of the microengine, 0 to n - 1.
        me: u8,
        /// Context 0-7.
        context: u8,
    },
    /// A stall of a context is over that held a microengine back (rank 0).
    StallOver(u8),
    /// The arbiter of a cluster's command bus looks at what waits (rank 1).
    CommandBus(u8),
    /// A command reaches its unit's inlet (rank 1).
    Arrive(Slot),
    /// A unit has served a command (rank 1).
    Ready(Slot),
    /// A unit that was busy can start its next command (rank 1).
    Turn(Target),
    /// The media interface has something to do: its own code (rank 2).
    Media(u32),
    /// The general-purpose core's task runs (rank 3).
    Gpp(u16),
    /// A microengine goes on (rank 4, then by its number).
    Microengine(u8),
}

impl Event {
    #[inline]
    pub(super) const fn rank(self) -> u8 {
        match self {
            Self::Push(..)
            | Self::Pull(..)
            | Self::Signal { .. }
            | Self::Timer { .. }
            | Self::StallOver(_)
            | Self::NnPut { .. } => 0,
            Self::CommandBus(_) | Self::Arrive(_) | Self::Ready(_) | Self::Turn(_) => 1,
            Self::Media(_) => 2,
            Self::Gpp(_) => 3,
            Self::Microengine(me) => 4 + me,
        }
    }

    /// The queue of its bucket that it stands in, if it is no turn.
    #[inline]
    pub(super) const fn queue(self) -> usize {
        self.rank() as usize % QUEUES
    }
}
