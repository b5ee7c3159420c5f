//! A run saved from time to time.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use npsim::checkpoint::inputs::CheckpointInput;
use npsim::checkpoint::{CheckpointFile, Outputs, RunOrigin};
use npsim::diagnostics::render_problem;
use npsim::problem::Problem;

use super::saved_command;
use crate::{bundle, output};

/// Saves a run from time to time. Times are in the run's own unit, cycles or picoseconds.
pub struct Saver {
    path: PathBuf,
    every: u64,
    origin: RunOrigin,
    /// How long the run had taken before this process.
    before: Duration,
    started: Instant,
    next: u64,
    /// The time of the last checkpoint; nothing has happened since if it is still that.
    saved: Option<u64>,
    warned: bool,
}

impl Saver {
    /// For a run of these inputs that is about to begin, or to go on from `checkpoint`, and is
    /// saved to `path` each `every`, at least 1; none without a path.
    ///
    /// # Errors
    /// The inputs cannot be read, or are not those of the checkpoint.
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

    /// When to save next.
    pub const fn next(&self) -> u64 {
        self.next
    }

    /// Saves the run as it stands at a time, with what `take` makes of its origin and of the
    /// nanoseconds that it has taken of its host.
    pub fn save<O: Outputs>(
        &mut self,
        now: u64,
        take: impl FnOnce(&RunOrigin, u64) -> Result<CheckpointFile<O>, Problem>,
    ) -> Result<(), Problem> {
        // A run may stand short of the time at which it was to be saved.
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

    /// As [`Self::save`], in the middle of a run, which a full disk does not end: the previous
    /// checkpoint stays, and a message says so once.
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

/// Refuses to end a run before the time at which its checkpoint stands; `shown` writes a time.
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
        .help("give a later time, or start the run anew")),
    }
}
