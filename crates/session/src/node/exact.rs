//! A node that a debugger brings to exact cycles and forks, fed by a stream of frames.

use std::ops::ControlFlow;

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::kernel::check::Check;
use npsim_chip::kernel::observer::NoObserver;
use npsim_chip::watch::Watcher;

use super::Node;
use crate::links::{Frames, Links, LinksState, Traffic};
use crate::simulation::{Ending, Simulation};

/// A copy of a node between two cycles. It shares unchanged memory with the original.
#[derive(Clone, Debug)]
pub struct NodeCopy {
    simulation: Simulation,
    lines: LinksState,
    /// The arrival of the last known frame.
    arrivals_end: Cycle,
    until: Option<Cycle>,
    ending: Option<Ending>,
    handled: Cycle,
}

impl NodeCopy {
    /// The cycle before which all events have been handled.
    #[must_use]
    pub fn handled(&self) -> Cycle {
        self.handled
    }

    /// The chip.
    #[must_use]
    pub fn chip(&self) -> &Chip {
        self.simulation.chip()
    }

    /// The number of the next incoming frame.
    #[must_use]
    pub fn next_frame(&self) -> u64 {
        self.lines.next_frame()
    }

    /// Sets the checks that do not stop the run, replacing any others.
    pub fn set_allowed(&mut self, allowed: &[Check]) {
        self.simulation.set_allowed(allowed);
    }

    /// A node that continues from this copy. `rest` are the frames from number [`Self::next_frame`]
    /// on, `hertz` is the frequency of the microengines.
    #[must_use]
    pub fn resume(self, rest: Frames, hertz: u64) -> Node {
        let links = Links::resumed(rest, 0, hertz, self.lines, self.arrivals_end);
        let mut node = Node::new(self.simulation, links, self.until, None);
        node.ending = self.ending;
        node.handled = self.handled;
        node
    }
}

impl Node {
    /// Prepares a run before its first cycle: the chip takes the first frame.
    pub fn begin(&mut self) {
        self.simulation.run_until(Some(0));
        let go_on = &mut |_, _: &Traffic| ControlFlow::Continue(());
        self.simulation
            .run_watched(&mut self.links, &mut NoObserver, go_on);
    }

    /// Runs until everything before cycle `to` has happened, or to the end. Returns whether the run
    /// can go on; if it has ended, [`Self::handled`] is the last cycle that can be requested.
    pub fn run_exactly(&mut self, to: Cycle, watcher: &mut dyn Watcher) -> bool {
        let to = to.min(self.until.unwrap_or(Cycle::MAX));
        if self.ending.is_some() || to <= self.handled {
            return self.ending.is_none();
        }
        self.simulation.run_until(Some(to));
        let go_on = &mut |_, _: &Traffic| ControlFlow::Continue(());
        let ending = self.simulation.run_watched(&mut self.links, watcher, go_on);
        match ending {
            Ending::Reached => {
                self.handled = to;
                self.ending = (Some(to) == self.until).then(|| self.simulation.timed_out());
            }
            Ending::Drained => {
                self.handled = self.simulation.now();
                self.ending = Some(ending);
            }
            _ => {
                let fault = match &ending {
                    Ending::Fault(fault) => fault.cycle,
                    _ => 0,
                };
                // The run ends with an event in this cycle.
                let last = self.simulation.now().max(fault).saturating_add(1);
                self.handled = last.min(to);
                self.ending = Some(ending);
            }
        }
        self.ending.is_none()
    }

    /// A copy from which other nodes can continue. The node must not be captured.
    #[must_use]
    pub fn fork(&self) -> NodeCopy {
        NodeCopy {
            simulation: self.simulation.clone(),
            lines: self.links.state(),
            arrivals_end: self.links.arrivals_end(),
            until: self.until,
            ending: self.ending.clone(),
            handled: self.handled,
        }
    }

    /// The state of the lines. The node must not be captured.
    #[must_use]
    pub fn lines(&self) -> LinksState {
        self.links.state()
    }

    /// Changes the chip at the current cycle. A run that had ended can go on.
    pub fn change(&mut self, change: impl FnOnce(&mut Chip)) {
        change(self.simulation.chip_mut());
        self.ending = None;
    }
}
