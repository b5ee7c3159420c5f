//! A run: programs on a chip, traffic on its lines, until the traffic is
//! handled, the time is up, no events are pending, or a check stops it.

use std::ops::ControlFlow;

use npsim_chip::Cycle;
use npsim_chip::chip::{Chip, Stop};
use npsim_chip::core::CoreKind;
use npsim_chip::core::Program as Loaded;
use npsim_chip::kernel::check::{Check, Fault};
use npsim_chip::kernel::observer::{NoObserver, Observer};
use npsim_chip::kernel::port_io::PortIo as _;
use npsim_chip::state::StateError;
use npsim_chip::watch::Watcher;
use npsim_inspect::liveness::Outlook;
use npsim_inspect::stats::Stats;
use npsim_inspect::{buffer_leaks, liveness};

use crate::links::{Links, NetworkPort, Traffic};
use npsim_project::Project;
use npsim_project::assemble::Program;
use npsim_project::problem::Problem;

/// How long a run goes on and which checks do not stop it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSettings {
    /// The cycle at which the run stops at the latest.
    pub until: Option<Cycle>,
    /// Stop when all frames have arrived and the media interface has been idle
    /// for this many cycles.
    pub drain: Option<Cycle>,
    /// Checks that do not stop the run.
    pub allow: Vec<Check>,
    /// The seed of `PSEUDO_RANDOM_NUMBER`; without it the register starts at 1
    /// in every microengine.
    pub seed: Option<u64>,
    /// The kind of core that executes the microcode.
    pub core: CoreKind,
    /// Simulate every cycle, including stretches in which the chip's state
    /// recurs and which are otherwise skipped. The results are the same.
    pub no_skip: bool,
    /// More may arrive, or arrived when the run was recorded, than is known at the start: periodic
    /// tasks of the core go on after everything else has come to rest.
    pub open: bool,
}

impl RunSettings {
    /// Settings for a run on this kind of core to the end of the traffic, with every check and
    /// without a seed.
    #[must_use]
    pub const fn new(core: CoreKind) -> Self {
        Self {
            until: None,
            drain: None,
            allow: Vec::new(),
            seed: None,
            core,
            no_skip: false,
            open: false,
        }
    }
}

/// Why a run ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Ending {
    /// The traffic is handled: nothing moved at the media interface for the
    /// drain time.
    Drained,
    /// No events are pending.
    NoEvents,
    /// The requested time is up.
    Reached,
    /// The microcode violated a check, or did something that no chip could do.
    Fault(Box<Fault>),
    /// The capture of departures could not be written.
    OutputFailed,
    /// The remaining frames could not be read.
    InputFailed,
    /// The caller interrupted the run.
    Interrupted,
}

impl Ending {
    /// The name in the stats file.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self {
            Self::Drained => "drained",
            Self::NoEvents => "quiet",
            Self::Reached => "reached",
            Self::Fault(_) => "fault",
            Self::OutputFailed => "output-failed",
            Self::InputFailed => "input-failed",
            Self::Interrupted => "interrupted",
        }
    }

    /// The severity, for combining the endings of several nodes.
    pub(crate) const fn rank(&self) -> u8 {
        match self {
            Self::NoEvents => 0,
            Self::Drained => 1,
            Self::Reached => 2,
            Self::Interrupted => 3,
            Self::InputFailed => 4,
            Self::OutputFailed => 5,
            Self::Fault(_) => 6,
        }
    }
}

/// Cycles between two progress reports to the caller.
const PROGRESS_CYCLES: Cycle = 60_000;
/// Cycles between two progress reports in a network, whose windows are short.
const NETWORK_PROGRESS_CYCLES: Cycle = 6_000_000;

/// Rejects a program with import variables that have no value.
fn linked(program: &Program) -> Result<(), Problem> {
    let open = program.image.unresolved_imports();
    if open.is_empty() {
        return Ok(());
    }
    Err(Problem::new(format!(
        "`{}` on microengine {} has import variables without a value: {}",
        program.source.display(),
        program.me,
        open.join(", ")
    ))
    .help(format!(
        "give it with `--import {}=VALUE`, or with `import` in the project's [[me]]",
        open[0]
    )))
}

