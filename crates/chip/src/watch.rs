//! Watching a chip from above it: observers that get events, samplers that
//! take a look at the chip itself now and then, and both together.
//!
//! The stream of events ([`crate::kernel::observer`]) knows no chip. What a sampler
//! needs is the chip as a whole, between two events, so what runs the chip calls
//! it: a session ends a slice of the run where a sample is due.

use crate::Cycle;
use crate::chip::Chip;
use crate::kernel::observer::{Batch, NoObserver, Observer};
use crate::kernel::recurring_state::RecurringState;
use crate::kernel::trace_event::{Kinds, TraceEvent};

/// Takes samples of a chip, which change nothing in the run. Without methods of its
/// own it never does.
pub trait Sampler {
    /// The next cycle at which it wants to [sample](Self::sample) the chip.
    fn due(&self) -> Cycle {
        Cycle::MAX
    }

    /// The chip as it stands when all events before its present cycle have been
    /// seen. A session calls it where it was [due](Self::due).
    fn sample(&mut self, chip: &Chip) {
        let _ = chip;
    }
}

/// What a session takes: told of events, and asked for samples.
pub trait Watcher: Observer + Sampler {}

impl<A: Observer + Sampler + ?Sized> Watcher for A {}

impl Sampler for NoObserver {}

/// A sampler that may be absent.
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

/// A sampler that is borrowed.
impl<A: Sampler + ?Sized> Sampler for &mut A {
    fn due(&self) -> Cycle {
        (**self).due()
    }

    fn sample(&mut self, chip: &Chip) {
        (**self).sample(chip);
    }
}

/// Several watch, each of them all of it.
#[derive(Default)]
pub struct Watchers<'a>(Vec<&'a mut dyn Watcher>);

impl<'a> Watchers<'a> {
    /// A set without watchers.
    #[must_use]
    pub const fn new() -> Self {
        Self(Vec::new())
    }

    /// One more.
    pub fn add(&mut self, watcher: &'a mut dyn Watcher) {
        self.0.push(watcher);
    }
}

impl Observer for Watchers<'_> {
    fn wants(&self) -> Kinds {
        let none = Kinds::NONE;
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

    fn recur(&mut self, at: Cycle, state: &mut RecurringState<'_>) -> bool {
        self.0.iter_mut().all(|it| it.recur(at, state))
    }

    fn see_all(&mut self, events: &Batch<'_>) {
        for watcher in &mut self.0 {
            watcher.see_all(events);
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
