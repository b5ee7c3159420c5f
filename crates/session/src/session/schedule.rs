//! Which node runs when, and on how many threads.
//!
//! A node needs nothing but what has left the one before it. It runs as far as that
//! is known, a window at a time, and hands on what has left; whoever is free takes
//! the last node that can run, so that what is on its way comes out of the network
//! before more goes in. Each node goes through the same states whatever the order.

use std::mem;
use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;

use npsim_chip::Cycle;
use npsim_chip::watch::Watcher;

use crate::links::Crossing;
use crate::node::{Node, RunTarget};

/// Frames that may wait at a node before the one before it stops for a while. It
/// bounds what is kept in memory.
const BACKLOG: usize = 1024;

/// Whether a node goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SlotState {
    On,
    /// It has ended, and can be taken up again.
    Stopped,
    /// It has ended for good and takes no more frames.
    Over,
}

impl SlotState {
    fn of(node: &Node) -> Self {
        match node.ending() {
            None => Self::On,
            Some(_) if node.is_closed() => Self::Over,
            Some(_) => Self::Stopped,
        }
    }
}

/// A node between two windows, or what is known of it while it runs.
struct NodeSlot<'n, P> {
    /// Absent while it runs.
    work: Option<(&'n mut Node, &'n mut P)>,
    handled: Cycle,
    state: SlotState,
    waits: bool,
    backlog: usize,
    /// What the node before has handed on since it ran.
    inbox: Vec<Crossing>,
    /// The node before has come to its end since.
    closes: bool,
}

impl<P> NodeSlot<'_, P> {
    /// Whether it cannot run before the node before does.
    fn starves(&self) -> bool {
        self.waits && self.inbox.is_empty() && !self.closes
    }
}

struct Scheduler<'n, P> {
    slots: Vec<NodeSlot<'n, P>>,
    target: RunTarget,
    running: usize,
}

impl<'n, P> Scheduler<'n, P> {
    /// Whether a node has not come to its target, or one behind it that has not waits
    /// for it.
    fn is_wanted(&self, at: usize) -> bool {
        let slot = &self.slots[at];
        let behind = at + 1 < self.slots.len();
        slot.state == SlotState::On
            && (slot.handled < self.target.cycle()
                || behind && self.slots[at + 1].starves() && self.is_wanted(at + 1))
    }

    /// Whether the node behind takes more frames.
    fn has_room(&self, at: usize) -> bool {
        self.slots.get(at + 1).is_none_or(|next| {
            next.state != SlotState::On
                || next.handled >= self.target.cycle()
                || next.starves()
                || next.inbox.len() + next.backlog < BACKLOG
        })
    }

    /// The last node that can run.
    fn next(&self) -> Option<usize> {
        (0..self.slots.len()).rev().find(|&at| {
            let slot = &self.slots[at];
            slot.work.is_some() && !slot.starves() && self.is_wanted(at) && self.has_room(at)
        })
    }

    /// Whether a node that is wanted waits for one whose time is up.
    fn is_stalled(&self) -> bool {
        (1..self.slots.len()).any(|at| {
            self.slots[at - 1].state == SlotState::Stopped
                && self.slots[at].starves()
                && self.is_wanted(at)
        })
    }

    /// A node has run, and gives frames to the one behind it.
    fn put_back(
        &mut self,
        at: usize,
        (node, observer): (&'n mut Node, &'n mut P),
        leaving: Vec<Crossing>,
    ) {
        self.running -= 1;
        let slot = &mut self.slots[at];
        slot.handled = node.handled();
        slot.state = SlotState::of(node);
        slot.waits = node.waits();
        slot.backlog = node.backlog();
        let is_over = slot.state == SlotState::Over;
        slot.work = Some((node, observer));
        if let Some(next) = self.slots.get_mut(at + 1) {
            next.closes |= is_over;
            if next.state != SlotState::Over {
                next.inbox.extend(leaving);
            }
        }
    }
}

