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
use crate::node::{Goal, Node};

/// Frames that may wait at a node before the one before it stops for a while. It
/// bounds what is kept in memory.
const BACKLOG: usize = 1024;

/// Whether a node goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Standing {
    On,
    /// It has ended, and can be taken up again.
    Stopped,
    /// It has ended for good and takes no more frames.
    Over,
}

impl Standing {
    fn of(node: &Node) -> Self {
        match node.ending() {
            None => Self::On,
            Some(_) if node.is_deaf() => Self::Over,
            Some(_) => Self::Stopped,
        }
    }
}

/// A node between two windows, or what is known of it while it runs.
struct Place<'n, P> {
    /// Absent while it runs.
    work: Option<(&'n mut Node, &'n mut P)>,
    handled: Cycle,
    standing: Standing,
    waits: bool,
    backlog: usize,
    /// What the node before has handed on since it ran.
    inbox: Vec<Crossing>,
    /// The node before has come to its end since.
    closes: bool,
}

impl<P> Place<'_, P> {
    /// Whether it cannot run before the node before does.
    fn starves(&self) -> bool {
        self.waits && self.inbox.is_empty() && !self.closes
    }
}

struct Board<'n, P> {
    places: Vec<Place<'n, P>>,
    goal: Goal,
    running: usize,
}

impl<'n, P> Board<'n, P> {
    /// Whether a node has not come to its goal, or one behind it that has not waits
    /// for it.
    fn is_wanted(&self, at: usize) -> bool {
        let place = &self.places[at];
        let behind = at + 1 < self.places.len();
        place.standing == Standing::On
            && (place.handled < self.goal.cycle()
                || behind && self.places[at + 1].starves() && self.is_wanted(at + 1))
    }

    /// Whether the node behind takes more frames.
    fn has_room(&self, at: usize) -> bool {
        self.places.get(at + 1).is_none_or(|next| {
            next.standing != Standing::On
                || next.handled >= self.goal.cycle()
                || next.starves()
                || next.inbox.len() + next.backlog < BACKLOG
        })
    }

    /// The last node that can run.
    fn next(&self) -> Option<usize> {
        (0..self.places.len()).rev().find(|&at| {
            let place = &self.places[at];
            place.work.is_some() && !place.starves() && self.is_wanted(at) && self.has_room(at)
        })
    }

    /// Whether a node that is wanted waits for one whose time is up.
    fn is_held_up(&self) -> bool {
        (1..self.places.len()).any(|at| {
            self.places[at - 1].standing == Standing::Stopped
                && self.places[at].starves()
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
        let place = &mut self.places[at];
        place.handled = node.handled();
        place.standing = Standing::of(node);
        place.waits = node.waits();
        place.backlog = node.backlog();
        let is_over = place.standing == Standing::Over;
        place.work = Some((node, observer));
        if let Some(next) = self.places.get_mut(at + 1) {
            next.closes |= is_over;
            if next.standing != Standing::Over {
                next.inbox.extend(leaving);
            }
        }
    }
}

/// Why nodes run no further.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Halt {
    /// Each has ended or come to the goal.
    Through,
    /// One waits for another whose time is up.
    HeldUp,
    /// Progress broke it off.
    BrokenOff,
}

/// Runs nodes as far as they can.
pub(super) fn drive<P: Watcher + Send>(
    nodes: &mut [Node],
    observers: &mut [P],
    goal: Goal,
    threads: usize,
    progress: &mut (dyn FnMut(Cycle) -> ControlFlow<()> + Send),
) -> Halt {
    let threads = threads.clamp(1, nodes.len().max(1));
    let places = nodes.iter_mut().zip(observers);
    let places = places.map(|(node, observer)| Place {
        handled: node.handled(),
        standing: Standing::of(node),
        waits: node.waits(),
        backlog: node.backlog(),
        work: Some((node, observer)),
        inbox: Vec::new(),
        closes: false,
    });
    let crew = Crew {
        board: Mutex::new(Board {
            places: places.collect(),
            goal,
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
            if builder.spawn_scoped(scope, || crew.work()).is_err() {
                break;
            }
        }
        crew.work();
    });
    let board = crew
        .board
        .into_inner()
        .unwrap_or_else(PoisonError::into_inner);
    let is_held_up = board.is_held_up();
    for place in board.places {
        if let Some((node, _)) = place.work {
            node.feed(place.inbox, place.closes);
        }
    }
    match crew.stop.into_inner() {
        true => Halt::BrokenOff,
        false if is_held_up => Halt::HeldUp,
        false => Halt::Through,
    }
}

/// What all threads share.
struct Crew<'n, 'p, P> {
    board: Mutex<Board<'n, P>>,
    changed: Condvar,
    progress: Mutex<&'p mut (dyn FnMut(Cycle) -> ControlFlow<()> + Send + 'p)>,
    stop: AtomicBool,
}

impl<'n, P: Watcher + Send> Crew<'n, '_, P> {
    /// Runs one node after the other until nothing is left to do.
    fn work(&self) {
        let mut board = self.board();
        loop {
            let stopped = self.stop.load(Ordering::Relaxed);
            let Some(at) = board.next().filter(|_| !stopped) else {
                if board.running == 0 || stopped {
                    self.changed.notify_all();
                    return;
                }
                board = self
                    .changed
                    .wait(board)
                    .unwrap_or_else(PoisonError::into_inner);
                continue;
            };
            let goal = board.goal;
            let place = &mut board.places[at];
            let inbox = mem::take(&mut place.inbox);
            let closes = mem::take(&mut place.closes);
            let Some((node, observer)) = place.work.take() else {
                return;
            };
            board.running += 1;
            drop(board);
            let alarm = Alarm(self);
            node.feed(inbox, closes);
            let leaving = node.advance(goal, observer, &mut |cycle| self.ask(cycle));
            drop(alarm);
            board = self.board();
            board.put_back(at, (node, observer), leaving);
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
    fn board(&self) -> MutexGuard<'_, Board<'n, P>> {
        self.board.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Lets the other threads end when one panics.
struct Alarm<'c, 'n, 'p, P>(&'c Crew<'n, 'p, P>);

impl<P> Drop for Alarm<'_, '_, '_, P> {
    fn drop(&mut self) {
        if thread::panicking() {
            self.0.stop.store(true, Ordering::Relaxed);
            self.0.changed.notify_all();
        }
    }
}
