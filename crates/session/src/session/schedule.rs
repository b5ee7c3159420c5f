//! The scheduling of nodes.
//!
//! A node depends on nothing but the frames from the previous one. In each round, all nodes that
//! can run do so, as far as those frames are known and for one window at most; then they hand on
//! their departures. A node that has handed on much waits for the next one, so that frames in
//! flight leave the chain before more enter. Each node goes through the same states whatever the
//! rounds are.

use std::ops::ControlFlow;
use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::{Mutex, PoisonError};

use npsim_chip::Cycle;
use npsim_chip::watch::Watcher;

use crate::node::{Node, RunTarget};
use crate::workers::Workers;

/// Frames that may wait at a node before the previous one stops for a while.
/// This bounds the memory in use.
const BACKLOG: usize = 1024;

/// Why nodes stopped running.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Halt {
    /// Each node has ended or reached the target.
    Complete,
    /// A node waits for another that has reached its time limit.
    Stalled,
    /// Interrupted by the progress callback.
    Interrupted,
}

/// Runs nodes to the target or to their ends, with an observer each.
pub(super) fn drive<P: Watcher + Send>(
    nodes: &mut [Node],
    observers: &mut [P],
    target: RunTarget,
    workers: &Workers,
    progress: &mut (dyn FnMut(Cycle) -> ControlFlow<()> + Send),
) -> Halt {
    let stop = AtomicBool::new(false);
    let progress = Mutex::new(progress);
    let ask = |cycle| {
        if stop.load(Ordering::Relaxed) {
            return ControlFlow::Break(());
        }
        let mut progress = progress.lock().unwrap_or_else(PoisonError::into_inner);
        let answer = progress(cycle);
        if answer.is_break() {
            stop.store(true, Ordering::Relaxed);
        }
        answer
    };
    loop {
        let chain = Chain {
            nodes,
            target: target.cycle(),
        };
        let runs: Vec<bool> = (0..nodes.len()).map(|at| chain.can_run(at)).collect();
        if !runs.contains(&true) {
            return if chain.is_stalled() {
                Halt::Stalled
            } else {
                Halt::Complete
            };
        }
        let mut leaving = vec![Vec::new(); nodes.len()];
        let work = { nodes.iter_mut() }.zip(&mut *observers).zip(&mut leaving);
        let work = work.zip(&runs).filter(|(_, runs)| **runs).rev();
        workers.run(
            work.map(|(work, _)| work).collect(),
            |((node, observer), leaving)| {
                if !stop.load(Ordering::Relaxed) {
                    **leaving = node.advance(target, &mut **observer, &mut |cycle| ask(cycle));
                }
                false
            },
        );
        for (at, frames) in (1..nodes.len()).zip(leaving) {
            if runs[at - 1] {
                let closes = nodes[at - 1].is_closed();
                nodes[at].feed(frames, closes);
            }
        }
        if stop.load(Ordering::Relaxed) {
            return Halt::Interrupted;
        }
    }
}

/// The nodes between two rounds. A node waits if it cannot run before the previous one does.
struct Chain<'n> {
    nodes: &'n [Node],
    target: Cycle,
}

impl Chain<'_> {
    fn can_run(&self, at: usize) -> bool {
        !self.nodes[at].waits() && self.is_wanted(at) && self.has_room(at)
    }

    /// Whether a node has not reached its target, or the next one has not and waits for it.
    fn is_wanted(&self, at: usize) -> bool {
        let node = &self.nodes[at];
        let behind = self.nodes.get(at + 1);
        node.ending().is_none()
            && (node.handled() < self.target
                || behind.is_some_and(|behind| behind.waits() && self.is_wanted(at + 1)))
    }

    /// Whether the next node accepts more frames.
    fn has_room(&self, at: usize) -> bool {
        self.nodes.get(at + 1).is_none_or(|next| {
            next.ending().is_some()
                || next.handled() >= self.target
                || next.waits()
                || next.backlog() < BACKLOG
        })
    }

    /// Whether a wanted node waits for one that has reached its time limit.
    fn is_stalled(&self) -> bool {
        (1..self.nodes.len()).any(|at| {
            let before = &self.nodes[at - 1];
            let has_stopped = before.ending().is_some() && !before.is_closed();
            has_stopped && self.nodes[at].waits() && self.is_wanted(at)
        })
    }
}
