//! One chip and its microcode as a live system.

use std::ops::ControlFlow;
use std::path::Path;

use npsim_chip::Cycle;
use npsim_chip::kernel::observer::NoObserver;
use npsim_chip::watch::{Sampler as _, Watchers};
use npsim_net::egress::TraceSink;
use npsim_net::pace::{line_end_ps, line_free_ps};
use npsim_net::recording::{cycle, picoseconds};
use npsim_project::Project;
use npsim_project::assemble::Program;
use npsim_project::problem::Problem;
use npsim_session::links::LinkFrame;
use npsim_session::node::Node;
use npsim_session::simulation::{Ending, RunSettings};
use npsim_transport::time::Time;

use crate::chip_counts::{counted, pretty_json};
use crate::chip_observations::Observations;
use crate::chip_watch::ChipWatch;
use crate::system::{
    DepartingFrame, EnteredFrame, Halted, LiveSystem, ObservationKind, PortCounts, Progress,
};

/// A chip between interfaces.
pub struct OneChip {
    node: Node,
    project: Project,
    hertz: u64,
    /// The line rates of the ports, in bits per second.
    lines: Vec<u64>,
    observations: Observations,
    watch: Option<ChipWatch>,
}

impl OneChip {
    /// A chip at cycle 0. The end of the run in `settings` is ignored.
    ///
    /// # Errors
    /// As for [`npsim_session::simulation::Simulation::new`].
    pub fn new(
        project: &Project,
        programs: &[Program],
        settings: RunSettings,
    ) -> Result<Self, Problem> {
        let ports = &project.boot.ports;
        // Answers of hosts arrive when they are read, which is never before the chip's time.
        let answer = vec![Cycle::MAX; ports.len()];
        Ok(Self {
            node: Node::networked(project, programs, settings, answer)?,
            project: project.clone(),
            hertz: project.capacity.hertz,
            lines: ports.iter().map(|port| port.bits_per_second).collect(),
            observations: Observations::default(),
            watch: None,
        })
    }

    /// Captures departures from now on; `origin_ns` is added to the times, in nanoseconds since 1970.
    pub fn capture(&mut self, sink: TraceSink, origin_ns: u64) {
        self.node.capture(sink, origin_ns);
    }

    /// The chip and its lines.
    #[must_use]
    pub fn node(&self) -> &Node {
        &self.node
    }

    /// Begins to watch the chip, and returns what was observed since the last call.
    pub fn watch(&mut self) -> Option<ChipWatch> {
        let chip = self.node.chip();
        let mut seen = self.watch.replace(ChipWatch::begin(&self.project, chip));
        if let Some(seen) = &mut seen {
            seen.series.end(chip);
        }
        seen
    }

    /// Ends the run. Returns the chip and its lines, and whether the observation files in progress could
    /// be completed.
    pub fn finish(mut self) -> (Node, Result<(), Problem>) {
        let written = self.observations.end_all(&mut self.node);
        self.node.end();
        (self.node, written)
    }

    /// Runs to a cycle with all observers. The chip is sampled only where it stops anyway, since searching
    /// for recurring states again after each sample would dominate the cost of an idle chip.
    fn run_watched(&mut self, until: Cycle, progress: &mut dyn FnMut(Cycle) -> ControlFlow<()>) {
        let mut all = Watchers::new();
        for observation in &mut self.observations.0 {
            all.add(&mut observation.observers);
        }
        if let Some(watch) = &mut self.watch {
            all.add(watch);
        }
        self.node.run_open(until, &mut all, progress);
        all.sample(self.node.chip());
    }

    /// The first cycle at or after a time.
    fn cycle(&self, time: Time) -> Cycle {
        cycle(time, self.hertz)
    }

    /// The time of a cycle, rounded down, such that [`Self::cycle`] maps it back.
    fn time(&self, cycle: Cycle) -> Time {
        Time::try_from(picoseconds(cycle, self.hertz)).unwrap_or(Time::MAX)
    }
}

impl LiveSystem for OneChip {
    fn ports(&self) -> Vec<String> {
        (0..self.lines.len()).map(|port| port.to_string()).collect()
    }

