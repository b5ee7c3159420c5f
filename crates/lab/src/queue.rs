//! Which point runs when, and on how many threads. The one that simulates most comes
//! first, so that those that end last are short and no core waits long for another.

use std::cmp::Reverse;
use std::collections::VecDeque;
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;

/// What is to be done, seen by all threads.
struct WorkQueue<R> {
    /// Indices of what has not begun.
    waiting: VecDeque<usize>,
    /// Threads that what has begun runs on.
    busy: usize,
    results: Vec<Option<R>>,
}

impl<R> WorkQueue<R> {
    /// The next one, and how many threads it gets: what is left of them is divided
    /// among those that wait.
    fn next(&mut self, jobs: usize) -> Option<(usize, usize)> {
        let free = jobs.saturating_sub(self.busy);
        let threads = (free / self.waiting.len().max(1)).max(1);
        let at = self.waiting.pop_front()?;
        self.busy += threads;
        Some((at, threads))
    }
}

/// Does `work` for each item, with the number of threads that it may run on; `jobs`
/// threads in all. Results come in the order of the items.
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
            // With fewer threads it comes to the same, only later.
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
    fn the_longest_begins_first_and_results_keep_their_order() {
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
    fn threads_are_divided_among_what_waits() {
        assert_eq!(run(&[()], |()| 0, 4, |(), threads| threads), [4]);
        // Both have begun before one ends.
        let both = Barrier::new(2);
        let threads = |(): &(), threads| {
            both.wait();
            threads
        };
        assert_eq!(run(&[(), ()], |()| 0, 4, threads), [2, 2]);
    }

    #[test]
    fn no_thread_waits_while_something_is_left() {
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
    fn queue_without_work_runs_nothing() {
        assert_eq!(run(&[], |(): &()| 0, 4, |(), _| ()), []);
    }
}
