//! The debugger, which runs forwards and backwards.

use std::sync::Arc;
use std::sync::atomic::Ordering;

use npsim::debug::breakpoints::Access;
use npsim::debug::console::{BreakpointText, execute, stop_text};
use npsim::debug::history::History;
use npsim::debug::timeline::{NoDebug, Setup};
use npsim::debug::view::StopView;
use npsim::debug::{DebugError, Direction, Stop, StopCause, Thread};
use npsim::files::{Files, Overlay};
use npsim::problem::{Problem, Problems};
use npsim::run_limits::RunLimits;
use npsim::simulation::{RunSettings, Simulation};
use npsim::system::System;
use npsim::traffic::{Traffic, TrafficSource};
use pyo3::prelude::*;

use crate::column::Column;
use crate::detached::{StopFlag, detached};
use crate::error::{self, mistake, not_pickled};
use crate::exclusive::Exclusive;
use crate::memory;
use crate::project::{Project, time};
use crate::run::{checks, core};
use crate::traffic::{CaptureArguments, traffic};

/// Bytes per megabyte.
const MEGABYTE: usize = 1_000_000;
/// Cycles before a stop that a view covers with packets and lanes.
const SHOWN: u64 = 2_000;

/// A run that can be navigated forwards and backwards.
///
/// Created by `Project.debug`. A debugger stands at a cycle: everything before that cycle has
/// happened, and nothing in it. Only one thread may use a debugger at a time; a call during another
/// raises `npsim.Error`.
#[pyclass(frozen, module = "npsim")]
pub struct Debugger {
    system: System,
    files: Arc<Overlay>,
    travel: Exclusive<npsim::debug::Debugger>,
    stop: StopFlag,
}

/// A position in a run, as returned by `Debugger.save`: a cycle and the selected context.
#[pyclass(frozen, get_all, module = "npsim")]
pub struct Bookmark {
    /// The cycle.
    cycle: u64,
    /// The selected microengine.
    me: u8,
    /// The selected context of the microengine.
    context: u8,
}

#[pymethods]
impl Bookmark {
    #[new]
    fn new(cycle: u64, me: u8, context: u8) -> Self {
        Self { cycle, me, context }
    }

    fn __repr__(&self) -> String {
        format!(
            "npsim.Bookmark({}, {}, {})",
            self.cycle, self.me, self.context
        )
    }

    fn __reduce__<'py>(&self, py: Python<'py>) -> PyResult<(Bound<'py, PyAny>, (u64, u8, u8))> {
        let class = py.import("npsim")?.getattr("Bookmark")?;
        Ok((class, (self.cycle, self.me, self.context)))
    }
}

#[pymethods]
impl Project {
    /// Create a debugger at the beginning of a run with this traffic.
    ///
    /// The arguments are those of `run`. `memory` limits the memory for past states, in megabytes;
    /// more makes steps back faster. Raises `npsim.Error` for mistakes in the input.
    #[pyo3(signature = (*, trace = None, load = None, pace = None, ports = None, until = None, seed = None, core = "engine", allow = None, memory = 256))]
    fn debug(
        &self,
        py: Python<'_>,
        trace: Option<std::path::PathBuf>,
        load: Option<Bound<'_, PyAny>>,
        pace: Option<Bound<'_, PyAny>>,
        ports: Option<Bound<'_, PyAny>>,
        until: Option<Bound<'_, PyAny>>,
        seed: Option<u64>,
        core: &str,
        allow: Option<Bound<'_, PyAny>>,
        memory: usize,
    ) -> PyResult<Debugger> {
        let capture = CaptureArguments::of(trace, pace.as_ref(), ports.as_ref(), false, None)?;
        let traffic = traffic(self.system.project(), capture, load.as_ref(), seed)?;
        let limits = RunLimits {
            until: until.map(|it| time("until", &it)).transpose()?,
            ..RunLimits::default()
        };
        let machine = RunSettings {
            allow: checks(allow.as_ref())?,
            seed,
            ..RunSettings::new(crate::debugger::core(core)?)
        };
        let stop = StopFlag::default();
        let budget = memory.saturating_mul(MEGABYTE);
        let made = detached(py, &stop, || {
            let (system, _) = self.system_for(&traffic, seed)?;
            let debugger = open(&system, traffic, limits, machine, budget)?;
            Ok((system, debugger))
        })?;
        let (system, mut debugger) = made.map_err(|it: Problems| error::problems(&it))?;
        let asked = Arc::clone(&stop);
        debugger.set_interrupt_check(move |_| asked.load(Ordering::Relaxed));
        Ok(Debugger {
            system,
            files: Arc::clone(&self.reading.files),
            travel: Exclusive::new(debugger),
            stop,
        })
    }
}

