//! A node that a network feeds while it runs.
//!
//! The network says how far all frames are known that begin to come, and the chip runs so
//! far, or less: when a frame begins to leave, it stops before anything could come that
//! answers it. So it may be allowed a long way at once, in which the engine skips what recurs.
//! Neither how far that is nor how far ahead a frame was known changes anything in the chip.

use std::io;
use std::ops::ControlFlow;

use npsim_chip::Cycle;
use npsim_chip::gpp::routes::{ChangeError, RouteChange};
use npsim_chip::kernel::observer::Observer;
use npsim_net::egress::TraceSink;
use serde::{Deserialize, Serialize};

use super::Node;
use crate::links::{Crossing, Links, LinksState, LostFrame, NetworkPort, Tap};
use crate::simulation::{RunSettings, Simulation};
use npsim_project::Project;
use npsim_project::assemble::Program;
use npsim_project::problem::Problem;

/// The state of a node in a network, from which another one of the same project goes on.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkedState {
    chip: Vec<u8>,
    links: LinksState,
    /// The cycle that its lines know it to have come to.
    come: Cycle,
    now: Cycle,
}

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
            open: true,
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
        let port = self.links.network();
        port.map_or(Cycle::MAX, NetworkPort::next_start)
    }

    /// A frame that begins to come at [`Self::handled`] or later. Its origin's number is given
    /// back with what becomes of it.
    pub fn put(&mut self, frame: Crossing) {
        debug_assert!(frame.start >= self.handled, "a frame comes in the past");
        if let Some(port) = self.links.network_mut() {
            port.put(frame);
        }
    }

    /// Gives the chip one more change of its routes, at [`Self::handled`] or later.
    ///
    /// # Errors
    /// It is earlier, the project is not ready for such changes, or the change cannot be made among
    /// the others; nothing has changed then.
    pub fn append_route_change(&mut self, change: RouteChange) -> Result<(), ChangeError> {
        let (at, now) = (change.at, self.handled);
        if at < now {
            return Err(ChangeError::Over { at, now });
        }
        self.simulation.chip_mut().append_route_change(change)?;
        self.silent = self.silent.min(at);
        Ok(())
    }

    /// All nodes know what this one has sent: no answer is outstanding that it has to wait for.
    pub fn set_free(&mut self) {
        if let Some(port) = self.links.network_mut() {
            port.set_free();
        }
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
        let port = self.links.network_mut();
        port.map_or_else(Vec::new, NetworkPort::take_lost)
    }

    /// Captures what leaves from now on; `origin_ns` is added to the times, ns since 1970.
    pub fn capture(&mut self, sink: TraceSink, origin_ns: u64) {
        self.links.begin_at(origin_ns);
        self.links.capture_to(sink);
    }

    /// Lets `tap` see every frame from now on; nothing sees them without one.
    pub fn set_tap(&mut self, tap: Option<Box<dyn Tap + Send>>) {
        self.links.set_tap(tap);
    }

    /// Completes the capture of what has left.
    ///
    /// # Errors
    /// It could not be written, now or earlier.
    pub fn finish_capture(&mut self) -> io::Result<()> {
        self.complete()
    }

    /// The run is over, for whatever reason; it takes no more frames.
    pub fn end(&mut self) {
        if self.ending.is_none() {
            self.ending = Some(self.simulation.timed_out());
        }
    }

    /// The state between two runs, after what left and what was lost has been taken.
    ///
    /// # Errors
    /// The encoder refuses it, which it does with no state.
    pub fn save_networked(&mut self) -> Result<NetworkedState, Problem> {
        let chip = { self.simulation.save() }.map_err(|error| Problem::new(error.to_string()))?;
        let links = { self.links.save() }.map_err(|error| Problem::new(error.to_string()))?;
        Ok(NetworkedState {
            chip,
            links,
            come: self.links.network().map_or(0, NetworkPort::come),
            now: self.handled,
        })
    }

    /// Goes on from the state of a node of the same project and settings.
    ///
    /// # Errors
    /// It is no state of such a node, in words.
    pub fn restore_networked(&mut self, state: NetworkedState) -> Result<(), String> {
        let restored = self.simulation.restore(&state.chip);
        restored.map_err(|error| error.to_string())?;
        if let Some(port) = self.links.network_mut() {
            port.come_to(state.come);
        }
        if !self.links.restore(state.links) {
            return Err("its lines are not those of a chip in a network".to_owned());
        }
        self.handled = state.now;
        self.silent = 0;
        self.ending = None;
        Ok(())
    }
}
