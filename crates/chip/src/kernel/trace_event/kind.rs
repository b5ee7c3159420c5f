//! Kinds of trace events, and sets of them that an observer wants.

#[cfg(doc)]
use super::TraceEvent;

/// A kind of trace event.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TraceEventKind {
    /// [`TraceEvent::Issued`]
    Issued,
    /// [`TraceEvent::Aborted`]
    Aborted,
    /// [`TraceEvent::Held`]
    Held,
    /// [`TraceEvent::Stalled`]
    Stalled,
    /// [`TraceEvent::Context`]
    Context,
    /// [`TraceEvent::Command`]
    Command,
    /// [`TraceEvent::Queued`]
    Queued,
    /// [`TraceEvent::Served`]
    Served,
    /// [`TraceEvent::Done`]
    Done,
    /// [`TraceEvent::Signal`]
    Signal,
    /// [`TraceEvent::Bus`]
    Bus,
    /// [`TraceEvent::Ring`]
    Ring,
    /// [`TraceEvent::Arrives`]
    Arrives,
    /// [`TraceEvent::Dropped`]
    Dropped,
    /// [`TraceEvent::Departed`]
    Departed,
    /// [`TraceEvent::Rbuf`]
    Rbuf,
    /// [`TraceEvent::Tbuf`]
    Tbuf,
    /// [`TraceEvent::Touched`]
    Touched,
    /// [`TraceEvent::Lock`]
    Lock,
    /// [`TraceEvent::Level`]
    Level,
    /// [`TraceEvent::Gpp`]
    Gpp,
    /// [`TraceEvent::Function`]
    Function,
    /// [`TraceEvent::LocalMemory`]
    LocalMemory,
    /// [`TraceEvent::Stored`]
    Stored,
    /// [`TraceEvent::BufferMoved`]
    BufferMoved,
    /// [`TraceEvent::Exception`]
    Exception,
    /// [`TraceEvent::Pushed`]
    Pushed,
    /// [`TraceEvent::Written`]
    Written,
}

/// A set of [`TraceEventKind`]s.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct EventKinds(u32);

impl EventKinds {
    /// No kinds.
    pub const NONE: Self = Self(0);
    /// All kinds.
    pub const ALL: Self = Self(u32::MAX);

    /// The set of these kinds.
    #[must_use]
    pub const fn of(kinds: &[TraceEventKind]) -> Self {
        let (mut all, mut at) = (0, 0);
        while at < kinds.len() {
            all |= 1 << kinds[at] as u32;
            at += 1;
        }
        Self(all)
    }

    /// All kinds except these.
    #[must_use]
    pub const fn all_except(kinds: &[TraceEventKind]) -> Self {
        Self(!Self::of(kinds).0)
    }

    /// The union of two sets.
    #[must_use]
    pub const fn and(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Whether the set contains a kind.
    #[must_use]
    #[inline]
    pub const fn has(self, kind: TraceEventKind) -> bool {
        self.0 >> kind as u32 & 1 == 1
    }

    /// Whether the set is empty.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }
}