/// A chip that is loaded and ready.
#[derive(Clone, Debug)]
pub struct Simulation {
    chip: Chip,
    settings: RunSettings,
    /// Whether a slice has ended while the end of the run still depends on a
    /// frame that was not known then.
    undecided: bool,
}

/// How far a run has advanced.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Advance {
    /// To its end.
    Ended(Ending),
    /// No event is left before this cycle.
    To(Cycle),
}

impl Simulation {
    /// Loads the programs and sets up the chip according to the project.
    ///
    /// # Errors
    /// Returns an error if a program does not fit the chip or has import
    /// variables without a value, or the set-up is contradictory.
    pub fn new(
        project: &Project,
        programs: &[Program],
        settings: RunSettings,
    ) -> Result<Self, Problem> {
        let mut loaded = Vec::with_capacity(programs.len());
        for program in programs {
            linked(program)?;
            let code = Loaded::new(&program.image, &project.profile).map_err(|error| {
                Problem::new(format!(
                    "`{}` cannot run on {}: {error}",
                    program.source.display(),
                    project.capacity.name
                ))
            })?;
            loaded.push((program.me, code));
        }
        let profile = project.profile.clone();
        let mut chip = Chip::new(settings.core, profile, &project.boot, loaded)
            .map_err(|error| Problem::new(error.to_string()))?;
        for &check in &settings.allow {
            chip.allow(check);
        }
        if let Some(seed) = settings.seed {
            chip.seed(seed);
        }
        if settings.no_skip {
            chip.set_skipping(false);
        }
        if settings.open {
            chip.keep_open();
        }
        Ok(Self {
            chip,
            settings,
            undecided: false,
        })
    }

    /// Runs to the end, reporting the cycle and the traffic to `progress` now
    /// and then. The times of these reports do not depend on the host.
    pub fn run(&mut self, links: &mut Links, progress: &mut dyn FnMut(Cycle, &Traffic)) -> Ending {
        self.run_while(links, &mut |cycle, traffic| {
            progress(cycle, traffic);
            ControlFlow::Continue(())
        })
    }

    /// Runs to the end, or until `progress` interrupts. The point of
    /// interruption depends on when `progress` is called; the chip is between
    /// two events then.
    pub fn run_while(
        &mut self,
        links: &mut Links,
        progress: &mut dyn FnMut(Cycle, &Traffic) -> ControlFlow<()>,
    ) -> Ending {
        self.run_watched(links, &mut NoObserver, progress)
    }

    /// Like [`Self::run_while`], with an observer. The run is the same with any
    /// observer.
    pub fn run_watched(
        &mut self,
        links: &mut Links,
        observer: &mut dyn Watcher,
        progress: &mut dyn FnMut(Cycle, &Traffic) -> ControlFlow<()>,
    ) -> Ending {
        loop {
            if let Some(ending) = self.run_to(Cycle::MAX, links, observer, progress) {
                return ending;
            }
        }
    }

    /// Runs to the end, or until everything before the cycle `pause` has happened, where the run
    /// can be saved, inspected and resumed; `None` if it has not ended by then. Pauses change
    /// nothing.
    pub fn run_to(
        &mut self,
        pause: Cycle,
        links: &mut Links,
        observer: &mut dyn Watcher,
        progress: &mut dyn FnMut(Cycle, &Traffic) -> ControlFlow<()>,
    ) -> Option<Ending> {
        match self.advance(pause, links, observer, progress) {
            Advance::Ended(ending) => Some(ending),
            Advance::To(_) => None,
        }
    }

