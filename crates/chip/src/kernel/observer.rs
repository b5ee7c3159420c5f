//! Watching a run.
//!
//! Everything that can be told of a run goes through one
//! [`Journal`](crate::kernel::journal::Journal), and whoever watches is handed one
//! ordered stream of it. The engine is compiled twice, without a journal and
//! with one, and neither knows who watches: a run without observers passes over
//! one flag for each thing that its units would tell. Who watches says
//! [which kinds of events](Observer::wants) it needs, and the journal leaves out the
//! others.
//!
//! # Order
//!
//! Each [`TraceEvent`] comes with its cycle. Microengines run ahead of the chip
//! and of each other, and units tell what they book when they book it, so what
//! is told is not in order; the journal holds it back until nothing earlier can
//! follow. Observers see events
//!
//! 1. by cycle;
//! 2. in one cycle first what concerns units, buses, rings, frames and commands,
//!    then what concerns the pipeline and the contexts of microengine 0, then of
//!    microengine 1, and so on, last the accesses to local memories
//!    ([`TraceEvent::rank`]);
//! 3. in one cycle and of one rank as they were told: causes before effects, so a
//!    [`Signal`](TraceEvent::Signal) stands before the
//!    [`Context`](TraceEvent::Context) change to ready that it causes.
//!
//! The [`Issued`](TraceEvent::Issued), [`Aborted`](TraceEvent::Aborted) and
//! [`Stalled`](TraceEvent::Stalled) slots of one microengine never overlap and
//! leave out only the cycles in which no context has the pipeline. Each state of
//! a context lasts until the next is told.
//!
//! An observer that [needs no order](Observer::needs_order) and is alone spares the
//! journal to put events in order.
//!
//! # The end
//!
//! When a fault ends a run, microengines may have run ahead of it, and units may
//! have booked what lies behind it. None of that is part of the run, and the
//! journal leaves out what lies after the end: no observer has to. What reaches
//! beyond the end is cut there by who measures it. A run that is stopped and gone
//! on with hands out the rest when it goes on.

use crate::Cycle;
use crate::kernel::trace_event::{Kinds, TraceEvent};

/// Is told what happens.
pub trait Observer {
    /// The kinds of events that it wants to be told of: the others are not even
    /// written down. Asked when a run goes on, not for each event; a run of which
    /// nobody wants anything is not observed at all.
    fn wants(&self) -> Kinds {
        Kinds::ALL
    }

    /// Something happens at a cycle, which is never before that of the event
    /// handed over last. Beside an observer that wants more it may be handed
    /// events that it does not want.
    fn see(&mut self, at: Cycle, event: &TraceEvent);

    /// Whether it needs events in the order that is promised. One that does not gets
    /// them as they were told: what one microengine issues still comes in order, and so
    /// do the states of one context, but a signal can come after a later state.
    fn needs_order(&self) -> bool {
        true
    }

    /// Some things happen: [`see`](Self::see) for each of them. Who has several
    /// observers below it hands the whole batch to each; nothing else can be done with one.
    fn see_all(&mut self, events: &Batch<'_>) {
        // Two loops, so that `see` is inlined into each.
        match events.which {
            Ok(places) => {
                for &place in places {
                    let (at, event) = &events.told[place as usize];
                    self.see(*at, event);
                }
            }
            Err(before) => {
                for (at, event) in events.told {
                    if *at < before {
                        self.see(*at, event);
                    }
                }
            }
        }
    }
}

/// Events that are handed over together.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// What is told, and perhaps more.
    pub(crate) told: &'a [(Cycle, TraceEvent)],
    /// Which of it, in order; otherwise all before a cycle, as it was told.
    pub(crate) which: Result<&'a [u32], Cycle>,
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn wants(&self) -> Kinds {
        Kinds::NONE
    }

    fn see(&mut self, _: Cycle, _: &TraceEvent) {}

    fn needs_order(&self) -> bool {
        false
    }
}

/// Somebody may watch.
impl<A: Observer> Observer for Option<A> {
    fn wants(&self) -> Kinds {
        self.as_ref().map_or(Kinds::NONE, Observer::wants)
    }

    #[inline]
    fn see(&mut self, at: Cycle, event: &TraceEvent) {
        if let Some(it) = self {
            it.see(at, event);
        }
    }

    fn needs_order(&self) -> bool {
        self.as_ref().is_some_and(Observer::needs_order)
    }

    fn see_all(&mut self, events: &Batch<'_>) {
        if let Some(it) = self {
            it.see_all(events);
        }
    }
}

/// Somebody else's.
impl<A: Observer + ?Sized> Observer for &mut A {
    fn wants(&self) -> Kinds {
        (**self).wants()
    }

    fn see(&mut self, at: Cycle, event: &TraceEvent) {
        (**self).see(at, event);
    }

    fn needs_order(&self) -> bool {
        (**self).needs_order()
    }

    fn see_all(&mut self, events: &Batch<'_>) {
        (**self).see_all(events);
    }
}
