//! When a run ends.

use npsim_net::recording::RecordingSurvey;
use npsim_project::problem::Problem;
use npsim_project::quantity::Time;
use npsim_session::simulation::RunSettings;

use crate::traffic::TrafficSource;

/// Simulated milliseconds after which a run with neither traffic nor an end time is abandoned; a
/// run that ends without traffic ends long before that.
const PATIENCE_MS: u64 = 100;

/// The limits that end a run, besides checks.
#[derive(Clone, Copy, Debug)]
pub struct RunLimits {
    /// The latest time at which the run stops.
    pub until: Option<Time>,
    /// How long the media interface must be idle after the last frame.
    pub drain: Time,
}

impl Default for RunLimits {
    fn default() -> Self {
        Self {
            until: None,
            // 100 us.
            drain: Time::Picoseconds(100_000_000),
        }
    }
}

impl RunLimits {
    /// Whether nothing determines when a run with this traffic ends, so that it is abandoned after
    /// a tenth of a simulated second.
    #[must_use]
    pub fn is_unbounded(&self, source: &TrafficSource<'_>) -> bool {
        !source.has_traffic() && self.until.is_none()
    }

    /// The settings of a run with this traffic: those of `machine`, with these limits. `hertz` is
    /// the clock of the microengines.
    #[must_use]
    pub fn settings(
        &self,
        machine: RunSettings,
        hertz: u64,
        source: &TrafficSource<'_>,
    ) -> RunSettings {
        let recording = source.recording();
        // A recorded run ends where the recording ends; until then the core may have something to
        // send.
        let end = recording
            .and_then(RecordingSurvey::end)
            .filter(|_| self.until.is_none());
        let patience = || {
            self.is_unbounded(source)
                .then(|| hertz / 1000 * PATIENCE_MS)
        };
        RunSettings {
            until: match self.until {
                Some(time) => Some(time.cycles(hertz)),
                None => end.or_else(patience),
            },
            drain: (source.has_traffic() && end.is_none()).then(|| self.drain.cycles(hertz)),
            seed: machine.seed.or_else(|| recording?.head.seed),
            open: recording.is_some(),
            ..machine
        }
    }
}

/// The error for a run that was abandoned after a tenth of a simulated second.
#[must_use]
pub fn endless_run_problem() -> Problem {
    Problem::new(format!(
        "the program was still running after {PATIENCE_MS} ms of simulated time"
    ))
    .help("say how long it is to run, such as `--until 1ms`, or give it traffic with `--trace IN.pcap` or `--load 0.5`")
}
