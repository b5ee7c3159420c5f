//! A system of microcode and its runs: the starting point for a program that embeds npsim.
//!
//! ```no_run
//! use npsim::system::{System, Traffic};
//!
//! let system = System::load("microcode/forward")?;
//! let mut run = system.start_observed(Traffic::load("0.33")?.lasting("50us")?)?;
//! run.finish()?;
//! println!("{} frames left", run.packets().len());
//! println!("{} instructions", run.report().nodes[0].chip.microengines[0].instructions);
//! println!("{}", run.bottleneck().ok_or("nothing was observed")?.headline);
//! # Ok::<(), Box<dyn std::error::Error>>(())
//! ```
//!
//! Every mistake, in a project, a source, a capture or a value, is a [`Problem`] with its location
//! and a suggested fix; nothing is printed. A [`SystemRun`] can also stop at a cycle
//! ([`SystemRun::run_to`], [`SystemRun::step`]), give access to its [chip](SystemRun::chip), and take
//! an observer of the embedder's own ([`SystemRun::observe`]). Everything else that a run offers,
//! such as chains of chips, saved state and captures of departures, is in its
//! [session](crate::session).

use std::mem;
use std::ops::ControlFlow;
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::core::CoreKind;
use npsim_chip::kernel::port_io::Departure;
use npsim_chip::watch::Watcher;
use npsim_engine::ENGINE;
use npsim_observe::set::{Observations, ObserverConfig, ObserverSet};
use npsim_project::assemble::{Messages, Program, assemble_project_from};
use npsim_project::files::{Disk, Files};
use npsim_project::problem::{Problem, Problems};
use npsim_project::registry::Registry;
use npsim_project::{Overrides, Project};
use npsim_report::bottleneck::Analysis;
use npsim_session::links::Tap;
use npsim_session::report::Report;
use npsim_session::session::{Endpoints, Plan, Session};
use npsim_session::simulation::{Ending, RunSettings};

use crate::observed_run::ObservedRun;
use crate::recorded::Recording;
use crate::traffic::TrafficSource;

pub use crate::traffic::Traffic;

/// Microseconds for which the media interface must be idle after the last frame.
const DRAIN_US: u64 = 100;

/// A project and its assembled programs, from which any number of runs can be started.
#[derive(Clone, Debug)]
pub struct System {
    project: Arc<Project>,
    programs: Arc<[Program]>,
    messages: Arc<Messages>,
}

impl System {
    /// Reads and assembles a project, given as a project file, its folder, or a single source.
    ///
    /// # Errors
    /// Returns all mistakes in the project file, or those in its sources.
    pub fn load(target: impl AsRef<Path>) -> Result<Self, Problems> {
        Self::load_custom(target, &npsim_protocols::registry())
    }

    /// Like [`Self::load`], with the kinds of tasks and devices in the registry.
    ///
    /// # Errors
    /// As for [`Self::load`].
    pub fn load_custom(target: impl AsRef<Path>, registry: &Registry) -> Result<Self, Problems> {
        Self::load_with(&Disk, target, &Overrides::default(), registry)
    }

    /// Like [`Self::load`], from any source of files, with values that override those of the project
    /// file, and with the kinds of tasks and devices in the registry.
    ///
    /// # Errors
    /// As for [`Self::load`].
    pub fn load_with(
        files: &dyn Files,
        target: impl AsRef<Path>,
        overrides: &Overrides,
        registry: &Registry,
    ) -> Result<Self, Problems> {
        let project = Project::load_from(files, target.as_ref(), overrides, registry)?;
        Self::assembled(files, project)
    }

    /// Like [`Self::load_with`], for runs that repeat a recording. The remarks name the commands of
    /// the recording that have no effect.
    ///
    /// # Errors
    /// As for [`Self::load`]; also returns an error if the project is not the one recorded.
    pub fn load_recorded(
        files: &dyn Files,
        target: impl AsRef<Path>,
        overrides: &Overrides,
        registry: &Registry,
        recording: &Recording,
    ) -> Result<(Self, Vec<String>), Problems> {
        let mut overrides = overrides.clone();
        recording.reserve(&mut overrides);
        let mut project = Project::load_from(files, target.as_ref(), &overrides, registry)?;
        let remarks = recording.prepare(&mut project)?;
        Ok((Self::assembled(files, project)?, remarks))
    }

