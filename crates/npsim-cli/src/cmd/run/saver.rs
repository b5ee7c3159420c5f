//! A run saved from time to time, and brought back to where it was saved.

use npsim::checkpoint::Checkpoint;
use npsim::checkpoint::inputs::Input;
use npsim::problem::Problem;
use npsim::session::Session;
use npsim_chip::Cycle;
use npsim_net::egress::PcapSink;

use super::Arguments;
use crate::cmd::saved_command::{self, forget};
use crate::cmd::saving::Saving;

/// Saves a run from time to time.
pub struct Saver {
    saving: Saving,
    /// The cycle of the last one; nothing has happened since if it is still that.
    saved: Option<Cycle>,
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
        let before = checkpoint.map_or(0, Checkpoint::host_nanoseconds);
        Ok(Some(Self {
            saving: Saving::new(path.clone(), every, origin, before),
            saved: None,
        }))
    }

    /// When to save next.
    pub fn next(&self) -> Cycle {
        self.saving.next()
    }

    /// Saves the run as it stands.
    pub fn save(&mut self, session: &mut Session) -> Result<(), Problem> {
        let now = session.now();
        // A session may stand short of the cycle that it was to be saved at.
        self.saving.begin(now.max(self.saving.next()));
        if self.saved != Some(now) {
            let host = self.saving.host_nanoseconds();
            Checkpoint::take(self.saving.origin(), session, host)?.write(self.saving.path())?;
            self.saved = Some(now);
        }
        Ok(())
    }

    /// The same in the middle of a run, which goes on if it cannot be saved.
    pub fn try_save(&mut self, session: &mut Session) {
        let saved = self.save(session);
        self.saving.tell(saved);
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
    session: &mut Session,
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
