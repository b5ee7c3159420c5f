//! A node that a network feeds while it runs.
//!
//! The network says how far all frames are known that begin to come, and the chip runs so
//! far, or less: when a frame begins to leave, it stops before anything could come that
//! answers it. So it may be allowed a long way at once, in which the engine skips what recurs.
//! Neither how far that is nor how far ahead a frame was known changes anything in the chip.

use std::ops::ControlFlow;

use npsim_chip::Cycle;
use npsim_chip::kernel::observer::Observer;

use super::Node;
use crate::links::{Crossing, Links, LostFrame};
use crate::simulation::{RunSettings, Simulation};
use npsim_project::Project;
use npsim_project::assemble::Program;
use npsim_project::problem::Problem;

impl Node {
    /// A chip at cycle 0 in a network. `answer` has by port the shortest time from a frame's
    /// first bit out of it to the first bit of what may answer it; `settings` say nothing of
    /// when the run ends, which the network decides.
    ///
    /// # Errors
    /// As in [`Simulation::new`].
    pub fn networked(
        project: &Project,
        programs: &[Program],
        settings: RunSettings,
        answer: Vec<Cycle>,
    ) -> Result<Self, Problem> {
        let settings = RunSettings {
            until: None,
            drain: None,
            ..settings
        };
        let simulation = Simulation::new(project, programs, settings)?;
        let links = Links::networked(project.capacity.hertz, answer);
        Ok(Self::new(simulation, links, None, None))
    }

    /// Before which cycle no frame begins to leave unless one comes.
    #[must_use]
    pub fn silent_until(&self) -> Cycle {
        if self.ending.is_some() {
            return Cycle::MAX;
        }
        let next = self.chip().next_event();
        self.handled.max(self.silent).max(next)
    }

    /// First bit of the next frame that it was fed and has not come to; `Cycle::MAX` if there
    /// is none.
    #[must_use]
    pub fn next_start(&self) -> Cycle {
        self.links.next_start()
    }

    /// A frame that begins to come at [`Self::handled`] or later. Its origin's number is given
    /// back with what becomes of it.
    pub fn put(&mut self, frame: Crossing) {
        debug_assert!(frame.start >= self.handled, "a frame comes in the past");
        self.links.put(frame);
    }

    /// All nodes know what this one has sent: no answer is outstanding that it has to wait for.
    pub fn set_free(&mut self) {
        self.links.set_free();
    }

    /// Runs to a cycle before which all frames begin to come that it was fed, or less far.
    /// `progress` is asked now and then whether to go on.
    pub fn run_open(
        &mut self,
        until: Cycle,
        observer: &mut dyn Observer,
        progress: &mut dyn FnMut(Cycle) -> ControlFlow<()>,
    ) {
        self.take_up();
        if self.ending.is_some() || until <= self.handled {
            self.handled = self.handled.max(until);
            return;
        }
        let (links, silent) = (&mut self.links, &mut self.silent);
        match { &mut self.simulation }.run_open(until, links, silent, observer, progress) {
            Ok(come) => self.handled = come,
            Err(ending) => {
                self.handled = self.handled.max(self.simulation.now());
                self.ending = Some(ending);
            }
        }
    }

    /// The frames that have begun to leave since the last call, in the order of their first
    /// bit, with the numbers that they were fed with as far as they can be traced.
    pub fn take_departures(&mut self) -> Vec<Crossing> {
        self.links.release(Cycle::MAX)
    }

    /// The frames that were lost at the media interface since the last call.
    pub fn take_lost(&mut self) -> Vec<LostFrame> {
        self.links.take_lost()
    }

    /// The run is over, for whatever reason; it takes no more frames.
    pub fn end(&mut self) {
        if self.ending.is_none() {
            self.ending = Some(self.simulation.timed_out());
        }
    }
}
