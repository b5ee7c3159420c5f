//! The debugger: a run and the selected context.

pub mod standpoint;
mod stopping;
mod travel;

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::core::{ContextPhase, ContextView};
use npsim_chip::kernel::check::{Check, Fault};
use npsim_image::{Image, ProgramPoint};
use npsim_project::Project;
use npsim_session::simulation::Ending;

use crate::breakpoints::{BreakpointHit, BreakpointSet, Edit, LogOutput};
use crate::core::CoreView;
use crate::error::DebugError;
use crate::expression::{EvaluationScope, Expression};
use crate::names::ProjectNames;
use crate::search::{CodePoint, Direction};
use crate::snapshots::BudgetTooSmall;
use crate::source::{self, SourceFrame};
use crate::step::Step;
use crate::thread::Thread;
use crate::timeline::{TimePoint, Timeline};

/// Why the run stopped.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum StopCause {
    /// The run has not begun.
    Entry,
    /// A step is complete.
    Step,
    /// The user went to this cycle.
    Goto,
    /// Breakpoints were hit.
    Breakpoint(Vec<BreakpointHit>),
    /// A check stopped the run.
    Fault(Box<Fault>),
    /// The run ended for another reason.
    End(Ending),
    /// The run was moved back to its beginning.
    Beginning,
    /// The user interrupted the run.
    Interrupted,
}

/// Where the run has stopped and why.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Stop {
    /// The reason.
    pub reason: StopCause,
    /// The selected context.
    pub thread: Thread,
    /// Output of log points on the way.
    pub said: Vec<LogOutput>,
}

/// A context that can run.
#[derive(Clone, Debug)]
pub struct ThreadView {
    /// The context's number.
    pub thread: Thread,
    /// The project's name of its microengine's stage.
    pub stage: String,
    /// Its state.
    pub view: ContextView,
    /// The instruction at which it is, or with which it went to sleep.
    pub pc: u16,
}

/// A completed step, recorded so that it can be reversed.
#[derive(Clone, Copy, Debug)]
struct CompletedStep {
    step: Step,
    direction: Direction,
    from: Selection,
    to: Selection,
}

/// The position of the debugger.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Selection {
    moment: TimePoint,
    thread: Thread,
    place: Option<CodePoint>,
    level: usize,
}

/// Words as microengine and address, and the file and line that they belong to.
pub type LineWords = (Vec<(u8, u16)>, String, u32);

/// Maximum number of steps that can be reversed one by one.
const MAX_REVERSIBLE_STEPS: usize = 100_000;

/// A debugger for a [timeline](crate::timeline::Setup).
#[derive(Debug)]
pub struct Debugger {
    timeline: Timeline,
    names: ProjectNames,
    stops: BreakpointSet,
    look: Selection,
    made: Vec<CompletedStep>,
    allowed: Vec<Check>,
    reason: StopCause,
    /// Polled to find out whether to interrupt.
    stop: Option<InterruptCheck>,
    /// Whether the console has a command that ends it.
    ends: bool,
}

/// A callback that decides whether to interrupt.
struct InterruptCheck(Box<dyn FnMut(Cycle) -> bool + Send>);

impl std::fmt::Debug for InterruptCheck {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.write_str("InterruptCheck")
    }
}

impl Debugger {
    /// A debugger at the beginning of a run. `allowed` are the checks that do
    /// not stop it.
    ///
    /// # Errors
    /// Returns an error if the memory budget is too small.
    pub fn new(
        setup: crate::timeline::Setup,
        project: &Project,
        allowed: &[Check],
    ) -> Result<Self, BudgetTooSmall> {
        let timeline = Timeline::new(setup)?;
        let names = ProjectNames::of(project);
        let mut debugger = Self {
            stops: BreakpointSet::new(names.clone()),
            names,
            look: Selection {
                moment: TimePoint::default(),
                thread: Thread::default(),
                place: None,
                level: 0,
            },
            made: Vec::new(),
            allowed: allowed.to_vec(),
            reason: StopCause::Entry,
            timeline,
            stop: None,
            ends: true,
        };
        if let Some(first) = debugger.threads().first().map(|it| it.thread) {
            debugger.look.thread = first;
        }
        debugger.open_all();
        Ok(debugger)
    }

