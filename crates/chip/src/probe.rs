//! Watching a run.
//!
//! A probe is a generic parameter: with [`NoProbe`] all calls of microengines
//! compile away, and units pass over one flag for each thing that they would
//! tell.
//!
//! # Order
//!
//! Each happening comes with its cycle. A microengine runs ahead of the rest of
//! the chip and of the other microengines, and units tell what they have booked
//! when they book it. Calls are in order of cycles
//!
//! - for the [`Issued`](Happening::Issued), [`Aborted`](Happening::Aborted) and
//!   [`Stalled`](Happening::Stalled) slots of one microengine, which never
//!   overlap and leave out only the cycles in which no context has the pipeline;
//! - for the [`Context`](Happening::Context) changes of one context: each state
//!   lasts until the next is told. [`Executing`](crate::happening::Doing::Executing)
//!   of one context begins where that of the one before ends, or later;
//! - for the busy times of one bus, and of one lane of a unit;
//! - for everything that is told of one ring, RBUF or TBUF element, port or
//!   command.
//!
//! What is told of different ones is not in order: a watcher that needs one
//! order sorts by cycle. A [`Signal`](Happening::Signal) is told before the
//! `Context` change to ready that it causes. A run may end, at a fault elsewhere,
//! before what a microengine has done ahead of the chip: whoever counts leaves
//! out what lies at or after the end.

use crate::Cycle;
use crate::happening::Happening;

/// A watcher.
pub trait Probe {
    /// Whether anything is watched at all.
    const ON: bool;

    /// Something happens at a cycle.
    fn see(&mut self, at: Cycle, what: &Happening);

    /// A microengine goes on at the chip's present cycle. What was told of it
    /// and lies before this cycle is final, whatever comes.
    fn turn(&mut self, me: u8, at: Cycle) {
        let _ = (me, at);
    }
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoProbe;

impl Probe for NoProbe {
    const ON: bool = false;

    fn see(&mut self, _: Cycle, _: &Happening) {}
}

/// Two watch.
impl<A: Probe, B: Probe> Probe for (A, B) {
    const ON: bool = A::ON || B::ON;

    fn see(&mut self, at: Cycle, what: &Happening) {
        self.0.see(at, what);
        self.1.see(at, what);
    }

    fn turn(&mut self, me: u8, at: Cycle) {
        self.0.turn(me, at);
        self.1.turn(me, at);
    }
}

/// Somebody may watch: that is found out as it goes.
impl<A: Probe> Probe for Option<A> {
    const ON: bool = A::ON;

    fn see(&mut self, at: Cycle, what: &Happening) {
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
impl<A: Probe> Probe for &mut A {
    const ON: bool = A::ON;

    fn see(&mut self, at: Cycle, what: &Happening) {
        (**self).see(at, what);
    }

    fn turn(&mut self, me: u8, at: Cycle) {
        (**self).turn(me, at);
    }
}
