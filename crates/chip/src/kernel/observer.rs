//! Observers of a run.
//!
//! All trace events of a run go through one
//! [`TraceBuffer`](crate::kernel::trace_buffer::TraceBuffer), and an observer gets one ordered
//! stream of them. The engine is compiled twice, without and with a trace buffer; a run without
//! observers costs the test of one flag for each event that it would record. An observer declares
//! [the kinds of events](Observer::wants) that it needs; the trace buffer records no others.
//!
//! # Order
//!
//! Each [`TraceEvent`] comes with its cycle. Microengines run ahead of the chip and of each other,
//! and units record bookings when they make them, so events are not recorded in order; the trace
//! buffer holds an event back until nothing earlier can follow. Observers see events
//!
//! 1. by cycle;
//! 2. within a cycle, first those of units, buses, rings, frames and commands, then those of the
//!    pipeline and the contexts of microengine 0, then of microengine 1, and so on, and last the
//!    accesses to local memories ([`TraceEvent::rank`]);
//! 3. within a cycle and rank, in the order of recording: causes before effects, so a
//!    [`Signal`](TraceEvent::Signal) comes before the [`Context`](TraceEvent::Context) change to ready
//!    that it causes.
//!
//! The [`Issued`](TraceEvent::Issued), [`Aborted`](TraceEvent::Aborted) and
//! [`Stalled`](TraceEvent::Stalled) slots of one microengine never overlap, and cover all cycles
//! except those in which no context has the pipeline. Each state of a context lasts until its next
//! one is recorded.
//!
//! The trace buffer does not sort for a single observer that
//! [needs no order](Observer::needs_order).
//!
//! # The end
//!
//! When a fault ends a run, microengines may have run ahead of it, and units may have booked times
//! after it. None of that is part of the run, and the trace buffer discards it. An observer that
//! measures durations cuts them off at the end. A run that is stopped and resumed gets the
//! remaining events when it resumes.

use crate::Cycle;
use crate::kernel::recurring_state::RecurringState;
use crate::kernel::trace_event::{EventKinds, TraceEvent};

/// Receives the trace events of a run.
pub trait Observer {
    /// The kinds of events that the observer needs; others are not even recorded. This is called
    /// when a run starts or resumes, not for each event; a run without any wanted kind is not
    /// observed at all.
    fn wants(&self) -> EventKinds {
        EventKinds::ALL
    }

    /// Receives an event at a cycle, which is never before that of the previous event. Beside an
    /// observer that wants more kinds, an observer may receive events that it does not want.
    fn see(&mut self, at: Cycle, event: &TraceEvent);

    /// Whether the observer needs events in the documented order. Otherwise it gets them in the
    /// order of recording: the instructions of one microengine are still in order, and so are the
    /// states of one context, but a signal can come after a later state.
    fn needs_order(&self) -> bool {
        true
    }

    /// Visits all numbers of the observer's state that events change, at a cycle before which it
    /// has seen all events. If the chip repeats a period and these numbers recur with it, they are
    /// set to their values after many periods, whose events the observer does not get. An observer
    /// that returns `false`, the default, gets the events of each period.
    ///
    /// State that is not among the numbers has to be the same after each of two equal periods.
    fn visit_state(&mut self, at: Cycle, state: &mut RecurringState<'_>) -> bool {
        let _ = (at, state);
        false
    }

    /// Receives several events: calls [`see`](Self::see) for each of them. An observer that
    /// represents several passes the whole batch to each; nothing else can be done with a batch.
    fn see_batch(&mut self, events: &Batch<'_>) {
        // Two loops, so that `see` is inlined into each.
        match events.which {
            Ok(places) => {
                for &place in places {
                    let (at, event) = &events.events[place as usize];
                    self.see(*at, event);
                }
            }
            Err(before) => {
                for (at, event) in events.events {
                    if *at < before {
                        self.see(*at, event);
                    }
                }
            }
        }
    }
}

/// Events passed together.
#[derive(Clone, Copy, Debug)]
pub struct Batch<'a> {
    /// The events, and perhaps later ones.
    pub(crate) events: &'a [(Cycle, TraceEvent)],
    /// The indices of the batch's events, in order; or all before a cycle, in the order of recording.
    pub(crate) which: Result<&'a [u32], Cycle>,
}

/// An observer that wants nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn wants(&self) -> EventKinds {
        EventKinds::NONE
    }

    fn see(&mut self, _: Cycle, _: &TraceEvent) {}

    fn visit_state(&mut self, _: Cycle, _: &mut RecurringState<'_>) -> bool {
        true
    }

    fn needs_order(&self) -> bool {
        false
    }
}

/// An optional observer.
impl<A: Observer> Observer for Option<A> {
    fn wants(&self) -> EventKinds {
        self.as_ref().map_or(EventKinds::NONE, Observer::wants)
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

    fn visit_state(&mut self, at: Cycle, state: &mut RecurringState<'_>) -> bool {
        self.as_mut().is_none_or(|it| it.visit_state(at, state))
    }

    fn see_batch(&mut self, events: &Batch<'_>) {
        if let Some(it) = self {
            it.see_batch(events);
        }
    }
}

/// A borrowed observer.
impl<A: Observer + ?Sized> Observer for &mut A {
    fn wants(&self) -> EventKinds {
        (**self).wants()
    }

    fn see(&mut self, at: Cycle, event: &TraceEvent) {
        (**self).see(at, event);
    }

    fn needs_order(&self) -> bool {
        (**self).needs_order()
    }

    fn visit_state(&mut self, at: Cycle, state: &mut RecurringState<'_>) -> bool {
        (**self).visit_state(at, state)
    }

    fn see_batch(&mut self, events: &Batch<'_>) {
        (**self).see_batch(events);
    }
}
