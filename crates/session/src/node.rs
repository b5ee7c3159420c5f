//! A chip with its lines and its progress: the one driver of a chip, for an ordinary run, a chain,
//! a network and the debugger.
//!
//! A node is driven in one of three ways, which do not mix: a [session](crate::session) runs it as
//! far as frames from the previous node are known (`Node::advance`), a network feeds it while it
//! runs ([`Node::run_open`]), and a debugger brings it to exact cycles ([`Node::run_exactly`]) and
//! [forks](Node::fork) it.

mod exact;
mod networked;

use std::io;
use std::ops::ControlFlow;

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::kernel::check::Check;
use npsim_chip::watch::Watcher;
use npsim_inspect::stats::{CheckStats, Stats};
use npsim_net::egress::TraceSink;
use serde::{Deserialize, Serialize};

use crate::histogram::Histogram;
use crate::links::{LinkFrame, Links, LinksState, Traffic};
use crate::simulation::{Advance, Ending, Simulation};
use npsim_project::problem::Problem;

pub use exact::NodeCopy;
pub use networked::NetworkedState;

/// Maximum cycles before departures are handed on to the next node.
const WINDOW: Cycle = 60_000;

/// How far a session is to run.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum RunTarget {
    /// To the first event at this cycle or later. This changes nothing in the chips: microengines
    /// may have run ahead of it.
    Pause(Cycle),
    /// To exactly this cycle, with the microengines stopped there too.
    Exactly(Cycle),
}

impl RunTarget {
    pub fn cycle(self) -> Cycle {
        match self {
            Self::Pause(cycle) | Self::Exactly(cycle) => cycle,
        }
    }
}

/// The counts up to some cycle.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NodeCounts {
    /// By the chip.
    pub stats: Stats,
    /// On the lines.
    pub traffic: Traffic,
}

/// A chip with its lines.
#[derive(Debug)]
pub struct Node {
    simulation: Simulation,
    links: Links,
    until: Option<Cycle>,
    mark: Option<Cycle>,
    marked: Option<NodeCounts>,
    ending: Option<Ending>,
    /// The cycle before which no event is left.
    handled: Cycle,
    /// Whether it has to wait until more incoming frames are known.
    waits: bool,
    /// The cycle before which nothing leaves unless a frame arrives, as far as skipping has shown.
    /// Not saved, since the amount skipped depends on how the run was split.
    silent: Cycle,
}

/// The state of a node, as part of [`Session::snapshot`](crate::session::Session::snapshot).
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct NodeState {
    handled: Cycle,
    undecided: bool,
    pub links: LinksState,
    pub chip: Vec<u8>,
}

impl Node {
    /// A chip at cycle 0 on lines on which nothing has arrived. It runs until `until` at the
    /// latest, and its counts at cycle `mark` are [kept](Self::mark).
    #[must_use]
    pub fn new(
        simulation: Simulation,
        links: Links,
        until: Option<Cycle>,
        mark: Option<Cycle>,
    ) -> Self {
        Self {
            simulation,
            links,
            until,
            mark,
            marked: None,
            ending: None,
            handled: 0,
            waits: false,
            silent: 0,
        }
    }

    /// The chip, with its memories and registers.
    #[must_use]
    pub fn chip(&self) -> &Chip {
        self.simulation.chip()
    }

    /// The chip, for changes from outside between two steps of a run.
    pub fn chip_mut(&mut self) -> &mut Chip {
        self.simulation.chip_mut()
    }

    /// The cycle that the chip has reached, which may lie beyond [`Self::handled`].
    #[must_use]
    pub fn now(&self) -> Cycle {
        self.simulation.now()
    }

    /// Why its run ended, if it has.
    #[must_use]
    pub fn ending(&self) -> Option<&Ending> {
        self.ending.as_ref()
    }

