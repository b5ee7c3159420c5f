//! What units tell a observer: a journal that the chip hands on after each event,
//! so that units need not know who watches.

use crate::Cycle;
use crate::kernel::observer::Observer;
use crate::kernel::trace_event::{Cause, TraceEvent};

/// A signal on its way and where it comes from.
#[derive(Clone, Copy, Debug)]
struct Expected {
    due: Cycle,
    me: u8,
    context: u8,
    signal: u8,
    cause: Cause,
}

/// The journal. It is closed, and costs a test of its flag, unless a observer
/// watches the run.
#[derive(Clone, Debug, Default)]
pub struct Journal {
    open: bool,
    seen: Vec<(Cycle, TraceEvent)>,
    expected: Vec<Expected>,
}

impl Journal {
    /// Opens it for a observer that watches, else closes it.
    pub fn set<P: Observer>(&mut self) {
        self.open = P::ON;
        if !P::ON {
            self.expected.clear();
        }
    }

    /// Whether anyone watches.
    #[must_use]
    pub const fn is_open(&self) -> bool {
        self.open
    }

    /// Writes down what happens at a cycle.
    #[inline]
    pub fn tell(&mut self, at: Cycle, what: impl FnOnce() -> TraceEvent) {
        if self.open {
            self.write(at, what);
        }
    }

    /// Out of the way of runs that nobody watches.
    #[cold]
    #[inline(never)]
    fn write(&mut self, at: Cycle, what: impl FnOnce() -> TraceEvent) {
        self.seen.push((at, what()));
    }

    /// A signal was sent that will arrive at `due`.
    #[inline]
    pub fn expect(
        &mut self,
        due: Cycle,
        (me, context, signal): (u8, u8, u8),
        cause: impl FnOnce() -> Cause,
    ) {
        if self.open {
            let cause = cause();
            self.expected.push(Expected {
                due,
                me,
                context,
                signal,
                cause,
            });
        }
    }

    /// Where a signal comes from that arrives now.
    pub fn cause_of(&mut self, now: Cycle, me: u8, context: u8, signal: u8) -> Cause {
        let found = self
            .expected
            .iter()
            .position(|it| (it.due, it.me, it.context, it.signal) == (now, me, context, signal));
        found.map_or(Cause::Unknown, |at| self.expected.remove(at).cause)
    }

    /// Hands everything to the observer.
    #[inline]
    pub fn hand_on<P: Observer>(&mut self, observer: &mut P) {
        for (at, what) in self.seen.drain(..) {
            observer.see(at, &what);
        }
    }
}
