//! Watching a chip: observers that receive events, samplers that inspect the chip itself now and
//! then, and combinations of both.
//!
//! The event stream ([`crate::kernel::observer`]) has no access to the chip. A sampler needs the
//! whole chip, between two events, so the code that runs the chip calls it: a session ends a slice
//! of the run where a sample is due.

use crate::Cycle;
use crate::chip::Chip;
use crate::kernel::observer::{Batch, NoObserver, Observer};
use crate::kernel::recurring_state::RecurringState;
use crate::kernel::trace_event::{EventKinds, TraceEvent};

/// Samples a chip without affecting the run. By default, no sample is ever due.
pub trait Sampler {
    /// The next cycle at which the chip is to be [sampled](Self::sample).
    fn due(&self) -> Cycle {
        Cycle::MAX
    }

    /// Samples the chip once all events before its current cycle have been seen. A session calls it
    /// when a sample is [due](Self::due).
    fn sample(&mut self, chip: &Chip) {
        let _ = chip;
    }
}

/// An observer and sampler, as a session takes it.
pub trait Watcher: Observer + Sampler {}

impl<A: Observer + Sampler + ?Sized> Watcher for A {}

impl Sampler for NoObserver {}

/// An optional sampler.
impl<A: Sampler> Sampler for Option<A> {
    fn due(&self) -> Cycle {
        self.as_ref().map_or(Cycle::MAX, Sampler::due)
    }

    fn sample(&mut self, chip: &Chip) {
        if let Some(it) = self {
            it.sample(chip);
        }
    }
}

/// A borrowed sampler.
impl<A: Sampler + ?Sized> Sampler for &mut A {
    fn due(&self) -> Cycle {
        (**self).due()
    }

    fn sample(&mut self, chip: &Chip) {
        (**self).sample(chip);
    }
}

/// Several watchers, each of which sees everything.
#[derive(Default)]
pub struct Watchers<'a>(Vec<&'a mut dyn Watcher>);

impl<'a> Watchers<'a> {
    /// Creates an empty set of watchers.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// Adds a watcher.
    pub fn add(&mut self, watcher: &'a mut dyn Watcher) {
        self.0.push(watcher);
    }
}

impl Observer for Watchers<'_> {
    fn wants(&self) -> EventKinds {
        let none = EventKinds::NONE;
        self.0.iter().fold(none, |all, one| all.and(one.wants()))
    }

    fn see(&mut self, at: Cycle, event: &TraceEvent) {
        for watcher in &mut self.0 {
            watcher.see(at, event);
        }
    }

    fn needs_order(&self) -> bool {
        self.0.iter().any(Observer::needs_order)
    }

    fn visit_state(&mut self, at: Cycle, state: &mut RecurringState<'_>) -> bool {
        self.0.iter_mut().all(|it| it.visit_state(at, state))
    }

    fn see_batch(&mut self, events: &Batch<'_>) {
        for watcher in &mut self.0 {
            watcher.see_batch(events);
        }
    }
}

impl Sampler for Watchers<'_> {
    fn due(&self) -> Cycle {
        let due = self.0.iter().map(Sampler::due);
        due.min().unwrap_or(Cycle::MAX)
    }

    fn sample(&mut self, chip: &Chip) {
        for watcher in &mut self.0 {
            if watcher.due() <= chip.now() {
                watcher.sample(chip);
            }
        }
    }
}

impl std::fmt::Debug for Watchers<'_> {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_tuple("Watchers").field(&self.0.len()).finish()
    }
}