    /// Makes long searches interruptible: `is_interrupted` is called between stretches of a search with the
    /// cycle that it has reached.
    pub fn set_interrupt_check(
        &mut self,
        is_interrupted: impl FnMut(Cycle) -> bool + Send + 'static,
    ) {
        self.stop = Some(InterruptCheck(Box::new(is_interrupted)));
    }

    /// Removes the command `quit` from the console: if the console is part of a page, there is
    /// nothing to quit.
    pub const fn hide_quit(&mut self) {
        self.ends = false;
    }

    pub(crate) const fn ends(&self) -> bool {
        self.ends
    }

    /// The run.
    #[must_use]
    pub fn timeline(&self) -> &Timeline {
        &self.timeline
    }

    /// The run, for other searches. [`Self::goto`] restores the debugger's position.
    pub(crate) fn timeline_mut(&mut self) -> &mut Timeline {
        &mut self.timeline
    }

    /// The chip in its present state.
    #[must_use]
    pub fn chip(&self) -> &Chip {
        self.timeline.chip()
    }

    /// The cycle before which everything has happened.
    #[must_use]
    pub fn cycle(&self) -> Cycle {
        self.timeline.moment().cycle
    }

    /// The project's names.
    #[must_use]
    pub fn names(&self) -> &ProjectNames {
        &self.names
    }

    /// Manual changes, in order.
    pub(crate) fn edits(&self) -> &[Edit] {
        self.stops.edits()
    }

    /// Why the run stopped.
    #[must_use]
    pub fn reason(&self) -> &StopCause {
        &self.reason
    }

    /// The selected context.
    #[must_use]
    pub fn thread(&self) -> Thread {
        self.look.thread
    }

    /// Selects another context.
    ///
    /// # Errors
    /// Returns an error if the context does not run.
    pub fn select(&mut self, thread: Thread) -> Result<(), DebugError> {
        self.known(thread)?;
        if thread != self.look.thread {
            self.look.thread = thread;
            self.look.place = None;
            self.open_all();
        }
        Ok(())
    }

    /// Checks that a thread runs.
    pub(crate) fn known(&self, thread: Thread) -> Result<(), DebugError> {
        if self.selectable().contains(&thread) {
            return Ok(());
        }
        Err(DebugError::new(format!("context {thread} does not run"))
            .help("`contexts` lists those that do"))
    }

    /// The contexts that run or have exited, microengine by microengine.
    #[must_use]
    pub fn threads(&self) -> Vec<ThreadView> {
        let threads = Thread::running(self.chip()).into_iter();
        let threads = threads.filter_map(|thread| {
            let core = self.chip().microengines().get(usize::from(thread.me))?;
            Some(ThreadView {
                thread,
                stage: self.stage(thread.me),
                view: core.context(thread.context),
                pc: self.pc(thread),
            })
        });
        threads.collect()
    }

    /// The threads that can be selected: the contexts that run, and the core if it runs a program.
    #[must_use]
    pub fn selectable(&self) -> Vec<Thread> {
        let core = self.core().map(|_| Thread::CORE);
        let threads = Thread::running(self.chip()).into_iter();
        threads.chain(core).collect()
    }

