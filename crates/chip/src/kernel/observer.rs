//! Watching a run.
//!
//! Everything that can be told of a run goes through one
//! [`Journal`](crate::kernel::journal::Journal), and whoever watches is handed one
//! ordered stream of it. The engine is compiled twice, without a journal and
//! with one, and neither knows who watches: a run without observers passes over
//! one flag for each thing that its units would tell.
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
//!    microengine 1, and so on ([`TraceEvent::rank`]);
//! 3. in one cycle and of one rank as they were told: causes before effects, so a
//!    [`Signal`](TraceEvent::Signal) stands before the
//!    [`Context`](TraceEvent::Context) change to ready that it causes.
//!
//! The [`Issued`](TraceEvent::Issued), [`Aborted`](TraceEvent::Aborted) and
//! [`Stalled`](TraceEvent::Stalled) slots of one microengine never overlap and
//! leave out only the cycles in which no context has the pipeline. Each state of
//! a context lasts until the next is told.
//!
//! # The end
//!
//! When a fault ends a run, microengines may have run ahead of it, and units may
//! have booked what lies behind it. None of that is part of the run, and the
//! journal leaves out what lies after the end: no observer has to. What reaches
//! beyond the end is cut there by who measures it. A run that is stopped and gone
//! on with hands out the rest when it goes on.

use crate::Cycle;
use crate::chip::Chip;
use crate::kernel::trace_event::TraceEvent;

/// A watcher.
pub trait Observer {
    /// Whether it wants to see events. Asked when a run goes on, not for each.
    fn is_on(&self) -> bool {
        true
    }

    /// Something happens at a cycle, which is never before that of the event
    /// handed over last.
    fn see(&mut self, at: Cycle, event: &TraceEvent);

    /// The next cycle at which it wants to [sample](Self::sample) the chip.
    fn due(&self) -> Cycle {
        Cycle::MAX
    }

    /// The chip as it stands when all events before its present cycle have been
    /// seen. A session calls it where it was [due](Self::due); that changes nothing in
    /// the run.
    fn sample(&mut self, chip: &Chip) {
        let _ = chip;
    }
}

/// Nobody watches.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoObserver;

impl Observer for NoObserver {
    fn is_on(&self) -> bool {
        false
    }

    fn see(&mut self, _: Cycle, _: &TraceEvent) {}
}

/// Somebody may watch.
impl<A: Observer> Observer for Option<A> {
    fn due(&self) -> Cycle {
        self.as_ref().map_or(Cycle::MAX, Observer::due)
    }

    fn sample(&mut self, chip: &Chip) {
        if let Some(it) = self {
            it.sample(chip);
        }
    }

    fn is_on(&self) -> bool {
        self.as_ref().is_some_and(Observer::is_on)
    }

    fn see(&mut self, at: Cycle, event: &TraceEvent) {
        if let Some(it) = self {
            it.see(at, event);
        }
    }
}

/// Somebody else's.
impl<A: Observer + ?Sized> Observer for &mut A {
    fn due(&self) -> Cycle {
        (**self).due()
    }

    fn sample(&mut self, chip: &Chip) {
        (**self).sample(chip);
    }

    fn is_on(&self) -> bool {
        (**self).is_on()
    }

    fn see(&mut self, at: Cycle, event: &TraceEvent) {
        (**self).see(at, event);
    }
}

/// Several watch, each of them all of it.
#[derive(Default)]
pub struct Observers<'a>(Vec<&'a mut dyn Observer>);

impl<'a> Observers<'a> {
    /// Nobody yet.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// One more.
    pub fn add(&mut self, observer: &'a mut dyn Observer) {
        self.0.push(observer);
    }
}

impl Observer for Observers<'_> {
    fn is_on(&self) -> bool {
        self.0.iter().any(Observer::is_on)
    }

    fn see(&mut self, at: Cycle, event: &TraceEvent) {
        for observer in &mut self.0 {
            observer.see(at, event);
        }
    }

    fn due(&self) -> Cycle {
        let due = self.0.iter().map(Observer::due);
        due.min().unwrap_or(Cycle::MAX)
    }

    fn sample(&mut self, chip: &Chip) {
        for observer in &mut self.0 {
            if observer.due() <= chip.fabric.now {
                observer.sample(chip);
            }
        }
    }
}

impl std::fmt::Debug for Observers<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Observers").field(&self.0.len()).finish()
    }
}