fn open(
    system: &System,
    traffic: Traffic,
    limits: RunLimits,
    machine: RunSettings,
    budget: usize,
) -> Result<npsim::debug::Debugger, Problem> {
    let project = system.project();
    let source = TrafficSource::open(traffic, project)?;
    let settings = limits.settings(machine, project.capacity.hertz, &source);
    let (until, allowed) = (settings.until, settings.allow.clone());
    let none = || -> npsim::links::Frames { Box::new(std::iter::empty()) };
    let setup = Setup {
        simulation: Simulation::new(project, system.programs(), settings)?,
        frames: NoDebug(source.ends()?.frames.unwrap_or_else(none)),
        until,
        hertz: project.capacity.hertz,
        budget,
    };
    npsim::debug::Debugger::new(setup, project, &allowed).map_err(|error| {
        let megabytes = error.needed.div_ceil(MEGABYTE);
        Problem::new(error.to_string()).help(format!("give at least `memory={megabytes}`"))
    })
}

/// Converts an error of the debugger to an exception.
fn debug_error(error: &DebugError) -> PyErr {
    mistake(
        error.message.clone(),
        error.help.as_deref().unwrap_or_default(),
    )
}

/// Returns the text of a source, if it can be read.
fn source(files: &Overlay, file: &str) -> Option<String> {
    let bytes = files.read(std::path::Path::new(file)).ok()?;
    Some(String::from_utf8_lossy(&bytes).into_owned())
}

impl Debugger {
    fn thread(debugger: &npsim::debug::Debugger, me: Option<u8>, context: Option<u8>) -> Thread {
        let selected = debugger.thread();
        Thread {
            me: me.unwrap_or(selected.me),
            context: context.unwrap_or(selected.context),
        }
    }

    fn travel_and_report(
        &self,
        py: Python<'_>,
        work: impl FnOnce(&mut npsim::debug::Debugger) -> Stop + Send,
    ) -> PyResult<Vec<String>> {
        let mut debugger = self.travel.claim("the debugger")?;
        debugger.detached(py, &self.stop, |debugger| {
            let stop = work(debugger);
            stop_text(debugger, &stop, &|file| source(&self.files, file))
        })
    }
}

#[pymethods]
impl Debugger {
    /// Run a command of the console, and return its output as a list of lines.
    ///
    /// `help` lists the commands (`step`, `break`, `back step`, `why`, `who wrote`, `find`...).
    /// Raises `npsim.Error` if the command fails.
    fn execute(&self, py: Python<'_>, command: &str) -> PyResult<Vec<String>> {
        let mut debugger = self.travel.claim("the debugger")?;
        let reply = debugger.detached(py, &self.stop, |debugger| {
            execute(debugger, &|file| source(&self.files, file), command)
        })?;
        reply
            .map(|reply| reply.lines)
            .map_err(|it| debug_error(&it))
    }

    /// Go to a time, forwards or backwards: a cycle, or a string such as "0.9ms".
    ///
    /// Returns a description of the new position, as a list of lines.
    fn goto(&self, py: Python<'_>, at: Bound<'_, PyAny>) -> PyResult<Vec<String>> {
        let hertz = self.system.project().capacity.hertz;
        let cycle = time("at", &at)?.cycles(hertz);
        self.travel_and_report(py, |debugger| debugger.goto(cycle))
    }

