//! Watching a run.
//!
//! A observer is a generic parameter: with [`NoObserver`] all calls of microengines
//! compile away, and units pass over one flag for each thing that they would
//! tell.
//!
//! # Order
//!
//! Each trace_event comes with its cycle. A microengine runs ahead of the rest of
//! the chip and of the other microengines, and units tell what they have booked
//! when they book it. Calls are in order of cycles
//!
//! - for the [`Issued`](TraceEvent::Issued), [`Aborted`](TraceEvent::Aborted) and
//!   [`Stalled`](TraceEvent::Stalled) slots of one microengine, which never
//!   overlap and leave out only the cycles in which no context has the pipeline;
//! - for the [`Context`](TraceEvent::Context) changes of one context: each state
//!   lasts until the next is told. [`Executing`](crate::kernel::trace_event::ContextState::Executing)
//!   of one context begins where that of the one before ends, or later;
//! - for the busy times of one bus, and of one lane of a unit;
//! - for everything that is told of one ring, RBUF or TBUF element, port or
//!   command.
//!
//! What is told of different ones is not in order: a watcher that needs one
//! order sorts by cycle. A [`Signal`](TraceEvent::Signal) is told before the
//! `Context` change to ready that it causes. A run may end, at a fault elsewhere,
//! before what a microengine has done ahead of the chip: whoever counts leaves
//! out what lies at or after the end.

use crate::Cycle;
use crate::kernel::trace_event::TraceEvent;

/// A watcher.
pub trait Observer {
    /// Whether anything is watched at all.
    const ON: bool;

    /// Something happens at a cycle.
    fn see(&mut self, at: Cycle, what: &TraceEvent);

    /// A microengine goes on at the chip's present cycle. What was told of it
    /// and lies before this cycle is final, whatever comes.
    fn turn(&mut self, me: u8, at: Cycle) {
        let _ = (me, at);
    }
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl Observer for NoObserver {
    const ON: bool = false;

    fn see(&mut self, _: Cycle, _: &TraceEvent) {}
}

/// Two watch.
impl<A: Observer, B: Observer> Observer for (A, B) {
    const ON: bool = A::ON || B::ON;

    fn see(&mut self, at: Cycle, what: &TraceEvent) {
        self.0.see(at, what);
        self.1.see(at, what);
    }

    fn turn(&mut self, me: u8, at: Cycle) {
        self.0.turn(me, at);
        self.1.turn(me, at);
    }
}

/// Somebody may watch: that is found out as it goes.
impl<A: Observer> Observer for Option<A> {
    const ON: bool = A::ON;

    fn see(&mut self, at: Cycle, what: &TraceEvent) {
        if let Some(it) = self {
            it.see(at, what);
        }
    }

    fn turn(&mut self, me: u8, at: Cycle) {
        if let Some(it) = self {
            it.turn(me, at);
        }
    }
}

/// Somebody else's.
impl<A: Observer> Observer for &mut A {
    const ON: bool = A::ON;

    fn see(&mut self, at: Cycle, what: &TraceEvent) {
        (**self).see(at, what);
    }

    fn turn(&mut self, me: u8, at: Cycle) {
        (**self).turn(me, at);
    }
}

/// An [`Observer`] whose type nobody knows: what is compiled once for all of them,
/// as cores are, takes this.
pub trait DynObserver {
    /// As [`Observer::see`].
    fn see_it(&mut self, at: Cycle, what: &TraceEvent);

    /// As [`Observer::turn`].
    fn turn_of(&mut self, me: u8, at: Cycle);
}

impl<P: Observer> DynObserver for P {
    fn see_it(&mut self, at: Cycle, what: &TraceEvent) {
        self.see(at, what);
    }

    fn turn_of(&mut self, me: u8, at: Cycle) {
        self.turn(me, at);
    }
}

impl Observer for &mut dyn DynObserver {
    const ON: bool = true;

    fn see(&mut self, at: Cycle, what: &TraceEvent) {
        (**self).see_it(at, what);
    }

    fn turn(&mut self, me: u8, at: Cycle) {
        (**self).turn_of(me, at);
    }
}
