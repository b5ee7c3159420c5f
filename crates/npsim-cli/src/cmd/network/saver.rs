//! A network saved from time to time, and brought back to where it was saved.

use std::path::Path;

use npsim::problem::Problem;
use npsim_network::Network;
use npsim_network::checkpoint::{Checkpoint, Standing, inputs_of};
use npsim_network::file::NetworkFile;
use npsim_transport::time::{SECOND, Time};

use super::arguments::Arguments;
use super::outputs::Outputs;
use crate::cmd::saved_command;
use crate::cmd::saving::Saving;

/// Checkpoints of a run whose distance is not given.
const CHECKPOINTS: u64 = 20;

/// Saves a run from time to time.
pub struct Saver(Saving);

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
        let origin = saved_command::origin(checkpoint.map(Checkpoint::origin), inputs)?;
        let before = checkpoint.map_or(0, Checkpoint::host_nanoseconds);
        Ok(Some(Self(Saving::new(
            saved.clone(),
            every,
            origin,
            before,
        ))))
    }

    /// When to save next.
    pub const fn next(&self) -> Time {
        self.0.next()
    }

    /// Saves the run as it stands.
    pub fn save(
        &mut self,
        network: &mut Network,
        standing: &Standing,
        outputs: &mut Outputs,
    ) -> Result<(), Problem> {
        self.0.begin(standing.now);
        let host = self.0.host_nanoseconds();
        let positions = outputs.positions()?;
        let standing = Standing {
            sampled: outputs.last_sample().cloned(),
            ..standing.clone()
        };
        Checkpoint::take(self.0.origin(), network, &standing, positions, host)?.write(self.0.path())
    }

    /// The same in the middle of a run, which goes on if it cannot be saved.
    pub fn try_save(&mut self, network: &mut Network, standing: &Standing, outputs: &mut Outputs) {
        let saved = self.save(network, standing, outputs);
        self.0.tell(saved);
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
