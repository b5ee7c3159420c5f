//! Saves a run at intervals.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use npsim::checkpoint::inputs::CheckpointInput;
use npsim::checkpoint::{CheckpointFile, Outputs, RunOrigin};
use npsim::diagnostics::render_problem;
use npsim::problem::Problem;

use super::saved_command;
use crate::{bundle, output};

/// Saves a run at intervals. Times are in the run's own unit, cycles or picoseconds.
pub struct Saver {
    path: PathBuf,
    every: u64,
    origin: RunOrigin,
    /// The host time that the run took before this process.
    before: Duration,
    started: Instant,
    next: u64,
    /// The time of the last checkpoint; nothing has happened since if it is equal to the current
    /// time.
    saved: Option<u64>,
    warned: bool,
}

impl Saver {
    /// For a run with these inputs that is about to start, or to be resumed from `checkpoint`, and
    /// is saved to `path` at intervals of `every`, at least 1; `None` without a path.
    ///
    /// # Errors
    /// Returns an error if the inputs cannot be read, or are not those of the checkpoint.
    pub fn new<O: Outputs>(
        path: Option<&Path>,
        checkpoint: Option<&CheckpointFile<O>>,
        every: u64,
        inputs: impl FnOnce() -> Result<Vec<CheckpointInput>, Problem>,
    ) -> Result<Option<Self>, Problem> {
        let Some(path) = path else {
            return Ok(None);
        };
        let before = checkpoint.map_or(0, CheckpointFile::host_nanoseconds);
        Ok(Some(Self {
            path: path.to_owned(),
            every,
            origin: saved_command::origin(checkpoint.map(CheckpointFile::origin), inputs()?)?,
            before: Duration::from_nanos(before),
            started: Instant::now(),
            next: 0,
            saved: None,
            warned: false,
        }))
    }

    /// The time of the next checkpoint.
    pub const fn next(&self) -> u64 {
        self.next
    }

    /// Saves the run as it is at `now`, in the checkpoint that `take` makes of its origin and of
    /// its host time in nanoseconds.
    pub fn save<O: Outputs>(
        &mut self,
        now: u64,
        take: impl FnOnce(&RunOrigin, u64) -> Result<CheckpointFile<O>, Problem>,
    ) -> Result<(), Problem> {
        // A run may have stopped short of the time at which it was to be saved.
        let reached = now.max(self.next) / self.every;
        self.next = reached.saturating_add(1).saturating_mul(self.every);
        if self.saved != Some(now) {
            let taken = if bundle::is_guest() {
                Duration::ZERO
            } else {
                self.started.elapsed()
            };
            let host = self.before + taken;
            let host = u64::try_from(host.as_nanos()).unwrap_or(u64::MAX);
            take(&self.origin, host)?.write(&self.path)?;
            self.saved = Some(now);
        }
        Ok(())
    }

    /// Like [`Self::save`], in the middle of a run, which a full disk does not end: the previous
    /// checkpoint remains, and a message is printed once.
    pub fn try_save<O: Outputs>(
        &mut self,
        now: u64,
        take: impl FnOnce(&RunOrigin, u64) -> Result<CheckpointFile<O>, Problem>,
    ) {
        if let Err(problem) = self.save(now, take)
            && !std::mem::replace(&mut self.warned, true)
        {
            output::message(&render_problem(&problem));
            output::line("note: the run goes on; the previous checkpoint stays");
        }
    }
}

/// Rejects an end of a run before the time of its checkpoint; `shown` formats a time.
pub fn refuse_earlier_end<O: Outputs>(
    checkpoint: &CheckpointFile<O>,
    until: Option<u64>,
    shown: impl Fn(u64) -> String,
) -> Result<(), Problem> {
    let now = checkpoint.time();
    match until.filter(|until| *until < now) {
        None => Ok(()),
        Some(until) => Err(Problem::new(format!(
            "the run is at {} already, after the {} of `--until`",
            shown(now),
            shown(until)
        ))
        .help("give a later time, or restart the run")),
    }
}
