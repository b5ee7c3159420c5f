//! A node that a network feeds while it runs.
//!
//! The network gives the cycle up to which all frames that begin to arrive are known. The chip runs
//! that far or less: when a frame begins to leave, it stops before anything that answers it could
//! arrive. So it may be allowed a long stretch at once, in which the engine skips recurring states.
//! Neither the length of that stretch nor how early a frame was known changes anything in the chip.

use std::io;
use std::ops::ControlFlow;

use npsim_chip::Cycle;
use npsim_chip::gpp::routes::{ChangeError, RouteChange};
use npsim_chip::kernel::observer::Observer;
use npsim_net::egress::TraceSink;
use serde::{Deserialize, Serialize};

use super::Node;
use crate::links::{LinkFrame, Links, LinksState, LostFrame, NetworkPort, Tap};
use crate::simulation::{RunSettings, Simulation};
use npsim_project::Project;
use npsim_project::assemble::Program;
use npsim_project::problem::Problem;

/// The state of a node in a network, from which another node of the same project can continue.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct NetworkedState {
    chip: Vec<u8>,
    links: LinksState,
    /// The cycle that the node has reached according to its lines.
    come: Cycle,
    now: Cycle,
}

impl Node {
    /// A chip at cycle 0 in a network. `answer` is, per port, the minimum time from the first bit
    /// of an outgoing frame to the first bit of a frame that may answer it; the end conditions in
    /// `settings` are ignored, since the network decides when the run ends.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`Simulation::new`].
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

    /// The cycle before which no frame begins to leave unless one arrives.
    #[must_use]
    pub fn silent_until(&self) -> Cycle {
        if self.ending.is_some() {
            return Cycle::MAX;
        }
        let next = self.chip().next_event();
        self.handled.max(self.silent).max(next)
    }

    /// First bit of the next frame that was fed and not yet reached; `Cycle::MAX` if there is none.
    #[must_use]
    pub fn next_start(&self) -> Cycle {
        let port = self.links.network();
        port.map_or(Cycle::MAX, NetworkPort::next_start)
    }

    /// Feeds a frame that begins to arrive at [`Self::handled`] or later. The number in its origin
    /// is reported with its departure or loss.
    pub fn put(&mut self, frame: LinkFrame) {
        debug_assert!(frame.start >= self.handled, "a frame comes in the past");
        if let Some(port) = self.links.network_mut() {
            port.put(frame);
        }
    }

    /// Appends a change to the chip's routes, at [`Self::handled`] or later.
    ///
    /// # Errors
    /// Returns an error if the change lies earlier, the project is not prepared for such changes,
    /// or the change conflicts with others; nothing has changed then.
    pub fn append_route_change(&mut self, change: RouteChange) -> Result<(), ChangeError> {
        let (at, now) = (change.at, self.handled);
        if at < now {
            return Err(ChangeError::TooLate { at, now });
        }
        self.simulation.chip_mut().append_route_change(change)?;
        self.silent = self.silent.min(at);
        Ok(())
    }

    /// Notes that all nodes know what this one has sent, so that it need not wait for any answer.
    pub fn clear_answer_deadline(&mut self) {
        if let Some(port) = self.links.network_mut() {
            port.clear_answer_deadline();
        }
    }

    /// Runs up to a cycle before which all frames that begin to arrive have been fed, or less far.
    /// `progress` is called now and then and decides whether to go on.
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

    /// The frames that have begun to leave since the last call, in the order of their first bit,
    /// with the numbers that they were fed with if they can be traced.
    pub fn take_departures(&mut self) -> Vec<LinkFrame> {
        self.links.release(Cycle::MAX)
    }

    /// The frames that were lost at the media interface since the last call.
    pub fn take_lost(&mut self) -> Vec<LostFrame> {
        let port = self.links.network_mut();
        port.map_or_else(Vec::new, NetworkPort::take_lost)
    }

    /// Captures departures from now on; `origin_ns`, in ns since 1970, is added to their times.
    pub fn capture(&mut self, sink: TraceSink, origin_ns: u64) {
        self.links.begin_at(origin_ns);
        self.links.capture_to(sink);
    }

    /// Passes every frame to `tap` from now on, or to none.
    pub fn set_tap(&mut self, tap: Option<Box<dyn Tap + Send>>) {
        self.links.set_tap(tap);
    }

    /// Completes the capture of departures.
    ///
    /// # Errors
    /// Returns an error if the capture could not be written, now or earlier.
    pub fn finish_capture(&mut self) -> io::Result<()> {
        self.complete()
    }

    /// Ends the run, for whatever reason; it accepts no more frames.
    pub fn end(&mut self) {
        if self.ending.is_none() {
            self.ending = Some(self.simulation.timed_out());
        }
    }

    /// Saves the state between two runs, after departures and losses have been taken.
    ///
    /// # Errors
    /// Returns an error if encoding fails, which no state causes.
    pub fn save_networked(&mut self) -> Result<NetworkedState, Problem> {
        let chip = { self.simulation.save() }.map_err(|error| Problem::new(error.to_string()))?;
        let links = { self.links.save() }.map_err(|error| Problem::new(error.to_string()))?;
        Ok(NetworkedState {
            chip,
            links,
            come: self.links.network().map_or(0, NetworkPort::reached),
            now: self.handled,
        })
    }

    /// Continues from the state of a node of the same project and settings.
    ///
    /// # Errors
    /// Returns a message if the state does not belong to such a node.
    pub fn restore_networked(&mut self, state: NetworkedState) -> Result<(), String> {
        let restored = self.simulation.restore(&state.chip);
        restored.map_err(|error| error.to_string())?;
        if let Some(port) = self.links.network_mut() {
            port.set_reached(state.come);
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
