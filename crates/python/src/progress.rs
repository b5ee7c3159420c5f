//! The progress of a sweep or a run, for a Python callable.

use std::sync::OnceLock;
use std::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};
use std::time::Instant;

use npsim::chip::Cycle;
use npsim::lab::campaign;
use npsim::lab::points::Point;
use npsim::lab::store::PointOutcome;
use pyo3::exceptions::PyTypeError;
use pyo3::prelude::*;
use pyo3::types::PyBool;

use crate::detached::{StopFlag, attended};

/// The progress of a sweep or a run; a run counts as one point.
#[pyclass(frozen, get_all, module = "npsim")]
pub struct Progress {
    /// The number of finished points, including those finished earlier.
    done: usize,
    /// The number of all points.
    total: usize,
    /// The fraction of the simulation that is done, from 0 to 1. It also grows within a point; for
    /// a run without a known end, it is 0 until the run ends.
    fraction: f64,
    /// Seconds since the start.
    seconds: f64,
    /// Estimated remaining seconds at the present rate; `None` as long as there is no estimate.
    remaining: Option<f64>,
    /// Seconds of simulated time; `None` for a sweep, where each point has its own.
    simulated: Option<f64>,
}

#[pymethods]
impl Progress {
    fn __str__(&self) -> String {
        let points = match self.simulated {
            Some(simulated) => format!("{:.3} ms simulated", simulated * 1e3),
            None => format!("{} of {} points", self.done, self.total),
        };
        let so_far = clock(self.seconds);
        if self.done == self.total {
            return format!("{points}, {so_far}");
        }
        if self.fraction == 0.0 {
            return format!("{points}, {so_far}");
        }
        let share = self.fraction * 100.0;
        match self.remaining {
            Some(left) => format!("{points}, {share:.0} %, {so_far}, {} to go", clock(left)),
            None => format!("{points}, {share:.0} %, {so_far}"),
        }
    }

    fn __repr__(&self) -> String {
        format!("<npsim.Progress: {}>", self.__str__())
    }
}

/// Formats seconds as minutes and seconds.
fn clock(seconds: f64) -> String {
    let seconds = seconds as u64;
    format!("{}:{:02}", seconds / 60, seconds % 60)
}

/// Tracks the progress of a campaign, from any thread.
#[derive(Debug)]
pub struct Tally {
    begun: Instant,
    /// When points began to run, after the check which of them need to.
    running: OnceLock<Instant>,
    points: usize,
    to_run: AtomicUsize,
    finished: AtomicUsize,
    cycles: AtomicU64,
    simulated: AtomicU64,
}

impl Tally {
    /// Creates a tally of this many points, none of them known to be done.
    pub fn new(points: usize) -> Self {
        Self {
            begun: Instant::now(),
            running: OnceLock::new(),
            points,
            to_run: points.into(),
            finished: 0.into(),
            cycles: 0.into(),
            simulated: 0.into(),
        }
    }

    /// The current progress.
    pub fn progress(&self) -> Progress {
        let to_run = self.to_run.load(Ordering::Relaxed);
        let left = to_run.saturating_sub(self.finished.load(Ordering::Relaxed));
        let cycles = self.cycles.load(Ordering::Relaxed);
        let simulated = self.simulated.load(Ordering::Relaxed).min(cycles);
        let fraction = match (left, cycles) {
            (0, _) => 1.0,
            (_, 0) => 0.0,
            _ => simulated as f64 / cycles as f64,
        };
        let seconds = self.begun.elapsed().as_secs_f64();
        Progress {
            done: self.points - left,
            total: self.points,
            fraction,
            seconds,
            remaining: self.running.get().filter(|_| fraction > 0.0).map(|since| {
                let seconds = since.elapsed().as_secs_f64();
                seconds * (1.0 - fraction) / fraction
            }),
            simulated: None,
        }
    }
}

impl campaign::Progress for Tally {
    fn starting(&self, to_run: usize, cycles: Cycle, _: usize) {
        self.running.get_or_init(Instant::now);
        self.cycles.store(cycles, Ordering::Relaxed);
        self.to_run.store(to_run, Ordering::Relaxed);
    }

    fn advanced(&self, cycles: Cycle) {
        self.simulated.fetch_add(cycles, Ordering::Relaxed);
    }

    fn finished(&self, _: &Point, _: &PointOutcome) {
        self.finished.fetch_add(1, Ordering::Relaxed);
    }
}

