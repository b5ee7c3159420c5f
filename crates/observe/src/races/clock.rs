//! What a context knows of all others: how far each had come.

/// A vector clock.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct VectorClock(Vec<u32>);

impl VectorClock {
    /// The clock of a context that has synchronised with no other.
    pub fn first(count: usize, own: usize) -> Self {
        let mut times = vec![0; count];
        if let Some(time) = times.get_mut(own) {
            *time = 1;
        }
        Self(times)
    }

    /// How far a context had come when this one last heard of it.
    pub fn of(&self, who: usize) -> u32 {
        self.0.get(who).copied().unwrap_or(0)
    }

    /// A context goes on: its later accesses are not ordered before those of contexts that have heard
    /// of it until now.
    pub fn step(&mut self, own: usize) {
        if let Some(time) = self.0.get_mut(own) {
            *time += 1;
        }
    }

    /// Knows what the other knows.
    pub fn join(&mut self, other: &Self) {
        for (time, other) in self.0.iter_mut().zip(&other.0) {
            *time = (*time).max(*other);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::VectorClock;

    #[test]
    fn clock_knows_what_it_joined_and_nothing_later() {
        let (mut a, mut b) = (VectorClock::first(2, 0), VectorClock::first(2, 1));
        b.join(&a);
        a.step(0);
        assert_eq!((b.of(0), a.of(0)), (1, 2));
        assert_eq!((a.of(1), b.of(1)), (0, 1));
    }
}