    /// What the chip has counted so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        let mut stats = self.simulation.stats();
        // The chip can go on, so it does not record what is only reported at the end of a run.
        if matches!(self.ending, Some(Ending::Reached))
            && self.simulation.sleeps_forever_unchecked()
        {
            stats.checks_passed_over.push(CheckStats {
                check: Check::NeverWoken.name().to_owned(),
                count: 1,
            });
        }
        stats
    }

    /// Counts of what came and went on its lines so far.
    #[must_use]
    pub fn traffic(&self) -> &Traffic {
        &self.links.traffic
    }

    /// The counts at the [mark](crate::session::Plan::mark), if the run has reached it.
    #[must_use]
    pub fn mark(&self) -> Option<&NodeCounts> {
        self.marked.as_ref()
    }

    /// Cycles from the last bit into the first node to the last bit out of this one, for every
    /// departure that could be traced.
    #[must_use]
    pub fn since_entry(&self) -> &Histogram {
        self.links.since_entry()
    }

    /// The arrival of the last known frame.
    #[must_use]
    pub fn arrivals_end(&self) -> Cycle {
        self.links.arrivals_end()
    }

    /// Why some frames could not be read, if so.
    #[must_use]
    pub fn unread(&self) -> Option<String> {
        self.links.input_failure().map(ToString::to_string)
    }

    /// The state of each context, one line each.
    #[must_use]
    pub fn state_report(&self) -> Vec<String> {
        self.simulation.state_report()
    }

    /// The counts so far.
    #[must_use]
    pub fn counts(&self) -> NodeCounts {
        NodeCounts {
            stats: self.stats(),
            traffic: self.traffic().clone(),
        }
    }

    /// The cycle before which all events have been handled.
    #[must_use]
    pub fn handled(&self) -> Cycle {
        self.handled
    }

    pub(crate) fn waits(&self) -> bool {
        self.waits
    }

    pub(crate) fn backlog(&self) -> usize {
        self.links.backlog()
    }

    /// Lets an interrupted node go on.
    pub(crate) fn take_up(&mut self) {
        if self.ending == Some(Ending::Interrupted) {
            self.ending = None;
        }
    }

    pub(crate) fn interrupt(&mut self) {
        self.ending.get_or_insert(Ending::Interrupted);
    }

    /// Whether it has reached its time limit; with a later limit it could go on.
    pub(crate) fn is_out_of_time(&self) -> bool {
        self.ending == Some(Ending::Reached)
    }

    /// Whether its run has ended for good, so that it accepts no more frames.
    pub(crate) fn is_closed(&self) -> bool {
        let on = [Ending::Reached, Ending::Interrupted];
        { self.ending.as_ref() }.is_some_and(|ending| !on.contains(ending))
    }

    /// Adds frames from the previous node; none will follow if `closes`.
    pub(crate) fn feed(&mut self, frames: Vec<LinkFrame>, closes: bool) {
        if !frames.is_empty() || closes {
            self.waits = false;
        }
        if !self.is_closed() {
            self.links.feed(frames, closes);
        }
    }

    /// Runs on, up to the target, the end of a window or the last known frame from the previous
    /// node. Returns the frames for the next node before which no other can come any more.
    pub(crate) fn advance(
        &mut self,
        target: RunTarget,
        observer: &mut dyn Watcher,
        each: &mut dyn FnMut(Cycle) -> ControlFlow<()>,
    ) -> Vec<LinkFrame> {
        if self.mark == Some(self.simulation.now()) && self.marked.is_none() {
            self.marked = Some(self.counts());
        }
        let mark = self.mark.filter(|_| self.marked.is_none());
        // A node that the next one waits for runs beyond the target.
        let exactly = match target {
            RunTarget::Exactly(cycle) => Some(cycle).filter(|cycle| *cycle > self.handled),
            RunTarget::Pause(_) => None,
        };
        let stops = [self.until, mark, exactly];
        let until = stops.into_iter().flatten().min();
        let mut pause = match target {
            RunTarget::Pause(cycle) if cycle > self.handled => cycle,
            _ if exactly.is_some() => Cycle::MAX,
            _ => self.handled.saturating_add(WINDOW),
        };
        if self.links.leads_on() {
            pause = pause.min(self.handled.saturating_add(WINDOW));
        }
        self.simulation.run_until(until);
        let came = self
            .simulation
            .advance(pause, &mut self.links, observer, &mut |cycle, _| {
                each(cycle)
            });
        self.waits = false;
        let known = match came {
            Advance::Ended(Ending::Reached) if until != self.until => {
                self.handled = self.simulation.now();
                self.handled
            }
            Advance::Ended(ending) => {
                self.ending = Some(match ending {
                    Ending::Reached => self.simulation.timed_out(),
                    other => other,
                });
                self.handled = self.handled.max(self.simulation.now());
                if self.is_closed() {
                    Cycle::MAX
                } else {
                    self.handled
                }
            }
            Advance::To(cycle) => {
                self.handled = self.handled.max(cycle);
                self.waits = cycle < pause;
                self.handled
            }
        };
        if mark == Some(self.simulation.now()) && until == mark && self.marked.is_none() {
            self.marked = Some(self.counts());
        }
        let known = match known {
            Cycle::MAX => known,
            known => self.chip().units().msf.departures_known_until(known),
        };
        self.links.release(known)
    }

    /// Takes the remaining departed frames, which were held back since others that began to leave
    /// before them may still be on the line.
    pub(crate) fn take_remaining(&mut self) -> Vec<LinkFrame> {
        self.links.release(Cycle::MAX)
    }

    pub(crate) fn capture_to(&mut self, sink: TraceSink) {
        self.links.capture_to(sink);
    }

    /// Completes the capture of departures.
    pub(crate) fn complete(&mut self) -> io::Result<()> {
        self.links.complete(self.simulation.now())
    }

    pub(crate) fn save(&mut self) -> Result<NodeState, Problem> {
        let links = self.links.save().map_err(|error| {
            Problem::new(format!("the state of the links cannot be saved: {error}"))
        })?;
        let chip = { self.simulation.save() }.map_err(|error| Problem::new(error.to_string()))?;
        Ok(NodeState {
            handled: self.handled,
            undecided: self.simulation.is_undecided(),
            links,
            chip,
        })
    }

    pub(crate) fn restore(&mut self, state: &NodeState) -> Result<(), String> {
        self.simulation
            .restore(&state.chip)
            .map_err(|error| error.to_string())?;
        self.simulation.set_undecided(state.undecided);
        if !self.links.restore(state.links.clone()) {
            return Err(
                "more frames have arrived than there are, or they come from elsewhere".to_owned(),
            );
        }
        self.handled = state.handled;
        self.waits = false;
        self.ending = None;
        Ok(())
    }
}
