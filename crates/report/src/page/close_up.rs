//! Chooses a short stretch of a run for a close-up.

use npsim_observe::lanes::{CapturePoints, ContextLanes};
use npsim_observe::series::Series;
use npsim_session::report::NodeReport;

/// A stretch of a run, and why it was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CloseUp<'a> {
    /// The activity of every context in it.
    pub lanes: &'a ContextLanes,
    /// The reason in words: `when the first frame is lost`.
    pub why: String,
}

impl<'a> CloseUp<'a> {
    /// Chooses a stretch of a run: before a fault, at the first loss, at the
    /// largest backlog, in the middle of the traffic, or at the start. `None` if
    /// nothing was recorded.
    #[must_use]
    pub fn of(report: &NodeReport, series: &Series, moments: &'a CapturePoints) -> Option<Self> {
        if let (Some(_), Some(lanes)) = (&report.fault, &moments.end) {
            let why = "before the run stopped".to_owned();
            return Some(Self { lanes, why });
        }
        if let Some(lanes) = &moments.loss {
            let why = "when the first frame is lost".to_owned();
            return Some(Self { lanes, why });
        }
        if let Some((place, lanes)) = &moments.fullest {
            let place = series.places().get(*place)?;
            let why = format!("when {} is fullest", place.name);
            return Some(Self { lanes, why });
        }
        let total = series
            .samples()
            .last()
            .map_or(0, |sample| sample.frames().0);
        let half = moments
            .spread
            .iter()
            .find(|(frames, _)| total > 0 && frames * 2 >= total)
            .or(moments.spread.last().filter(|_| total > 0));
        let (lanes, why) = if let Some((_, lanes)) = half {
            (lanes, "in the middle of the traffic")
        } else {
            let first = moments.spread.first().map(|(_, lanes)| lanes);
            (first.or(moments.end.as_ref())?, "at the start")
        };
        Some(Self {
            lanes,
            why: why.to_owned(),
        })
    }
}