    fn assembled(files: &dyn Files, project: Project) -> Result<Self, Problems> {
        let (programs, messages) = assemble_project_from(files, &project, &[]);
        let programs = programs.ok_or_else(|| {
            let shown = messages.rendered.iter();
            Problems(shown.map(Problem::new).collect())
        })?;
        Ok(Self {
            project: Arc::new(project),
            programs: programs.into(),
            messages: Arc::new(messages),
        })
    }

    /// The assembler's messages: warnings and notes.
    #[must_use]
    pub fn messages(&self) -> &Messages {
        &self.messages
    }

    /// The plan of a run with these settings on a chain of `nodes` chips, `threads` of which run at a
    /// time.
    #[must_use]
    pub fn plan(&self, settings: RunSettings, nodes: usize, threads: usize) -> Plan {
        Plan {
            nodes,
            threads,
            ..Plan::one(
                Arc::clone(&self.project),
                Arc::clone(&self.programs),
                settings,
            )
        }
    }

    /// The project.
    #[must_use]
    pub fn project(&self) -> &Project {
        &self.project
    }

    /// The program of each microengine.
    #[must_use]
    pub fn programs(&self) -> &[Program] {
        &self.programs
    }

    /// The value of a name that the project defines for its microcode, such as the byte address of a
    /// region.
    #[must_use]
    pub fn define(&self, name: &str) -> Option<u32> {
        let mut defines = self.project.programs.iter().flat_map(|it| &it.defines);
        let (_, text) = defines.find(|(known, _)| known == name)?;
        match text.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16).ok(),
            None => text.parse().ok(),
        }
    }

    /// Starts a run at cycle 0, on the fast core, with every check, until the traffic is handled.
    ///
    /// # Errors
    /// Returns an error if the traffic does not fit the ports, or the programs do not fit the chip.
    pub fn start(&self, traffic: Traffic) -> Result<SystemRun, Problem> {
        self.start_on(traffic, ENGINE)
    }

    /// Like [`Self::start`], on another kind of core.
    ///
    /// # Errors
    /// As for [`Self::start`].
    pub fn start_on(&self, traffic: Traffic, core: CoreKind) -> Result<SystemRun, Problem> {
        let hertz = self.project.capacity.hertz;
        let settings = RunSettings {
            drain: (!matches!(traffic, Traffic::None)).then(|| hertz / 1_000_000 * DRAIN_US),
            ..RunSettings::new(core)
        };
        self.start_with(traffic, settings)
    }

    /// Like [`Self::start`], but also collects what [`SystemRun::bottleneck`] needs, which takes
    /// about twice as long.
    ///
    /// # Errors
    /// As for [`Self::start`].
    pub fn start_observed(&self, traffic: Traffic) -> Result<SystemRun, Problem> {
        let mut run = self.start(traffic)?;
        let config = ObserverConfig::default().and_report();
        run.observers = vec![config.open(&self.project, run.chip())?];
        Ok(run)
    }

    /// Like [`Self::start`], on any core, with the caller's limits and checks.
    ///
    /// # Errors
    /// As for [`Self::start`].
    pub fn start_with(
        &self,
        traffic: Traffic,
        settings: RunSettings,
    ) -> Result<SystemRun, Problem> {
        let sent = SentFrames::default();
        let endpoints = Endpoints {
            exit: Some(Box::new(sent.clone())),
            ..TrafficSource::open(traffic, &self.project)?.ends()?
        };
        Ok(SystemRun {
            session: Session::new(&self.plan(settings, 1, 1), endpoints)?,
            sent,
            observers: vec![ObserverSet::default()],
            seen: Observations::default(),
        })
    }
}

/// A frame that has left the chip.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SentPacket {
    /// The time of the first preamble bit, in microengine cycles.
    pub start: Cycle,
    /// The time of the last bit of the frame check sequence.
    pub end: Cycle,
    /// Port, from 0.
    pub port: u8,
    /// The frame without its frame check sequence.
    pub bytes: Vec<u8>,
    /// The number of the arrival that the frame was made from, if its data can be traced to one.
    pub frame: Option<u64>,
}

/// The frames that have left, shared with the lines.
#[derive(Clone, Debug, Default)]
struct SentFrames(Arc<Mutex<Vec<SentPacket>>>);