    /// Run to the next time that a place is reached, and return whether a breakpoint stopped the
    /// run.
    ///
    /// A place is `"forward.uc:46"`, a label or a macro, each optionally with `if CONDITION`. With
    /// `back`, run backwards to the last time that it was reached. With `watch`, run to where a
    /// value changes (`"sram0[0x100]"`, a name, a ring). Breakpoints that are set also stop the
    /// run, and count as found. Raises `npsim.Error` if there is no such place.
    #[pyo3(signature = (what, *, back = false, watch = false))]
    fn search(&self, py: Python<'_>, what: &str, back: bool, watch: bool) -> PyResult<bool> {
        let direction = if back {
            Direction::Back
        } else {
            Direction::Forward
        };
        let mut debugger = self.travel.claim("the debugger")?;
        let point = BreakpointText::of(what, watch).and_then(|text| {
            if watch {
                text.watchpoint(&debugger, Access::Change)
            } else {
                text.breakpoint(&debugger, None)
            }
        });
        let added = point.and_then(|point| debugger.add(point));
        let id = added.map_err(|it| debug_error(&it))?;
        let found = debugger.detached(py, &self.stop, |debugger| {
            let stop = debugger.run(direction);
            matches!(stop.reason, StopCause::Breakpoint(_))
        });
        debugger.remove(id).map_err(|it| debug_error(&it))?;
        found
    }

    /// The cycle at which the debugger stands.
    #[getter]
    fn cycle(&self) -> PyResult<u64> {
        Ok(self.travel.claim("the debugger")?.cycle())
    }

    /// Return the value of an expression over names, registers and memories at the current
    /// position.
    ///
    /// Names are resolved in a context: that of `me` and `context`, or the selected one. Raises
    /// `npsim.Error` if the expression cannot be evaluated.
    #[pyo3(signature = (expression, *, me = None, context = None))]
    fn evaluate(&self, expression: &str, me: Option<u8>, context: Option<u8>) -> PyResult<u64> {
        let debugger = self.travel.claim("the debugger")?;
        let thread = Self::thread(&debugger, me, context);
        debugger
            .evaluate(expression, thread)
            .map_err(|it| debug_error(&it))
    }

    /// Select a context. Raises `npsim.Error` if there is no such context.
    fn select(&self, me: u8, context: u8) -> PyResult<()> {
        let mut debugger = self.travel.claim("the debugger")?;
        let selected = debugger.select(Thread { me, context });
        selected.map_err(|it| debug_error(&it))
    }

    /// Return the state at the current position as a dictionary.
    ///
    /// It has the cycle, the reason for the stop, the contexts with their states and why they
    /// sleep, rings, packets, and what each context did over the last `cycles` cycles.
    #[pyo3(signature = (*, cycles = SHOWN))]
    fn view<'py>(&self, py: Python<'py>, cycles: u64) -> PyResult<Bound<'py, PyAny>> {
        let mut debugger = self.travel.claim("the debugger")?;
        let view = debugger.detached(py, &self.stop, |debugger| {
            let from = debugger.cycle().saturating_sub(cycles);
            StopView::of(debugger, &History::of(debugger, from))
        })?;
        let json = serde_json::to_string(&view).map_err(|it| mistake(it.to_string(), ""))?;
        py.import("json")?.call_method1("loads", (json,))
    }

    /// Return the contexts that run or have exited: one dictionary for each, as in `view`.
    fn contexts<'py>(&self, py: Python<'py>) -> PyResult<Bound<'py, PyAny>> {
        self.view(py, 0)?.get_item("contexts")
    }

    /// Return the longwords of a memory, as `Chip.memory` does.
    #[pyo3(signature = (name, address = None, words = None))]
    fn memory(&self, name: &str, address: Option<u32>, words: Option<u32>) -> PyResult<Column> {
        let debugger = self.travel.claim("the debugger")?;
        memory::column(debugger.chip(), self.system.project(), name, address, words)
    }

    /// Return a bookmark of the current position, for `restore`.
    fn save(&self) -> PyResult<Bookmark> {
        let debugger = self.travel.claim("the debugger")?;
        let thread = debugger.thread();
        Ok(Bookmark {
            cycle: debugger.cycle(),
            me: thread.me,
            context: thread.context,
        })
    }

    /// Go to a bookmark that this debugger or another one of the same run saved.
    fn restore(&self, py: Python<'_>, bookmark: &Bookmark) -> PyResult<()> {
        let cycle = bookmark.cycle;
        self.travel_and_report(py, |debugger| debugger.goto(cycle))?;
        self.select(bookmark.me, bookmark.context)
    }

    fn __reduce__(&self) -> PyResult<()> {
        Err(not_pickled(
            "a debugger",
            "send the project, and a bookmark of `save`,",
        ))
    }

    fn __repr__(&self) -> PyResult<String> {
        let name = &self.system.project().name;
        Ok(format!(
            "<npsim.Debugger of {name} at cycle {}>",
            self.cycle()?
        ))
    }
}
