//! A context's knowledge of all others: up to which cycle it knows what each did.

use std::sync::Arc;

use npsim_chip::Cycle;

/// A vector clock. Its times are cycles: a context's actions before that cycle are known, but not
/// the commands that it has only issued.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VectorClock(Vec<Cycle>);

impl VectorClock {
    /// The clock of one of `count` contexts that has not synchronised with any other.
    pub fn new(count: usize) -> Self {
        Self(vec![0; count])
    }

    /// The first cycle of a context that this clock does not know.
    pub fn of(&self, who: usize) -> Cycle {
        self.0.get(who).copied().unwrap_or(0)
    }

    /// Adds the knowledge of another clock.
    pub fn join(&mut self, other: &Self) {
        for (time, other) in self.0.iter_mut().zip(&other.0) {
            *time = (*time).max(*other);
        }
    }

    /// Learns of a moment, and of everything that had happened before it.
    pub fn learn(&mut self, moment: &Moment) {
        self.join(&moment.known);
        if let Some(time) = self.0.get_mut(moment.who) {
            *time = (*time).max(moment.at + 1);
        }
    }
}

/// An action of a context with the context's knowledge when it caused the action: a signal that it
/// sent, or a command of it that reached its unit.
#[derive(Clone, Debug)]
pub struct Moment {
    /// The number of the context.
    pub who: usize,
    /// The cycle.
    pub at: Cycle,
    /// The context's knowledge.
    pub known: Arc<VectorClock>,
}

impl Moment {
    /// Whether a context with this clock knows of the moment.
    pub fn is_known_to(&self, clock: &VectorClock) -> bool {
        clock.of(self.who) > self.at
    }
}

#[cfg(test)]
mod tests {
    use std::sync::Arc;

    use super::{Moment, VectorClock};

    #[test]
    fn clock_covers_learned_moments_only() {
        let moment = |who, at, known: &VectorClock| Moment {
            who,
            at,
            known: Arc::new(known.clone()),
        };
        let none = VectorClock::new(3);
        let mut own = VectorClock::new(3);
        own.learn(&moment(1, 20, &none));
        assert!(moment(1, 20, &none).is_known_to(&own));
        assert!(!moment(1, 21, &none).is_known_to(&own));
        // The knowledge of the other is passed on as well.
        let mut third = VectorClock::new(3);
        third.learn(&moment(0, 30, &own));
        assert!(moment(1, 20, &none).is_known_to(&third));
        assert!(!moment(2, 0, &none).is_known_to(&third));
    }
}