/// Tracks the progress of a run, from any thread.
#[derive(Debug)]
pub struct RunTally {
    begun: Instant,
    /// The end of the run, if known, and the number of clock units per second.
    until: OnceLock<(Option<u64>, f64)>,
    now: AtomicU64,
    is_over: AtomicBool,
}

impl RunTally {
    /// Creates the tally of a run that begins.
    pub fn new() -> Self {
        Self {
            begun: Instant::now(),
            until: OnceLock::new(),
            now: 0.into(),
            is_over: false.into(),
        }
    }

    /// Sets the end of the run, if known, in units of a clock with this many units per second.
    pub fn ends(&self, until: Option<u64>, second: f64) {
        self.until.get_or_init(|| (until, second));
    }

    /// Records the time that the run has reached.
    pub fn at(&self, now: u64) {
        self.now.store(now, Ordering::Relaxed);
    }

    fn progress(&self) -> Progress {
        let is_over = self.is_over.load(Ordering::Relaxed);
        let now = self.now.load(Ordering::Relaxed);
        let (until, second) = self.until.get().copied().unwrap_or((None, 1.0));
        let fraction = match until {
            _ if is_over => 1.0,
            Some(until) if until > 0 => (now as f64 / until as f64).min(1.0),
            _ => 0.0,
        };
        let seconds = self.begun.elapsed().as_secs_f64();
        Progress {
            done: is_over.into(),
            total: 1,
            fraction,
            seconds,
            remaining: (fraction > 0.0).then(|| seconds * (1.0 - fraction) / fraction),
            simulated: Some(now as f64 / second),
        }
    }
}

/// Runs work as [`attended`] does, while reporting its progress as `progress` requests.
pub fn run_reporting_progress<T: Send>(
    py: Python<'_>,
    (progress, stop): (Option<Bound<'_, PyAny>>, &StopFlag),
    tally: &RunTally,
    work: impl FnOnce() -> T + Send,
) -> PyResult<T> {
    let mut shown = ProgressReporter::of(py, progress)?;
    let attend = |py: Python<'_>| shown.show(py, tally.progress());
    let ran = attended(py, stop, attend, work).and_then(|done| {
        tally.is_over.store(true, Ordering::Relaxed);
        shown.show(py, tally.progress())?;
        Ok(done)
    });
    let closed = shown.close(py);
    let done = ran?;
    closed?;
    Ok(done)
}

/// The callable that receives the progress, and what it last received.
#[derive(Default)]
pub struct ProgressReporter {
    call: Option<Py<PyAny>>,
    last: Option<(usize, f64, Option<f64>)>,
}

impl ProgressReporter {
    /// Interprets `progress`: a callable; `False` for nothing; `True` for a line; by default, a line if
    /// in a terminal or notebook.
    pub fn of(py: Python<'_>, progress: Option<Bound<'_, PyAny>>) -> PyResult<Self> {
        let line = |always: bool| -> PyResult<Option<Py<PyAny>>> {
            let line = py
                .import("npsim._progress")?
                .call_method1("line", (always,))?;
            Ok(Some(line.unbind()).filter(|line| !line.is_none(py)))
        };
        let call = match progress {
            None => line(false)?,
            Some(asked) => match asked.cast::<PyBool>() {
                Ok(asked) if asked.is_true() => line(true)?,
                Ok(_) => None,
                Err(_) if asked.is_callable() => Some(asked.unbind()),
                Err(_) => {
                    let kind = asked.get_type().name()?;
                    let message = format!("`progress` is a {kind}, not a callable, True or False");
                    return Err(PyTypeError::new_err(message));
                }
            },
        };
        Ok(Self { call, last: None })
    }

    /// Calls it if there is news.
    pub fn show(&mut self, py: Python<'_>, progress: Progress) -> PyResult<()> {
        let Some(call) = &self.call else {
            return Ok(());
        };
        let now = Some((progress.done, progress.fraction, progress.simulated));
        if self.last != now {
            self.last = now;
            call.call1(py, (progress,))?;
        }
        Ok(())
    }

    /// Removes a line, however the work ended.
    pub fn close(&self, py: Python<'_>) -> PyResult<()> {
        match &self.call {
            Some(call) if call.bind(py).get_type().module()? == "npsim._progress" => {
                call.call_method0(py, "close").map(|_| ())
            }
            _ => Ok(()),
        }
    }
}
