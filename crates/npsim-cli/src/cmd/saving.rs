//! When a run is saved and to where: the same for a chip and for a network.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use npsim::checkpoint::Origin;
use npsim::diagnostics::render_problem;
use npsim::problem::Problem;

use crate::output;

/// A run that is saved from time to time. Times are in the run's own unit, cycles or picoseconds.
pub struct Saving {
    path: PathBuf,
    every: u64,
    origin: Origin,
    /// How long the run had taken before this process.
    before: Duration,
    started: Instant,
    next: u64,
    told: bool,
}

impl Saving {
    /// Every so often to `path`, at least each unit of time; the run had taken `before` nanoseconds of
    /// its host when this process began.
    pub fn new(path: PathBuf, every: u64, origin: Origin, before: u64) -> Self {
        Self {
            path,
            every: every.max(1),
            origin,
            before: Duration::from_nanos(before),
            started: Instant::now(),
            next: 0,
            told: false,
        }
    }

    /// The file.
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the run comes from.
    pub const fn origin(&self) -> &Origin {
        &self.origin
    }

    /// When to save next.
    pub const fn next(&self) -> u64 {
        self.next
    }

    /// The run is about to be saved as it stands at a time: the next is due at a later multiple.
    pub const fn begin(&mut self, now: u64) {
        self.next = (now / self.every)
            .saturating_add(1)
            .saturating_mul(self.every);
    }

    /// How long the run has taken of its host until now.
    pub fn host_nanoseconds(&self) -> u64 {
        let host = self.before + self.started.elapsed();
        u64::try_from(host.as_nanos()).unwrap_or(u64::MAX)
    }

    /// What came of saving in the middle of a run, which a full disk does not end: the checkpoint
    /// before stays, and that is told once.
    pub fn tell(&mut self, saved: Result<(), Problem>) {
        if let Err(problem) = saved
            && !std::mem::replace(&mut self.told, true)
        {
            output::message(&render_problem(&problem));
            output::line("note: the run goes on; the previous checkpoint stays");
        }
    }
}