impl Tap for SentFrames {
    fn departed(&mut self, departure: &Departure<'_>) {
        let mut sent = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        sent.push(SentPacket {
            start: departure.start,
            end: departure.end,
            port: departure.port,
            bytes: departure.bytes.to_vec(),
            frame: departure.frame,
        });
    }
}

/// A run of a system.
#[derive(Debug)]
pub struct SystemRun {
    session: Session,
    sent: SentFrames,
    observers: Vec<ObserverSet>,
    seen: Observations,
}

impl SystemRun {
    /// Runs to the end: until the traffic is handled, nothing is pending, or a check stops the run.
    ///
    /// # Errors
    /// Returns an error if a check stopped the run, or the frames of a capture could not be read.
    pub fn finish(&mut self) -> Result<&Ending, Problem> {
        self.run_to(Cycle::MAX);
        self.session
            .finish()
            .map_err(|error| Problem::new(error.to_string()))?;
        if let Some(set) = self.observers.pop() {
            self.seen = set.finish(self.session.node(0).chip());
        }
        match self.session.ending() {
            Some((_, Ending::Fault(fault))) => Err(Problem {
                message: fault.message.clone(),
                notes: fault.notes.clone(),
                help: fault.help.clone(),
                ..Problem::default()
            }),
            Some((_, Ending::InputFailed)) => {
                let unread = self.session.node(0).unread();
                Err(Problem::new(unread.unwrap_or_default()))
            }
            Some((_, ending)) => Ok(ending),
            None => Err(Problem::new("the run was stopped before its end")),
        }
    }

    /// Runs until nothing is left to happen before the cycle `pause`, or to the end, in which case it
    /// returns the ending. Microengines may have run ahead of the pause.
    pub fn run_to(&mut self, pause: Cycle) -> Option<Ending> {
        let go_on = &mut |_| ControlFlow::Continue(());
        if self.observers.is_empty() {
            return self.session.ending().map(|(_, ending)| ending.clone());
        }
        self.session.run_to(pause, &mut self.observers, go_on)
    }

    /// Runs exactly the next `cycles` cycles, so that every microengine stands at the last one, and
    /// returns the ending if the run has ended. These cycles are not observed.
    pub fn step(&mut self, cycles: Cycle) -> Option<Ending> {
        self.session.step(cycles)
    }

    /// Runs to the end with the caller's observer in place of those of [`System::start_observed`],
    /// and returns the observer.
    ///
    /// # Errors
    /// As for [`Self::finish`].
    pub fn observe<W: Watcher + Send>(&mut self, observer: W) -> Result<W, Problem> {
        let mut observers = [observer];
        let go_on = &mut |_| ControlFlow::Continue(());
        while self
            .session
            .run_to(Cycle::MAX, &mut observers, go_on)
            .is_none()
        {}
        self.observers.clear();
        self.finish()?;
        let [observer] = observers;
        Ok(observer)
    }

    /// The cycle before which nothing is left to happen.
    #[must_use]
    pub fn now(&self) -> Cycle {
        self.session.now()
    }

    /// The chip, with its microengines, memories and rings.
    #[must_use]
    pub fn chip(&self) -> &Chip {
        self.session.node(0).chip()
    }

    /// The frames that have left since the last call, in order of departure.
    #[must_use]
    pub fn packets(&mut self) -> Vec<SentPacket> {
        let mut sent = self.sent.0.lock().unwrap_or_else(PoisonError::into_inner);
        mem::take(&mut *sent)
    }

    /// All counters, as in the [stats file](crate::stats_file).
    #[must_use]
    pub fn report(&self) -> Report {
        self.session.stats()
    }

    /// The bottleneck of the run; `None` unless it is [observed](System::start_observed) and
    /// [finished](Self::finish).
    #[must_use]
    pub fn bottleneck(&self) -> Option<Analysis> {
        let (session, report) = (&self.session, self.report());
        let node = (report.nodes.first()?, session.node(0).traffic());
        let system = (session.project(), session.programs());
        Some(ObservedRun::of(system, node, &self.seen)?.analysis())
    }

    /// The underlying session, for everything that has no method here.
    #[must_use]
    pub fn session(&self) -> &Session {
        &self.session
    }
}
