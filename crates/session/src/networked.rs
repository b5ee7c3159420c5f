//! A chip in a network of other things: frames are fed to it while it runs, and what leaves it
//! is taken from it.
//!
//! Whoever feeds it says how far all frames are known that begin to come, and the chip runs so
//! far, or less: when a frame begins to leave, it stops before anything could come that answers
//! it. So it may be allowed a long way at once, in which the engine skips what recurs. Neither
//! how far that is nor how far ahead a frame was known changes anything in the chip.

use std::fmt;
use std::ops::ControlFlow;

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::kernel::observer::{NoObserver, Observer};
use serde::{Deserialize, Serialize};

use crate::links::{Crossing, Links, LinksState, Lost, Traffic};
use crate::report::NodeReport;
use crate::simulation::{Ending, Settings, Simulation};
use npsim_project::Project;
use npsim_project::assemble::Program;
use npsim_project::problem::Problem;

/// A chip between lines that a network feeds.
pub struct NetworkedChip {
    simulation: Simulation,
    links: Links,
    seed: Option<u64>,
    ending: Option<Ending>,
    /// Nothing is left to happen before this cycle.
    now: Cycle,
    /// Before which cycle nothing leaves unless a frame comes, as far as skipping has shown it.
    /// Not saved: how much was skipped depends on how the run was cut.
    silent: Cycle,
    /// The cycle that it was restored at.
    restored: Cycle,
    observer: Box<dyn Observer + Send>,
}

impl fmt::Debug for NetworkedChip {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("NetworkedChip")
            .field("simulation", &self.simulation)
            .field("links", &self.links)
            .field("ending", &self.ending)
            .field("now", &self.now)
            .finish_non_exhaustive()
    }
}

/// The state of a chip in a network, from which another one of the same project goes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkedState {
    chip: Vec<u8>,
    links: LinksState,
    /// The cycle that its lines know it to have come to.
    come: Cycle,
    now: Cycle,
}

impl NetworkedChip {
    /// A chip that is loaded and ready. `answer` has by port the shortest time from a frame's
    /// first bit out of it to the first bit of what may answer it; `settings` say nothing of when
    /// the run ends, which the network decides.
    ///
    /// # Errors
    /// As in [`Simulation::new`].
    pub fn new(
        project: &Project,
        programs: &[Program],
        settings: Settings,
        answer: Vec<Cycle>,
    ) -> Result<Self, Problem> {
        let seed = settings.seed;
        let settings = Settings {
            until: None,
            drain: None,
            ..settings
        };
        Ok(Self {
            simulation: Simulation::new(project, programs, settings)?,
            links: Links::open(project.capacity.hertz, answer),
            seed,
            ending: None,
            now: 0,
            silent: 0,
            restored: 0,
            observer: Box::new(NoObserver),
        })
    }

    /// Lets an observer see all that happens from now on. The run is the same with any.
    pub fn observe(&mut self, observer: Box<dyn Observer + Send>) {
        self.observer = observer;
    }

    /// Before which cycle nothing is left to happen.
    #[must_use]
    pub fn now(&self) -> Cycle {
        self.now
    }

    /// Before which cycle no frame begins to leave unless one comes.
    #[must_use]
    pub fn silent_until(&self) -> Cycle {
        if self.ending.is_some() {
            return Cycle::MAX;
        }
        let next = self.simulation.chip().next_event();
        self.now.max(self.silent).max(next)
    }

    /// First bit of the next frame that it was fed and has not come to; `Cycle::MAX` if there is
    /// none.
    #[must_use]
    pub fn next_start(&self) -> Cycle {
        self.links.next_start()
    }

    /// A frame that begins to come at [`Self::now`] or later. Its origin's number is given back
    /// with what becomes of it.
    pub fn feed(&mut self, frame: Crossing) {
        debug_assert!(frame.start >= self.now, "a frame comes in the past");
        self.links.put(frame);
    }

