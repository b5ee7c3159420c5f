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

/// How long a run goes on and what it passes over.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RunSettings {
    /// Stop at this cycle at the latest.
    pub until: Option<Cycle>,
    /// Stop when all frames have arrived and the media interface has been at
    /// rest for so many cycles.
    pub drain: Option<Cycle>,
    /// Checks that do not stop the run.
    pub allow: Vec<Check>,
    /// What `PSEUDO_RANDOM_NUMBER` begins with is made from this; without it the
    /// register begins at 1 in every microengine.
    pub seed: Option<u64>,
    /// What executes the microcode.
    pub core: CoreKind,
    /// Simulate every cycle of time in which the chip's state recurs, which else is
    /// skipped. The results are the same.
    pub no_skip: bool,
    /// More comes, or came where the run was recorded, than is known when it begins: periodic tasks of
    /// the core go on after all else has come to rest.
    pub open: bool,
}

impl RunSettings {
    /// On this kind of core to the end of the traffic, with every check, from the same beginning.
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
    /// The time that was asked for is up.
    Reached,
    /// The microcode did what a check forbids, or what no chip could do.
    Fault(Box<Fault>),
    /// The capture of departures could not be written.
    OutputFailed,
    /// The frames that were still to come could not be read.
    InputFailed,
    /// The caller asked for an end.
    Interrupted,
}

impl Ending {
    /// The word in the stats file.
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

    /// How bad it is, for the ending of several nodes.
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

/// Cycles between two reports of progress to the caller.
const PROGRESS_CYCLES: Cycle = 60_000;
/// Cycles between two of them in a network, whose windows are short.
const NETWORK_PROGRESS_CYCLES: Cycle = 6_000_000;

/// Refuses a program whose constants are not all known.
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
    /// A slice has come to its end, and whether the run has too depends on a frame
    /// that was not known then.
    undecided: bool,
}

/// How far a run came that has not ended.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Advance {
    /// To its end.
    Ended(Ending),
    /// No event is left before this cycle.
    To(Cycle),
}

impl Simulation {
    /// Loads the programs and sets up what the project says.
    ///
    /// # Errors
    /// A program does not fit the chip or has import variables without a value,
    /// or the set-up contradicts itself.
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

    /// Runs to the end, telling `progress` the cycle and the traffic now and
    /// then. The advice does not depend on the host.
    pub fn run(&mut self, links: &mut Links, progress: &mut dyn FnMut(Cycle, &Traffic)) -> Ending {
        self.run_while(links, &mut |cycle, traffic| {
            progress(cycle, traffic);
            ControlFlow::Continue(())
        })
    }

    /// Runs to the end, or until `progress` interrupts. Where that happens
    /// depends on when it is asked; the chip is between two events then.
    pub fn run_while(
        &mut self,
        links: &mut Links,
        progress: &mut dyn FnMut(Cycle, &Traffic) -> ControlFlow<()>,
    ) -> Ending {
        self.run_watched(links, &mut NoObserver, progress)
    }

    /// As [`Self::run_while`], observed. The run is the same with any
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

    /// Runs to the end, or until nothing is left to happen before the cycle `pause`,
    /// where the run can be saved, inspected and resumed; `None` if it has
    /// not ended by then. Pauses change nothing.
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