    /// Like [`Self::run_to`], but also stops before the chip would poll for a frame that is not yet
    /// known.
    pub(crate) fn advance(
        &mut self,
        pause: Cycle,
        links: &mut Links,
        observer: &mut dyn Watcher,
        progress: &mut dyn FnMut(Cycle, &Traffic) -> ControlFlow<()>,
    ) -> Advance {
        loop {
            let now = self.chip.now();
            let until = self.settings.until.unwrap_or(Cycle::MAX);
            let mut target = now;
            if !self.undecided {
                let due = observer.due();
                // The end only moves later while the run goes on, so it can be recomputed at any
                // time without a microengine having stopped at an earlier one.
                target = until.min(self.rest_end(links)).min(due).max(now);
                // The chip polls for the frame after the next when the next begins to arrive.
                let pause = pause.min(links.known_until());
                // After that poll the end may lie further away; if it is far away anyway, polling
                // less often is enough.
                let next = self.chip.next_event().max(now);
                let arrival = self.chip.units().msf.next_arrival();
                let report_at = next.saturating_add(PROGRESS_CYCLES);
                let report_at = if target.saturating_sub(report_at) > PROGRESS_CYCLES {
                    report_at
                } else {
                    arrival.clamp(next, report_at).saturating_add(1)
                };
                match self.chip.run_for(target, pause, report_at, links, observer) {
                    None if self.chip.next_event() >= pause => return Advance::To(pause),
                    None => {
                        if links.has_failed() {
                            return Advance::Ended(Ending::OutputFailed);
                        }
                        if progress(self.chip.now(), &links.traffic).is_break() {
                            return Advance::Ended(Ending::Interrupted);
                        }
                        continue;
                    }
                    Some(Stop::Fault(fault)) => return Advance::Ended(self.faulted(fault)),
                    Some(Stop::Quiet) => return Advance::Ended(self.rested(Ending::NoEvents)),
                    Some(Stop::Reached) => {}
                }
                if target == due {
                    observer.sample(&self.chip);
                }
            }
            self.undecided = links.is_starved();
            if self.undecided {
                return Advance::To(target);
            }
            if links.has_failed() {
                return Advance::Ended(Ending::OutputFailed);
            }
            if links.input_failure().is_some() && links.all_arrived() {
                return Advance::Ended(Ending::InputFailed);
            }
            if links.all_arrived() && target >= self.rest_end(links) {
                return Advance::Ended(self.rested(Ending::Drained));
            }
            if target >= until {
                return Advance::Ended(Ending::Reached);
            }
            if progress(target, &links.traffic).is_break() {
                return Advance::Ended(Ending::Interrupted);
            }
        }
    }

    /// Runs up to a cycle on lines of a [network](Links::networked) on which all frames that begin
    /// to arrive before it are known, or less far: to the first cycle at which an answer to a
    /// departed frame might arrive. Returns the cycle reached; everything before it has happened.
    /// `silent` is set to the cycle before which nothing leaves unless a frame arrives, as far as
    /// that is known.
    ///
    /// A frame is handed to the chip when the chip reaches the frame's first bit, so it does not
    /// matter how early the frame was known, nor in which steps the run advances.
    pub(crate) fn run_open(
        &mut self,
        until: Cycle,
        links: &mut Links,
        silent: &mut Cycle,
        observer: &mut dyn Observer,
        progress: &mut dyn FnMut(Cycle) -> ControlFlow<()>,
    ) -> Result<Cycle, Ending> {
        loop {
            let next = links
                .network()
                .map_or(Cycle::MAX, NetworkPort::next_pending_start);
            let target = next.min(until);
            let report_at = { self.chip.next_event() }.saturating_add(NETWORK_PROGRESS_CYCLES);
            let stop = { &mut self.chip }.run_for(target, Cycle::MAX, report_at, links, observer);
            *silent = (*silent).max(self.chip.take_quiet_until());
            match stop {
                Some(Stop::Fault(fault)) => return Err(self.faulted(fault)),
                None if progress(self.chip.now()).is_break() => return Err(Ending::Interrupted),
                None => continue,
                // A sleeping chip is woken by a frame.
                Some(Stop::Quiet | Stop::Reached) => {}
            }
            let come = target.min(links.answer_deadline());
            if come == until || come == links.answer_deadline() {
                return Ok(come);
            }
            if let Some(port) = links.network_mut() {
                port.set_reached(come);
            }
            // A frame invalidates what was known before it arrives.
            *silent = 0;
        }
    }

    /// Sets the cycle at which the run ends, or removes this limit.
    pub fn run_until(&mut self, until: Option<Cycle>) {
        self.settings.until = until;
    }

    /// Whether the end of the last slice depends on a frame; part of a node's
    /// state.
    pub(crate) fn is_undecided(&self) -> bool {
        self.undecided
    }