    fn now(&self) -> Time {
        self.time(self.node.handled())
    }

    fn silent_until(&self) -> Time {
        // With observers, time cannot be skipped: postponed time would have to be simulated at once when a
        // frame arrives.
        if !self.observations.0.is_empty() {
            return self.now();
        }
        self.time(self.node.silent_until().min(self.node.next_start()))
    }

    fn enter(&mut self, port: usize, at: Time, bytes: &[u8]) -> EnteredFrame {
        let start = self.cycle(at).max(self.node.handled());
        let begins = self.time(start);
        let (length, rate) = (bytes.len(), self.lines[port]);
        let line_free = line_free_ps(begins.into(), length, rate);
        let end = line_end_ps(begins.into(), length, rate);
        let entered = EnteredFrame {
            begins,
            line_free: Time::try_from(line_free).unwrap_or(Time::MAX),
        };
        self.node.put(LinkFrame {
            start,
            end: self.cycle(Time::try_from(end).unwrap_or(Time::MAX)),
            port: port as u8,
            bytes: bytes.to_vec(),
            origin: None,
        });
        entered
    }

    fn run_to(&mut self, until: Time, progress: &Progress<'_>) -> Result<(), Halted> {
        let until = self.cycle(until);
        if until > self.node.handled() {
            let progress = &mut |_| progress();
            if self.watch.is_none() && self.observations.0.is_empty() {
                self.node.run_open(until, &mut NoObserver, progress);
            } else {
                self.run_watched(until, progress);
            }
        }
        match self.node.ending() {
            None => Ok(()),
            Some(Ending::Interrupted) => Err(Halted::Interrupted),
            Some(_) => Err(Halted::Fault),
        }
    }

    fn take_departing(&mut self) -> Vec<DepartingFrame> {
        let left = self.node.take_departures().into_iter();
        let left = left.map(|frame| DepartingFrame {
            due: self.time(frame.end),
            port: usize::from(frame.port),
            bytes: frame.bytes,
        });
        left.collect()
    }

    fn counts(&self) -> Vec<PortCounts> {
        let traffic = self.node.traffic();
        (0..self.lines.len())
            .map(|port| {
                let counted = traffic.ports.get(port).copied().unwrap_or_default();
                PortCounts {
                    came: counted.offered_frames,
                    came_bytes: counted.offered_bytes,
                    left: counted.sent_frames,
                    left_bytes: counted.sent_bytes,
                    dropped: counted.dropped_frames,
                }
            })
            .collect()
    }

    fn inside(&self, name: &str) -> Result<Vec<String>, Problem> {
        if name.is_empty() {
            return Ok(self.node.state_report());
        }
        let message = format!("`{name}` is not a router: this run is of one chip");
        Err(Problem::new(message).help("leave it out"))
    }

    fn change(&mut self, command: &str) -> Result<(String, Time), Problem> {
        if !Project::is_route_command(command) {
            return Err(Problem::new(format!("there is no request `{command}`"))
                .help("`npsim live --ask SOCKET help` lists the requests"));
        }
        let at = self.node.handled();
        let change = self.project.route_change(command, at)?;
        let appended = self.node.append_route_change(change);
        appended.map_err(|error| Problem::new(error.to_string()))?;
        Ok((command.to_owned(), self.time(at)))
    }

    fn counters(&mut self, name: &str) -> Result<String, Problem> {
        pretty_json(&counted(&self.node.stats(), name)?)
    }

    fn checkpoint_command(&self, file: &Path) -> Option<String> {
        Some(format!(
            "npsim run TARGET --trace RECORDING --pace recorded --until {}ps --checkpoint {}",
            self.now(),
            file.display()
        ))
    }

    fn observe(&mut self, kind: ObservationKind, file: &Path) -> Result<String, Problem> {
        let Self { node, project, .. } = self;
        self.observations.start(kind, file, node, project)
    }

    fn end_observation(&mut self, kind: ObservationKind) -> Result<String, Problem> {
        self.observations.end(kind, &mut self.node)
    }
}