/// Why nodes run no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Halt {
    /// Each has ended or come to the target.
    Complete,
    /// One waits for another whose time is up.
    Stalled,
    /// Progress broke it off.
    Interrupted,
}

/// Runs nodes as far as they can.
pub(super) fn drive<P: Watcher + Send>(
    nodes: &mut [Node],
    observers: &mut [P],
    target: RunTarget,
    threads: usize,
    progress: &mut (dyn FnMut(Cycle) -> ControlFlow<()> + Send),
) -> Halt {
    let threads = threads.clamp(1, nodes.len().max(1));
    let slots = nodes.iter_mut().zip(observers);
    let slots = slots.map(|(node, observer)| NodeSlot {
        handled: node.handled(),
        state: SlotState::of(node),
        waits: node.waits(),
        backlog: node.backlog(),
        work: Some((node, observer)),
        inbox: Vec::new(),
        closes: false,
    });
    let workers = Workers {
        scheduler: Mutex::new(Scheduler {
            slots: slots.collect(),
            target,
            running: 0,
        }),
        changed: Condvar::new(),
        progress: Mutex::new(progress),
        stop: AtomicBool::new(false),
    };
    thread::scope(|scope| {
        for _ in 1..threads {
            // With fewer threads the run comes to the same, only later.
            let builder = thread::Builder::new().name("node".to_owned());
            if builder.spawn_scoped(scope, || workers.work()).is_err() {
                break;
            }
        }
        workers.work();
    });
    let scheduler = workers
        .scheduler
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    let is_stalled = scheduler.is_stalled();
    for slot in scheduler.slots {
        if let Some((node, _)) = slot.work {
            node.feed(slot.inbox, slot.closes);
        }
    }
    match workers.stop.into_inner() {
        true => Halt::Interrupted,
        false if is_stalled => Halt::Stalled,
        false => Halt::Complete,
    }
}

/// What all threads share.
struct Workers<'n, 'p, P> {
    scheduler: Mutex<Scheduler<'n, P>>,
    changed: Condvar,
    progress: Mutex<&'p mut (dyn FnMut(Cycle) -> ControlFlow<()> + Send + 'p)>,
    stop: AtomicBool,
}

impl<'n, P: Watcher + Send> Workers<'n, '_, P> {
    /// Runs one node after the other until nothing is left to do.
    fn work(&self) {
        let mut scheduler = self.scheduler();
        loop {
            let stopped = self.stop.load(Ordering::Relaxed);
            let Some(at) = scheduler.next().filter(|_| !stopped) else {
                if scheduler.running == 0 || stopped {
                    self.changed.notify_all();
                    return;
                }
                scheduler = self
                    .changed
                    .wait(scheduler)
                    .unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let target = scheduler.target;
            let slot = &mut scheduler.slots[at];
            let inbox = mem::take(&mut slot.inbox);
            let closes = mem::take(&mut slot.closes);
            let Some((node, observer)) = slot.work.take() else {
                return;
            };
            scheduler.running += 1;
            drop(scheduler);
            let guard = PanicGuard(self);
            node.feed(inbox, closes);
            let leaving = node.advance(target, observer, &mut |cycle| self.ask(cycle));
            drop(guard);
            scheduler = self.scheduler();
            scheduler.put_back(at, (node, observer), leaving);
            self.changed.notify_all();
        }
    }

    fn ask(&self, cycle: Cycle) -> ControlFlow<()> {
        if self.stop.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        let mut progress = self.progress.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = progress(cycle);
        if answer.is_break() {
            self.stop.store(true, Ordering::Relaxed);
        }
        answer
    }

    /// A thread that panics leaves no half-made state behind that others use.
    fn scheduler(&self) -> MutexGuard<'_, Scheduler<'n, P>> {
        self.scheduler
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lets the other threads end when one panics.
struct PanicGuard<'c, 'n, 'p, P>(&'c Workers<'n, 'p, P>);

impl<P> Drop for PanicGuard<'_, '_, '_, P> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop.store(true, Ordering::Relaxed);
            self.0.changed.notify_all();
        }
    }
}
