//! A network saved from time to time, and brought back to where it was saved.

use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use npsim::checkpoint::Origin;
use npsim::diagnostics::render_problem;
use npsim::problem::Problem;
use npsim_network::Network;
use npsim_network::checkpoint::{Checkpoint, Standing, inputs_of};
use npsim_network::file::NetworkFile;
use npsim_transport::time::{SECOND, Time};

use super::arguments::Arguments;
use super::outputs::Outputs;
use crate::cmd::saved_command;
use crate::output;

/// Checkpoints of a run whose distance is not given.
const CHECKPOINTS: u64 = 20;

/// Saves a run from time to time.
pub struct Saver {
    path: PathBuf,
    every: Time,
    origin: Origin,
    before: Duration,
    started: Instant,
    next: Time,
    told: bool,
}

impl Saver {
    /// For a run that is about to begin, or to go on from `checkpoint`; none if it is not to be saved.
    /// Refuses to go on with other inputs. The network has not run yet.
    pub fn new(
        arguments: &Arguments,
        checkpoint: Option<&Checkpoint>,
        file: &NetworkFile,
        path: &Path,
        network: &Network,
    ) -> Result<Option<Self>, Problem> {
        let Some(saved) = &arguments.saving.checkpoint else {
            return Ok(None);
        };
        let text = std::fs::read(path).map_err(|error| Problem::io("read", path, &error))?;
        let inputs = inputs_of(path, &text, network)?;
        let every = { arguments.saving.checkpoint_every }
            .map_or(file.until / CHECKPOINTS, |it| it.0 / file.scale);
        Ok(Some(Self {
            path: saved.clone(),
            every: every.max(1),
            origin: saved_command::origin(checkpoint.map(Checkpoint::origin), inputs)?,
            before: Duration::from_nanos(checkpoint.map_or(0, Checkpoint::host_nanoseconds)),
            started: Instant::now(),
            next: 0,
            told: false,
        }))
    }

    /// When to save next.
    pub const fn next(&self) -> Time {
        self.next
    }

    /// Saves the run as it stands.
    pub fn save(
        &mut self,
        network: &mut Network,
        standing: &Standing,
        outputs: &mut Outputs,
    ) -> Result<(), Problem> {
        let host = self.before + self.started.elapsed();
        let nanoseconds = u64::try_from(host.as_nanos()).unwrap_or(u64::MAX);
        self.next = (standing.now / self.every)
            .saturating_add(1)
            .saturating_mul(self.every);
        let positions = outputs.positions()?;
        let standing = Standing {
            sampled: outputs.last_sample().cloned(),
            ..standing.clone()
        };
        Checkpoint::take(&self.origin, network, &standing, positions, nanoseconds)?
            .write(&self.path)
    }

    /// The same in the middle of a run, which a full disk does not end: the checkpoint before stays,
    /// and that is told once.
    pub fn try_save(&mut self, network: &mut Network, standing: &Standing, outputs: &mut Outputs) {
        if let Err(problem) = self.save(network, standing, outputs)
            && !std::mem::replace(&mut self.told, true)
        {
            output::message(&render_problem(&problem));
            output::line("note: the run goes on; the previous checkpoint stays");
        }
    }
}

/// Takes the run to where the checkpoint stands.
pub fn restore(
    checkpoint: &Checkpoint,
    network: &mut Network,
    file: &NetworkFile,
) -> Result<Standing, Problem> {
    let seconds = |time: Time| time as f64 * file.scale as f64 / SECOND as f64;
    if file.until < checkpoint.now() {
        return Err(Problem::new(format!(
            "the run is at {} s already, after the {} s of `--until`",
            seconds(checkpoint.now()),
            seconds(file.until)
        ))
        .help("give a later time, or start the run anew"));
    }
    checkpoint.restore(network)
}