    /// The general-purpose core, if it runs a program.
    #[must_use]
    pub fn core(&self) -> Option<CoreView<'_>> {
        CoreView::of(self.chip())
    }

    /// The project's name for the stage of a microengine, or the program's name.
    #[must_use]
    pub fn stage(&self, me: u8) -> String {
        if me == Thread::CORE.me {
            let core = self.core().map(|core| core.name().to_owned());
            return core.unwrap_or_default();
        }
        self.names.stage(self.chip(), me)
    }

    /// The source files of the programs, by their names in the images, sorted.
    #[must_use]
    pub fn files(&self) -> Vec<String> {
        let cores = self.chip().microengines().iter();
        let files = cores.flat_map(|core| core.program().image().files.clone());
        // Definitions from the command line do not belong to a file.
        let mut files: Vec<_> = files.filter(|file| !file.starts_with('<')).collect();
        files.sort();
        files.dedup();
        files
    }

    /// The program of a microengine.
    #[must_use]
    pub fn image(&self, me: u8) -> Option<&Image> {
        let core = self.chip().microengines().get(usize::from(me))?;
        Some(core.program().image())
    }

    /// The instruction at which a context is, or with which it went to sleep.
    #[must_use]
    pub fn pc(&self, thread: Thread) -> u16 {
        match self.look.place {
            Some(place) if (place.me, place.context) == (thread.me, thread.context) => place.pc,
            _ => {
                let cores = self.chip().microengines();
                let core = cores.get(usize::from(thread.me));
                core.map_or(0, |core| core.context(thread.context).place())
            }
        }
    }

    /// The frames of a context, innermost first; for the core's program, only the line. For the
    /// selected context, macros that were not stepped into are left out.
    #[must_use]
    pub fn frames(&self, thread: Thread) -> Vec<SourceFrame> {
        if thread.is_core() {
            return self.core().and_then(|it| it.frame()).into_iter().collect();
        }
        let Some(image) = self.image(thread.me) else {
            return Vec::new();
        };
        let mut frames = source::frames(image, self.pc(thread));
        if thread == self.look.thread {
            let closed = frames.len().saturating_sub(self.look.level + 1);
            frames.drain(..closed);
        }
        frames
    }

    /// Whether macros at the position of the selected context are closed.
    #[must_use]
    pub fn has_closed_macros(&self) -> bool {
        let thread = self.look.thread;
        let image = self.image(thread.me);
        image.is_some_and(|image| source::depth(image, self.pc(thread)) > self.look.level)
    }

    /// Opens all macros at the current position.
    fn open_all(&mut self) {
        let thread = self.look.thread;
        let pc = self.pc(thread);
        self.look.level = self.image(thread.me).map_or(0, |it| source::depth(it, pc));
    }

    /// The scope in which expressions are evaluated for a context.
    #[must_use]
    pub fn scope(&self, thread: Thread) -> EvaluationScope<'_> {
        EvaluationScope {
            chip: self.chip(),
            names: &self.names,
            cycle: self.cycle(),
            me: thread.me,
            context: thread.context,
            point: self.point(thread),
        }
    }

    /// The point at which a context's names are looked up: before the instruction that it is about
    /// to execute, or after the one with which it went to sleep.
    #[must_use]
    pub fn point(&self, thread: Thread) -> ProgramPoint {
        let pc = self.pc(thread);
        let stands = self
            .look
            .place
            .is_some_and(|it| (it.me, it.context) == (thread.me, thread.context));
        let cores = self.chip().microengines();
        let core = cores.get(usize::from(thread.me));
        let sleeps =
            core.is_some_and(|core| core.context(thread.context).phase == ContextPhase::Sleeping);
        if sleeps && !stands {
            ProgramPoint::after(pc)
        } else {
            ProgramPoint::before(pc)
        }
    }

    /// The value of an expression for a context; for the core, the name of a register or a function
    /// of its program is also accepted.
    ///
    /// # Errors
    /// Returns an error if the text is not an expression, or names something that does not exist.
    pub fn evaluate(&self, text: &str, thread: Thread) -> Result<u64, DebugError> {
        let value = || text.parse::<Expression>()?.value(&self.scope(thread));
        if let Some(core) = self.core().filter(|_| thread.is_core()) {
            let own = core.value(text).map(u64::from);
            return own.or_else(|complaint| value().map_err(|_| complaint));
        }
        value()
    }
}

impl Debugger {
    /// The value of an expression for a register or a longword.
    ///
    /// # Errors
    /// Returns an error in the same cases as [`Self::evaluate`], or if the
    /// value needs more than 32 bits.
    pub fn evaluate_word(&self, text: &str, thread: Thread) -> Result<u32, DebugError> {
        let value = self.evaluate(text, thread)?;
        u32::try_from(value).map_err(|_| {
            DebugError::new(format!("{value:#x} needs more than 32 bits"))
                .help("registers and longwords have 32")
        })
    }
}

fn image_of(timeline: &Timeline, thread: Thread) -> &Image {
    timeline.chip().microengines()[usize::from(thread.me)]
        .program()
        .image()
}
