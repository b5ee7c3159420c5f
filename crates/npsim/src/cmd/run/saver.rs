//! A run saved from time to time, and brought back to where it was saved.

use std::path::PathBuf;
use std::time::{Duration, Instant};

use npsim::checkpoint::inputs::Input;
use npsim::checkpoint::{Checkpoint, Origin};
use npsim::diagnostics::render_problem;
use npsim::problem::Problem;
use npsim::session::Session;
use npsim_chip::Cycle;
use npsim_net::egress::PcapSink;

use super::Arguments;
use crate::cmd::saved_command::{self, forget};
use crate::output;

/// Saves a run from time to time.
pub struct Saver {
    path: PathBuf,
    every: Cycle,
    origin: Origin,
    before: Duration,
    started: Instant,
    next: Cycle,
    /// The cycle of the last one; nothing has happened since if it is still that.
    saved: Option<Cycle>,
    told: bool,
}

impl Saver {
    /// For a run of these inputs that is about to begin, or to go on from
    /// `checkpoint`; none if it is not to be saved. Refuses to go on with other inputs.
    pub fn new(
        arguments: &Arguments,
        checkpoint: Option<&Checkpoint>,
        hertz: u64,
        inputs: Vec<Input>,
    ) -> Result<Option<Self>, Problem> {
        let Some(path) = arguments.saving.checkpoint() else {
            return Ok(None);
        };
        let every = arguments.saving.every.cycles(hertz);
        if every == 0 {
            return Err(Problem::new(
                "`--checkpoint-every` is less than a cycle, so the run would never go on",
            )
            .help("give a longer time, such as `--checkpoint-every 1ms`"));
        }
        let origin = saved_command::origin(checkpoint.map(Checkpoint::origin), inputs)?;
        Ok(Some(Self {
            path: path.clone(),
            every,
            origin,
            before: Duration::from_nanos(checkpoint.map_or(0, Checkpoint::host_nanoseconds)),
            started: Instant::now(),
            next: 0,
            saved: None,
            told: false,
        }))
    }

    /// When to save next.
    pub fn next(&self) -> Cycle {
        self.next
    }

    /// Saves the run as it stands.
    pub fn save(&mut self, session: &mut Session<'_>) -> Result<(), Problem> {
        let host = self.before + self.started.elapsed();
        let nanoseconds = u64::try_from(host.as_nanos()).unwrap_or(u64::MAX);
        let now = session.now();
        self.next = (now.max(self.next) / self.every)
            .saturating_add(1)
            .saturating_mul(self.every);
        if self.saved != Some(now) {
            Checkpoint::take(&self.origin, session, nanoseconds)?.write(&self.path)?;
            self.saved = Some(now);
        }
        Ok(())
    }

    /// The same in the middle of a run, which a full disk does not end: the
    /// checkpoint before stays, and that is told once.
    pub fn try_save(&mut self, session: &mut Session<'_>) {
        if let Err(problem) = self.save(session)
            && !std::mem::replace(&mut self.told, true)
        {
            output::message(&render_problem(&problem));
            output::line("note: the run goes on; the previous checkpoint stays");
        }
    }
}

/// The capture of departures, at the place where it is to go on.
pub fn sink(
    arguments: &Arguments,
    checkpoint: Option<&Checkpoint>,
) -> Result<Option<PcapSink>, Problem> {
    let Some(path) = &arguments.out else {
        return Ok(None);
    };
    let sink = match checkpoint.map(Checkpoint::capture) {
        Some(Some(position)) => PcapSink::resume(path, position),
        Some(None) => {
            return Err(
                Problem::new("the checkpoint has no capture, but its command writes one")
                    .help("start the run anew"),
            );
        }
        None => match arguments.saving.checkpoint() {
            Some(checkpoint) => {
                forget(checkpoint)?;
                PcapSink::create_kept(path)
            }
            None => PcapSink::create(path),
        },
    };
    sink.map(Some)
        .map_err(|error| Problem::io("write", path, &error))
}

/// Takes the run to where the checkpoint stands.
pub fn restore(
    checkpoint: &Checkpoint,
    session: &mut Session<'_>,
    until: Option<Cycle>,
) -> Result<(), Problem> {
    if let Some(until) = until
        && until < checkpoint.cycle()
    {
        return Err(Problem::new(format!(
            "the run is at cycle {} already, after the cycle {until} of `--until`",
            checkpoint.cycle()
        ))
        .help("give a later time, or start the run anew"));
    }
    checkpoint.restore(session)
}
