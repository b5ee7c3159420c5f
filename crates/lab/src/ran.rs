//! A finished run, and the frames recorded in it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use npsim_chip::Cycle;
use npsim_chip::kernel::port_io::{Arrival, Departure};
use npsim_inspect::stats::Stats;
use npsim_net::load::Stamp;
use npsim_session::links::Tap;
use npsim_session::simulation::Ending;

use crate::observation::{DepartedFrame, LossCounts};

/// A finished run.
pub(crate) struct FinishedRun {
    /// Why it ended.
    pub ending: Ending,
    /// Counts before the window, if its beginning was known.
    pub before: (Stats, LossCounts),
    /// Counts up to each pause.
    pub at_pauses: Vec<(Stats, LossCounts)>,
    /// Counts up to the end of the run.
    pub after: (Stats, LossCounts),
    /// When the last frame arrived or left: a run that ends because it is idle
    /// counts as ended at its last frame.
    pub rest: Cycle,
}

/// Frames after the beginning of the window: when they arrived, and when and how
/// they left.
#[derive(Default)]
pub(crate) struct FrameTimes {
    pub came: Vec<Cycle>,
    pub left: Vec<(Cycle, DepartedFrame)>,
    /// When stamped frames left, over the whole run.
    pub stamps: Vec<(Cycle, Stamp)>,
}

/// Records frames from a cycle on. A chain shares one between the tap where
/// frames enter and the tap where they leave.
#[derive(Clone)]
pub(crate) struct FrameJournal {
    pub from: Cycle,
    /// Whether to record stamps, from the beginning of the run.
    pub stamps: bool,
    pub seen: Arc<Mutex<FrameTimes>>,
}

impl FrameJournal {
    pub fn seen(&self) -> MutexGuard<'_, FrameTimes> {
        self.seen.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

impl Tap for FrameJournal {
    fn arriving(&mut self, arrival: &Arrival) {
        if arrival.start >= self.from {
            self.seen().came.push(arrival.start);
        }
    }

    fn departed(&mut self, departure: &Departure<'_>) {
        if self.stamps
            && let Some(stamp) = Stamp::read(departure.bytes)
        {
            self.seen().stamps.push((departure.end, stamp));
        }
        if departure.end > self.from {
            let latency = departure
                .arrived
                .map(|arrived| departure.end.saturating_sub(arrived));
            let left = DepartedFrame::new(departure.bytes, latency);
            self.seen().left.push((departure.end, left));
        }
    }
}
