//! Runs several nodes on fewer threads: the one way in which chains and networks distribute their
//! chips.
//!
//! Work is run slice by slice. A free thread continues with the piece that has the fewest finished
//! slices, so that no thread idles while others have several pieces to go. The results of a node
//! depend neither on slices nor on threads.

use std::sync::{Mutex, MutexGuard, PoisonError};

use rayon::{ThreadPool, ThreadPoolBuilder};

/// Threads that run several nodes at a time.
#[derive(Debug, Default)]
pub struct Workers(Option<ThreadPool>);

/// Work that waits for a thread, with the number of finished slices.
type WaitingWork<W> = Mutex<Vec<(u64, W)>>;

impl Workers {
    /// Workers on this many threads, but no more than there are nodes. If the system provides none,
    /// the calling thread does all the work.
    #[must_use]
    pub fn new(threads: usize, nodes: usize) -> Self {
        let threads = threads.min(nodes);
        let builder = ThreadPoolBuilder::new()
            .num_threads(threads)
            .thread_name(|_| "node".to_owned());
        Self((threads > 1).then(|| builder.build().ok()).flatten())
    }

    /// The number of pieces of work that run at a time.
    #[must_use]
    pub fn count(&self) -> usize {
        self.0.as_ref().map_or(1, ThreadPool::current_num_threads)
    }

    /// Runs all work to its end, the first pieces first. `slice` runs one slice of a piece, and
    /// returns whether there is another one.
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

/// Takes the first of the pieces with the fewest finished slices.
fn take<W>(waiting: &WaitingWork<W>) -> Option<(u64, W)> {
    let mut waiting = locked(waiting);
    let least = { waiting.iter().enumerate() }.min_by_key(|(_, (done, _))| *done);
    let (place, _) = least?;
    Some(waiting.remove(place))
}

/// Locks the list. A panicking thread leaves no half-made state behind.
fn locked<W>(waiting: &WaitingWork<W>) -> MutexGuard<'_, Vec<(u64, W)>> {
    waiting.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use super::Workers;
    use std::sync::Mutex;

    #[test]
    fn all_work_is_completed_with_any_number_of_threads() {
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
    fn single_thread_runs_work_in_order() {
        let order = Mutex::new(Vec::new());
        Workers::new(1, 3).run(vec![2, 1, 0], |piece| {
            order.lock().unwrap().push(*piece);
            false
        });
        assert_eq!(order.into_inner().unwrap(), [2, 1, 0]);
    }
}
