//! Runs a network from its current state to its end.

use std::ops::ControlFlow;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use npsim::checkpoint::RunOrigin;
use npsim::problem::Problem;
use npsim_network::{Network, Stopped};
use npsim_network_file::checkpoint::{self, Checkpoint, NetworkProgress};
use npsim_network_file::file::NetworkFile;
use npsim_transport::time::Time;

use super::outputs::Outputs;
use super::recorded::Recorded;
use crate::cmd::run::progress::RunProgress;
use crate::cmd::saver::Saver;

/// A run in progress.
pub struct Driver<'a> {
    pub file: &'a NetworkFile,
    pub network: Network,
    pub recorded: Option<Recorded>,
    pub outputs: Outputs,
    pub run_progress: NetworkProgress,
    pub saver: Option<Saver>,
}

impl Driver<'_> {
    /// Runs to the end given by the file, or until something stops the run.
    pub fn run(
        &mut self,
        started: Instant,
        stop: &Arc<AtomicBool>,
    ) -> anyhow::Result<Option<Stopped>> {
        let mut progress = RunProgress::new(started, 0, Some(self.file.until));
        let ask = || {
            if stop.load(Ordering::Relaxed) {
                ControlFlow::Break(())
            } else {
                ControlFlow::Continue(())
            }
        };
        if self.run_progress.now == 0 && self.outputs.last_sample().is_none() {
            self.sample()?;
        }
        if let Some(saver) = &mut self.saver {
            let take = take(&mut self.network, &self.run_progress, &mut self.outputs);
            saver.save(self.run_progress.now, take)?;
        }
        let mut stopped = None;
        while self.run_progress.now < self.file.until {
            let next = self.next();
            if let Some(recorded) = &mut self.recorded {
                recorded.admit_until(next, &mut self.network)?;
            }
            let taps = &mut self.outputs.taps;
            let ran = self.network.run_to(next, taps, &ask);
            if let Some(recorded) = &mut self.recorded {
                recorded.capture_outgoing(&mut self.network);
            }
            taps.captures.check()?;
            if let Err(why) = ran {
                stopped = Some(why);
                break;
            }
            taps.sample(&self.network)?;
            if self
                .run_progress
                .finish_step(next, self.file, &mut self.network)
            {
                self.sample()?;
            }
            progress.at(next);
            if ask().is_break() {
                stopped = Some(Stopped::Interrupted);
                break;
            }
            if self.saver.as_ref().is_some_and(|it| it.next() <= next) && next < self.file.until {
                self.save();
            }
        }
        // Both can be resumed: the former with a later `--until`, the latter as if it had not been
        // interrupted.
        if matches!(stopped, None | Some(Stopped::Interrupted)) {
            self.save();
        }
        let taps = &mut self.outputs.taps;
        match stopped {
            None => stopped = self.network.end(taps, &ask).err(),
            Some(_) => self.network.flush_tap(taps),
        }
        taps.captures.check()?;
        progress.finish();
        Ok(stopped)
    }

    /// The time of the next event that the driver has to handle.
    fn next(&self) -> Time {
        let is_sampled = self.outputs.are_sampled();
        let mut next = self.run_progress.next(self.file, &self.network, is_sampled);
        if let Some(saver) = &self.saver {
            next = next.min(saver.next());
        }
        next
    }

    fn sample(&mut self) -> Result<(), Problem> {
        if self.outputs.are_sampled() {
            self.outputs.sample(&self.network)?;
        }
        Ok(())
    }

    fn save(&mut self) {
        if let Some(saver) = &mut self.saver {
            let take = take(&mut self.network, &self.run_progress, &mut self.outputs);
            saver.try_save(self.run_progress.now, take);
        }
    }
}

/// Makes a checkpoint of the run in its current state.
fn take(
    network: &mut Network,
    run_progress: &NetworkProgress,
    outputs: &mut Outputs,
) -> impl FnOnce(&RunOrigin, u64) -> Result<Checkpoint, Problem> {
    move |origin, host| {
        let positions = outputs.positions()?;
        let run_progress = NetworkProgress {
            sampled: outputs.last_sample().cloned(),
            ..run_progress.clone()
        };
        checkpoint::take(origin, network, &run_progress, positions, host)
    }
}
