//! How many routers of a chain run at a time.

use std::collections::BTreeSet;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};

/// So many routers may run at a time; the others wait for a permit.
#[derive(Debug)]
pub struct Permits {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Debug)]
struct State {
    free: usize,
    /// Routers that could go on.
    waiting: BTreeSet<usize>,
}

impl Permits {
    /// Permits for `count` routers at a time, at least one.
    pub fn new(count: usize) -> Self {
        Self {
            state: Mutex::new(State {
                free: count.max(1),
                waiting: BTreeSet::new(),
            }),
            changed: Condvar::new(),
        }
    }

    /// Waits until router `hop` may run.
    pub fn wait(&self, hop: usize) -> Permit<'_> {
        self.take(hop);
        Permit { permits: self, hop }
    }

    /// The last router that waits comes first: what is on its way through the chain
    /// is to come out of it before more goes in.
    fn take(&self, hop: usize) {
        let mut state = self.state();
        state.waiting.insert(hop);
        while state.free == 0 || state.waiting.last() != Some(&hop) {
            state = self
                .changed
                .wait(state)
                .unwrap_or_else(PoisonError::into_inner);
        }
        state.waiting.remove(&hop);
        state.free -= 1;
        let others = state.free > 0 && !state.waiting.is_empty();
        drop(state);
        if others {
            self.changed.notify_all();
        }
    }

    fn give_back(&self) {
        self.state().free += 1;
        self.changed.notify_all();
    }

    /// A thread that panics holds no half-made state.
    fn state(&self) -> MutexGuard<'_, State> {
        self.state.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lets a router run while it is held.
#[derive(Debug)]
pub struct Permit<'a> {
    permits: &'a Permits,
    hop: usize,
}

impl Permit<'_> {
    /// Waits for something without keeping other routers from running.
    pub fn without<R>(&self, wait: impl FnOnce() -> R) -> R {
        self.permits.give_back();
        let result = wait();
        self.permits.take(self.hop);
        result
    }
}

impl Drop for Permit<'_> {
    fn drop(&mut self) {
        self.permits.give_back();
    }
}

#[cfg(test)]
mod tests {
    use super::Permits;
    use std::sync::atomic::{AtomicUsize, Ordering};

    #[test]
    fn no_more_run_than_may() {
        for most in [1, 2, 3] {
            let permits = Permits::new(most);
            let (running, peak) = (AtomicUsize::new(0), AtomicUsize::new(0));
            std::thread::scope(|scope| {
                for hop in 0..6 {
                    let (permits, running, peak) = (&permits, &running, &peak);
                    scope.spawn(move || {
                        let permit = permits.wait(hop);
                        for _ in 0..50 {
                            let now = running.fetch_add(1, Ordering::SeqCst) + 1;
                            peak.fetch_max(now, Ordering::SeqCst);
                            std::thread::yield_now();
                            running.fetch_sub(1, Ordering::SeqCst);
                            permit.without(std::thread::yield_now);
                        }
                    });
                }
            });
            assert!((1..=most).contains(&peak.load(Ordering::SeqCst)));
            assert_eq!(permits.state().free, most);
        }
    }
}
