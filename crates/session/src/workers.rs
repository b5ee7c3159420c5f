//! Several nodes on fewer threads: the one way in which chains and networks share out their chips.
//!
//! Work is run slice by slice, and a thread that is free goes on with the piece of which the fewest
//! slices are done, so that no thread idles while others have several pieces to go. What comes of a
//! node depends neither on slices nor on threads.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

/// Threads that run several nodes at a time.
#[derive(Debug, Default)]
pub struct Workers(Option<ThreadPool>);

/// Work that waits for a thread, with the number of slices that are done.
type WaitingWork<W> = Mutex<Vec<(u64, W)>>;

impl Workers {
    /// Workers on this many threads, but no more than there are nodes. Where the system gives none, the
    /// calling thread does all the work.
    #[must_use]
    pub fn new(threads: usize, nodes: usize) -> Self {
        let threads = threads.min(nodes);
        let builder = ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|_| "node".to_owned());
        Self((threads > 1).then(|| builder.build().ok()).flatten())
    }

    /// How many pieces of work run at a time.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.as_ref().map_or(1, ThreadPool::current_num_threads)
    }

    /// Runs all work to its end, the first pieces first. `slice` runs a slice of a piece, and says
    /// whether there is another one.
    pub fn run<W: Send>(&self, work: Vec<W>, slice: impl Fn(&mut W) -> bool + Sync) {
        let pool = self.0.as_ref().filter(|_| work.len() > 1);
        let Some(pool) = pool else {
            for mut piece in work {
                while slice(&mut piece) {}
            }
            return;
        };
        let waiting: WaitingWork<W> =
            Mutex::new(work.into_iter().map(|piece| (0, piece)).collect());
        pool.scope(|scope| {
            for _ in 0..pool.current_num_threads() {
                // A thread that finds nothing leaves no more pieces than there are other threads.
                scope.spawn(|_| {
                    while let Some((done, mut piece)) = take(&waiting) {
                        if slice(&mut piece) {
                            locked(&waiting).push((done + 1, piece));
                        }
                    }
                });
            }
        });
    }
}

/// The first of the pieces that are least far.
fn take<W>(waiting: &WaitingWork<W>) -> Option<(u64, W)> {
    let mut waiting = locked(waiting);
    let least = { waiting.iter().enumerate() }.min_by_key(|(_, (done, _))| *done);
    let (place, _) = least?;
    Some(waiting.remove(place))
}

/// A thread that panics leaves no half-made state behind.
fn locked<W>(waiting: &WaitingWork<W>) -> MutexGuard<'_, Vec<(u64, W)>> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::Workers;
    use std::sync::Mutex;

    #[test]
    fn every_piece_is_run_to_its_end_with_any_number_of_threads() {
        for threads in 1..5 {
            let workers = Workers::new(threads, 4);
            assert_eq!(workers.count(), threads.min(4));
            let mut left = [3, 0, 7, 1, 2];
            workers.run(left.iter_mut().collect(), |left| {
                **left -= 1;
                **left > 0
            });
            assert_eq!(left, [0, -1, 0, 0, 0], "{threads} threads");
        }
    }

    #[test]
    fn one_thread_takes_work_in_its_order() {
        let order = Mutex::new(Vec::new());
        Workers::new(1, 3).run(vec![2, 1, 0], |piece| {
            order.lock().unwrap().push(*piece);
            false
        });
        assert_eq!(order.into_inner().unwrap(), [2, 1, 0]);
    }
}