    pub(crate) fn set_undecided(&mut self, undecided: bool) {
        self.undecided = undecided;
    }

    /// The ending for a fault, which an analysis of the chip may explain further.
    fn faulted(&mut self, fault: Box<Fault>) -> Ending {
        let explained = liveness::explain_deadlock(&mut self.chip).cloned();
        Ending::Fault(explained.map_or(fault, Box::new))
    }

    /// The ending of a run after which no frame moves, unless a check on what
    /// is left behind finds something.
    fn rested(&mut self, ending: Ending) -> Ending {
        // Allowing all contexts to sleep forever also allows it of some. What such a context holds
        // is not reported as a separate leak.
        if ending != Ending::NoEvents || !self.settings.allow.contains(&Check::Deadlock) {
            liveness::raise_never_woken(&mut self.chip);
        }
        self.chip.raise_leaks();
        // Without traffic, buffers hold no packets, and a program may do with them what it likes.
        if self.settings.drain.is_some() {
            buffer_leaks::raise_buffer_leaks(&mut self.chip);
        }
        match self.chip.fault() {
            Some(fault) => Ending::Fault(Box::new(fault.clone())),
            None => ending,
        }
    }

    /// Whether contexts sleep forever at the time limit without a check that reports it.
    pub(crate) fn sleeps_forever_unchecked(&self) -> bool {
        self.settings.allow.contains(&Check::NeverWoken)
            && liveness::never_woken_fault(&self.chip, Outlook::MayContinue).is_some()
    }

    /// The ending of a run that has reached its time limit, unless contexts sleep forever. It
    /// leaves no trace in the chip, which can go on.
    #[must_use]
    pub fn timed_out(&self) -> Ending {
        if self.settings.allow.contains(&Check::NeverWoken) {
            return Ending::Reached;
        }
        match liveness::never_woken_fault(&self.chip, Outlook::MayContinue) {
            Some(fault) => Ending::Fault(Box::new(fault)),
            None => Ending::Reached,
        }
    }

    /// The cycle at which the run is drained if nothing moves or arrives until
    /// then. It only ever moves later, so running up to it never runs too far;
    /// while frames are still to come it lies after the next one of them.
    fn rest_end(&self, links: &Links) -> Cycle {
        let Some(drain) = self.settings.drain else {
            return Cycle::MAX;
        };
        let last = self
            .chip
            .units()
            .msf
            .last_activity()
            .max(self.chip.gpp().last_activity())
            .max(links.arrivals_end());
        self.chip
            .disturbances()
            .undisturbed_after(last, drain)
            .saturating_add(drain)
    }

    /// The cycle that the run has reached.
    #[must_use]
    pub fn now(&self) -> Cycle {
        self.chip.now()
    }

    /// The chip's state, for [`Self::restore`].
    ///
    /// # Errors
    /// Returns an error if encoding fails, which no state causes.
    pub fn save(&self) -> Result<Vec<u8>, StateError> {
        self.chip.save()
    }

    /// Continues from a state saved by a simulation of the same project,
    /// programs and settings; the settings may differ in when the run ends.
    ///
    /// # Errors
    /// Returns an error if the state does not belong to such a chip.
    pub fn restore(&mut self, state: &[u8]) -> Result<(), StateError> {
        self.chip.restore(state)
    }

    /// The chip in its current state, for inspection.
    #[must_use]
    pub fn chip(&self) -> &Chip {
        &self.chip
    }

    /// The chip, for changes from outside between two steps of a run, such as a
    /// debugger's.
    pub fn chip_mut(&mut self) -> &mut Chip {
        &mut self.chip
    }

    /// Sets the checks that do not stop the run from now on, replacing any others.
    pub fn set_allowed(&mut self, allow: &[Check]) {
        self.settings.allow = allow.to_vec();
        self.chip.set_allowed(allow);
    }

    /// The counts so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        Stats::collect(&self.chip)
    }

    /// The state of each context of the microengines with a program, one line
    /// each.
    #[must_use]
    pub fn state_report(&self) -> Vec<String> {
        let running = self
            .chip
            .microengines()
            .iter()
            .filter(|me| !me.program().image().words.is_empty());
        running.flat_map(|me| me.state_report()).collect()
    }
}
