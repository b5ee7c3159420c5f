//! The kinds of events, and their order within a cycle.

use serde::{Deserialize, Serialize};

use crate::kernel::command::CommandId;
use crate::kernel::signal_source::SignalSource;
use crate::kernel::target::CommandTarget;

/// Number of queues of a bucket: one for data, one for units, one for signals and anything else
/// that reaches a microengine, and one for the media interface and the general-purpose core.
pub(super) const QUEUES: usize = 4;

/// The queue of data.
pub(crate) const DATA: usize = 0;
/// The queue of units, which come after signals.
pub(crate) const UNITS: usize = 1;
/// The queue of signals, timers and words from neighbours, which come after data.
pub(crate) const SIGNALS: usize = 2;
/// The queue of the media interface and, after it, the general-purpose core.
pub(crate) const OTHERS: usize = 3;

/// An event at a cycle.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Event {
    /// The last data word of a command is in the IN registers of a microengine (rank 0).
    Push(CommandId, u8),
    /// A command's data has been taken from the OUT registers of a microengine (rank 0).
    Pull(CommandId, u8),
    /// A signal that is not part of a command reaches a context (rank 1).
    Signal {
        /// Index of the microengine, 0 to n - 1.
        me: u8,
        /// Context 0-7.
        context: u8,
        /// Signal number 1-15.
        signal: u8,
        /// The raiser of the signal.
        by: SignalSource,
    },
    /// A word reaches a microengine's next-neighbour ring (rank 1).
    NnPut {
        /// Index of the receiving microengine.
        me: u8,
        /// Position in the ring, 0-127.
        index: u8,
        /// The word.
        value: u32,
        /// Whether the word is a put to the ring, rather than a write of one register.
        ring: bool,
    },
    /// A context's future count may have been reached (rank 1).
    Timer {
        /// Index of the microengine, 0 to n - 1.
        me: u8,
        /// Context 0-7.
        context: u8,
    },
    /// A stall of a context that held back a microengine is over (rank 1).
    StallOver(u8),
    /// The arbiter of a cluster's command bus considers the waiting commands (rank 2).
    CommandBus(u8),
    /// A command reaches its unit's inlet (rank 2).
    Arrive(CommandId),
    /// A unit has served a command (rank 2).
    Ready(CommandId),
    /// A unit that was busy can start its next command (rank 2).
    Turn(CommandTarget),
    /// The media interface has work to do, identified by its own code (rank 3).
    Media(u32),
    /// A task of the general-purpose core runs (rank 4).
    Gpp(u16),
    /// A microengine takes its turn (rank 5, then by index).
    Microengine(u8),
    /// A job given from outside to a task of the general-purpose core begins (rank 4, after the
    /// other tasks).
    Directed(u16),
}

impl Event {
    #[inline]
    pub(super) const fn rank(self) -> u8 {
        match self {
            Self::Push(..) | Self::Pull(..) => 0,
            Self::Signal { .. } | Self::Timer { .. } | Self::StallOver(_) | Self::NnPut { .. } => 1,
            Self::CommandBus(_) | Self::Arrive(_) | Self::Ready(_) | Self::Turn(_) => 2,
            Self::Media(_) => 3,
            Self::Gpp(_) | Self::Directed(_) => 4,
            Self::Microengine(me) => 5 + me,
        }
    }

    /// The place among the events of the same rank in a cycle; of the same place, the event posted
    /// first comes first. Timers and signals have their own places, so that their order does not
    /// depend on when a microengine that runs ahead of the chip posts them. So do jobs from outside,
    /// so that their order does not depend on how early they were known.
    #[inline]
    pub(super) const fn place(self) -> u64 {
        match self {
            Self::Timer { me, context } => of_context(me, context),
            Self::Signal {
                me,
                context,
                signal,
                by,
            } => of_context(me, context) | (signal as u64) << 32 | by.number() as u64,
            Self::Directed(_) => 1,
            _ => 0,
        }
    }

    /// The queue of its bucket that the event belongs to, if it is not a turn.
    #[inline]
    pub(super) const fn queue(self) -> usize {
        match self.rank() {
            0 => DATA,
            1 => SIGNALS,
            2 => UNITS,
            _ => OTHERS,
        }
    }
}

/// The place of an event sent to a context.
const fn of_context(me: u8, context: u8) -> u64 {
    1 << 63 | (me as u64) << 48 | (context as u64) << 40
}