    /// As [`Self::run_to`], but it also stops before the chip would ask for a frame that is not
    /// known yet.
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
                // The end only grows while the run goes on, so it can be asked for anew
                // at any time without a microengine having stopped at an earlier one.
                target = until.min(self.rest_end(links)).min(due).max(now);
                // The chip asks for the frame after the next when that begins to come.
                let pause = pause.min(links.known_until());
                // Once that is asked for, the end may lie further away; where it lies far away as
                // it is, it need not be asked for so often.
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
            if links.input_failure().is_some() && links.all_offered() {
                return Advance::Ended(Ending::InputFailed);
            }
            if links.all_offered() && target >= self.rest_end(links) {
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

    /// Runs to a cycle between [open](Links::open) lines on which all frames are known that begin
    /// to come before it, or less far: to where what answers a frame that has left might come.
    /// Gives where that is; nothing is left to happen before it. `silent` becomes the cycle before
    /// which nothing leaves unless a frame comes, as far as that is known.
    ///
    /// A frame is handed to the chip when that has come to the frame's first bit, so that it does
    /// not matter how far ahead it was known, nor in which steps the run comes along.
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
                .map_or(Cycle::MAX, NetworkPort::next_unreached);
            let target = next.min(until);
            let report_at = { self.chip.next_event() }.saturating_add(NETWORK_PROGRESS_CYCLES);
            let stop = { &mut self.chip }.run_for(target, Cycle::MAX, report_at, links, observer);
            *silent = (*silent).max(self.chip.take_silence());
            match stop {
                Some(Stop::Fault(fault)) => return Err(self.faulted(fault)),
                None if progress(self.chip.now()).is_break() => return Err(Ending::Interrupted),
                None => continue,
                // A chip that sleeps is woken by a frame.
                Some(Stop::Quiet | Stop::Reached) => {}
            }
            let come = target.min(links.latest());
            if come == until || come == links.latest() {
                return Ok(come);
            }
            if let Some(port) = links.network_mut() {
                port.come_to(come);
            }
            // What was known before a frame comes says nothing any more.
            *silent = 0;
        }
    }

    /// Lets the run go on until this cycle, or without an end of its own.
    pub fn run_until(&mut self, until: Option<Cycle>) {
        self.settings.until = until;
    }

    /// Whether the end of the last slice waits for a frame; part of the state of a
    /// node.
    pub(crate) fn is_undecided(&self) -> bool {
        self.undecided
    }

    pub(crate) fn set_undecided(&mut self, undecided: bool) {
        self.undecided = undecided;
    }

    /// The end of a run at a fault, which an analysis of the chip may have more to say about.
    fn faulted(&mut self, fault: Box<Fault>) -> Ending {
        let explained = liveness::explain_deadlock(&mut self.chip).cloned();
        Ending::Fault(explained.map_or(fault, Box::new))
    }

    /// The end of a run after which no frame moves, unless a check on what is
    /// left behind finds something.
    fn rested(&mut self, ending: Ending) -> Ending {
        // A user who allows that all sleep for ever allows it of some, too. What such a context
        // holds is no leak of its own.
        if ending != Ending::NoEvents || !self.settings.allow.contains(&Check::Deadlock) {
            liveness::raise_never_woken(&mut self.chip);
        }
        self.chip.raise_leaks();
        // Without traffic they hold no packets: a program may do with them what it likes.
        if self.settings.drain.is_some() {
            buffer_leaks::raise_buffer_leaks(&mut self.chip);
        }
        match self.chip.fault() {
            Some(fault) => Ending::Fault(Box::new(fault.clone())),
            None => ending,
        }
    }

    /// Whether contexts sleep for ever where the time is up; no check reports it then.
    pub(crate) fn sleeps_unasked(&self) -> bool {
        self.settings.allow.contains(&Check::NeverWoken)
            && liveness::never_woken_fault(&self.chip, Outlook::GoesOn).is_some()
    }

    /// The end of a run whose time is up, unless contexts sleep for ever. Nothing of it
    /// is left in the chip, which can go on.
    #[must_use]
    pub fn timed_out(&self) -> Ending {
        if self.settings.allow.contains(&Check::NeverWoken) {
            return Ending::Reached;
        }
        match liveness::never_woken_fault(&self.chip, Outlook::GoesOn) {
            Some(fault) => Ending::Fault(Box::new(fault)),
            None => Ending::Reached,
        }
    }

    /// The cycle at which the run is drained if nothing moves or comes until
    /// then. It only ever grows, so running up to it never runs too far; while
    /// frames are still to come it lies after the next one of them.
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

    /// The cycle that the run has come to.
    #[must_use]
    pub fn now(&self) -> Cycle {
        self.chip.now()
    }

    /// The chip's state, for [`Self::restore`].
    ///
    /// # Errors
    /// The encoder refuses, which no state makes it do.
    pub fn save(&self) -> Result<Vec<u8>, StateError> {
        self.chip.save()
    }

    /// Goes on from a state that a simulation of the same project, programs and
    /// settings has saved; the settings may differ in when the run ends.
    ///
    /// # Errors
    /// It is no state of such a chip.
    pub fn restore(&mut self, state: &[u8]) -> Result<(), StateError> {
        self.chip.restore(state)
    }

    /// The chip as it stands, for those who want to inspect its memories.
    #[must_use]
    pub fn chip(&self) -> &Chip {
        &self.chip
    }

    /// The chip, for changes from outside between two steps of a run, as a debugger
    /// makes them.
    pub fn chip_mut(&mut self) -> &mut Chip {
        &mut self.chip
    }

    /// Lets these checks pass from now on, and no others.
    pub fn set_allowed(&mut self, allow: &[Check]) {
        self.settings.allow = allow.to_vec();
        self.chip.set_allowed(allow);
    }

    /// What was counted so far.
    #[must_use]
    pub fn stats(&self) -> Stats {
        Stats::collect(&self.chip)
    }

    /// What each context of the microengines that run something does, one line
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