    /// Runs to a cycle before which all frames begin to come that it was fed, or less far.
    /// `progress` is asked now and then whether to go on. What has left before is known to all
    /// whom it concerns.
    pub fn run_to(&mut self, until: Cycle, progress: &mut dyn FnMut(Cycle) -> ControlFlow<()>) {
        self.links.set_free();
        self.go_on_to(until, progress);
    }

    /// The same to a later cycle, without anyone having been told yet of what has left since
    /// [`Self::run_to`].
    pub fn go_on_to(&mut self, until: Cycle, progress: &mut dyn FnMut(Cycle) -> ControlFlow<()>) {
        if self.ending == Some(Ending::Interrupted) {
            self.ending = None;
        }
        if self.ending.is_some() || until <= self.now {
            self.now = self.now.max(until);
            return;
        }
        let (links, observer) = (&mut self.links, &mut *self.observer);
        let silent = &mut self.silent;
        match { &mut self.simulation }.run_open(until, links, silent, observer, progress) {
            Ok(now) => self.now = now,
            Err(ending) => {
                self.now = self.now.max(self.simulation.now());
                self.ending = Some(ending);
            }
        }
    }

    /// The frames that have begun to leave since this was asked last, in the order of their first
    /// bit, with the numbers that they were fed with as far as they can be traced.
    pub fn take_departures(&mut self) -> Vec<Crossing> {
        self.links.release(Cycle::MAX)
    }

    /// The frames that were lost at the media interface since this was asked last.
    pub fn take_lost(&mut self) -> Vec<Lost> {
        self.links.take_lost()
    }

    /// Why it stopped: a fault, or the caller broke it off.
    #[must_use]
    pub fn ending(&self) -> Option<&Ending> {
        self.ending.as_ref()
    }

    /// The run is over, for whatever reason; it takes no more frames.
    pub fn end(&mut self) {
        if self.ending.is_none() {
            self.ending = Some(self.simulation.timed_out());
        }
    }

    /// What came and went on its lines.
    #[must_use]
    pub fn traffic(&self) -> &Traffic {
        &self.links.traffic
    }

    /// The chip, with its memories and registers.
    #[must_use]
    pub fn chip(&self) -> &Chip {
        self.simulation.chip()
    }

    /// What each context does, one line each.
    #[must_use]
    pub fn state_report(&self) -> Vec<String> {
        self.simulation.state_report()
    }

    /// Cycles that were skipped, and all, since it was made or restored.
    #[must_use]
    pub fn skipped(&self) -> (Cycle, Cycle) {
        let all = self.now - self.restored;
        (self.simulation.chip().skipped(), all)
    }

    /// Its state between two calls of [`Self::run_to`], after what left and what was lost has been
    /// taken.
    ///
    /// # Errors
    /// The encoder refuses it, which it does with no state.
    pub fn save(&mut self) -> Result<NetworkedState, Problem> {
        let chip = { self.simulation.save() }.map_err(|error| Problem::new(error.to_string()))?;
        let links = { self.links.save() }.map_err(|error| Problem::new(error.to_string()))?;
        Ok(NetworkedState {
            chip,
            links,
            come: self.links.come(),
            now: self.now,
        })
    }

    /// Goes on from the state of a chip of the same project and settings.
    ///
    /// # Errors
    /// It is no state of such a chip, in words.
    pub fn restore(&mut self, state: NetworkedState) -> Result<(), String> {
        let restored = self.simulation.restore(&state.chip);
        restored.map_err(|error| error.to_string())?;
        self.links.come_to(state.come);
        if !self.links.restore(state.links) {
            return Err("its lines are not those of a chip in a network".to_owned());
        }
        self.now = state.now;
        self.silent = 0;
        self.restored = state.now;
        self.ending = None;
        Ok(())
    }

    /// What it has counted so far, as the stats file has it.
    #[must_use]
    pub fn report(&self, project: &Project, programs: &[Program]) -> NodeReport {
        let stats = self.simulation.stats();
        let ending = self.ending.as_ref();
        let traffic = self.traffic();
        let mut report = NodeReport::of(ending, project, programs, traffic, stats, self.chip());
        report.seed = self.seed;
        report.disturbances.clone_from(&project.boot.disturbances);
        report
    }
}
