//! A run that is over, and the frames that were seen in it.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use npsim_chip::Cycle;
use npsim_chip::kernel::port_io::{Arrival, Departure};
use npsim_inspect::stats::Stats;
use npsim_net::load::Stamp;
use npsim_session::links::Tap;
use npsim_session::simulation::Ending;

use crate::observation::{DepartedFrame, LossCounts};

/// A run that is over.
pub(crate) struct FinishedRun {
    /// Why.
    pub ending: Ending,
    /// What was counted before the window, where its begin was known.
    pub before: (Stats, LossCounts),
    /// What was counted up to each pause.
    pub at_pauses: Vec<(Stats, LossCounts)>,
    /// What was counted up to its end.
    pub after: (Stats, LossCounts),
    /// When the last frame had come or gone: a run that rests has ended with its
    /// last frame, not with the rest.
    pub rest: Cycle,
}

/// Frames after the begin of the window: when they came, when and how they left.
#[derive(Default)]
pub(crate) struct FrameTimes {
    pub came: Vec<Cycle>,
    pub left: Vec<(Cycle, DepartedFrame)>,
    /// When stamped frames left, of the whole run.
    pub stamps: Vec<(Cycle, Stamp)>,
}

/// Notes frames from a cycle on. In a chain there is one where frames come in and
/// one where they leave.
#[derive(Clone)]
pub(crate) struct FrameJournal {
    pub from: Cycle,
    /// Whether stamps are noted, from the begin of the run on.
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
