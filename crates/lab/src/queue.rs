//! Schedules points over threads. Expensive points come first, so that the last ones
//! to finish are short and no core idles for long.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

/// The work to do, shared by all threads.
struct WorkQueue<R> {
    /// Indices of items that have not started.
    waiting: VecDeque<usize>,
    /// Number of threads used by running items.
    busy: usize,
    results: Vec<Option<R>>,
}

impl<R> WorkQueue<R> {
    /// Returns the next item and the number of threads for it: the free threads are
    /// divided among the waiting items.
    fn next(&mut self, jobs: usize) -> Option<(usize, usize)> {
        let free = jobs.saturating_sub(self.busy);
        let threads = (free / self.waiting.len().max(1)).max(1);
        let at = self.waiting.pop_front()?;
        self.busy += threads;
        Some((at, threads))
    }
}

/// Calls `work` for each item with the number of threads that it may use, on `jobs`
/// threads in total. Results are in the order of the items.
pub(crate) fn run<T: Sync, R: Send>(
    items: &[T],
    cost: impl Fn(&T) -> u64,
    jobs: usize,
    work: impl Fn(&T, usize) -> R + Sync,
) -> Vec<R> {
    let mut order: Vec<usize> = (0..items.len()).collect();
    order.sort_by_key(|&at| Reverse(cost(&items[at])));
    let queue = Mutex::new(WorkQueue {
        waiting: order.into(),
        busy: 0,
        results: items.iter().map(|_| None).collect(),
    });
    let worker = || {
        loop {
            let Some((at, threads)) = locked(&queue).next(jobs) else {
                return;
            };
            let result = work(&items[at], threads);
            let mut queue = locked(&queue);
            queue.busy -= threads;
            queue.results[at] = Some(result);
        }
    };
    thread::scope(|scope| {
        for _ in 1..jobs.min(items.len()) {
            // Fewer threads give the same results, only later.
            let builder = thread::Builder::new().name("point".to_owned());
            if builder.spawn_scoped(scope, worker).is_err() {
                break;
            }
        }
        worker();
    });
    let queue = queue.into_inner().unwrap_or_else(PoisonError::into_inner);
    queue.results.into_iter().flatten().collect()
}

fn locked<R>(queue: &Mutex<WorkQueue<R>>) -> MutexGuard<'_, WorkQueue<R>> {
    queue.lock().unwrap_or_else(PoisonError::into_inner)
}

#[cfg(test)]
mod tests {
    use std::sync::{Barrier, Mutex};

    use super::run;

    #[test]
    fn longest_job_starts_first_and_results_keep_their_order() {
        let begun = Mutex::new(Vec::new());
        let done = run(
            &[3, 9, 1, 9, 5],
            |&cost| cost,
            1,
            |&cost, threads| {
                begun.lock().unwrap().push(cost);
                (cost, threads)
            },
        );
        assert_eq!(*begun.lock().unwrap(), [9, 9, 5, 3, 1]);
        assert_eq!(done, [(3, 1), (9, 1), (1, 1), (9, 1), (5, 1)]);
    }

    #[test]
    fn threads_are_divided_among_waiting_jobs() {
        assert_eq!(run(&[()], |()| 0, 4, |(), threads| threads), [4]);
        // Both start before either ends.
        let both = Barrier::new(2);
        let threads = |(): &(), threads| {
            both.wait();
            threads
        };
        assert_eq!(run(&[(), ()], |()| 0, 4, threads), [2, 2]);
    }

    #[test]
    fn no_thread_idles_while_jobs_remain() {
        // Three at a time: each of the first three waits for the other two.
        let three = Barrier::new(3);
        let costs: Vec<u64> = (0..30).rev().collect();
        let done = run(
            &costs,
            |&cost| cost,
            3,
            |&cost, _| {
                if cost >= 27 {
                    three.wait();
                }
                cost
            },
        );
        assert_eq!(done, costs);
    }

    #[test]
    fn empty_queue_runs_nothing() {
        assert_eq!(run(&[], |(): &()| 0, 4, |(), _| ()), []);
    }
}
