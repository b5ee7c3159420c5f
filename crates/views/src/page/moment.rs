//! Which short stretch of a run is worth a close look.

use npsim_chip::Cycle;
use npsim_system::report::Report;
use npsim_system::series::{PlaceKind, Series};

/// Cycles that are looked at closely.
pub const LENGTH: Cycle = 3000;

/// A stretch of a run and why it was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Moment {
    /// First cycle to record.
    pub from: Cycle,
    /// First cycle after it.
    pub until: Cycle,
    /// Whether the frame that is lost first in it stands in the middle.
    pub around_loss: bool,
    /// For people: `the first frame is lost`.
    pub why: String,
}

impl Moment {
    fn around(cycle: Cycle, end: Cycle, why: String) -> Self {
        let from = cycle.saturating_sub(LENGTH / 2);
        let until = (from + LENGTH).min(end.max(1));
        Self {
            from: until.saturating_sub(LENGTH),
            until,
            around_loss: false,
            why,
        }
    }

    /// The moment of a run: before a fault, the first loss, where most had piled
    /// up, in the middle of the traffic, or at the start.
    #[must_use]
    pub fn of(report: &Report, series: &Series) -> Self {
        let end = report.chip.cycles;
        let samples = series.samples();
        if let Some(fault) = &report.fault {
            let why = "before the run stopped".to_owned();
            return Self::around(fault.cycle, fault.cycle.min(end), why);
        }
        let lossy = samples.iter().position(|sample| {
            let (media, microcode) = sample.dropped();
            media + microcode > 0
        });
        if let Some(index) = lossy {
            let before = index
                .checked_sub(1)
                .map_or(0, |index| samples[index].cycle);
            let sample = &samples[index];
            let by_media = sample.dropped().0 > 0;
            let from = before.saturating_sub(LENGTH / 2);
            return Self {
                from,
                until: (sample.cycle + LENGTH / 2).min(end).max(from + 1),
                around_loss: by_media,
                why: "when the first frame is lost".to_owned(),
            };
        }
        let deepest = samples
            .iter()
            .flat_map(|sample| {
                series.places().iter().zip(&sample.fills).filter_map(|(place, fill)| {
                    let capacity = place.capacity.filter(|&capacity| {
                        capacity > 0 && !matches!(place.kind, PlaceKind::ReceiveFifo { .. })
                    })?;
                    Some((fill.most * 1000 / capacity, sample.cycle, place))
                })
            })
            .filter(|(share, ..)| *share >= 100)
            .max_by_key(|&(share, cycle, _)| (share, std::cmp::Reverse(cycle)));
        if let Some((_, cycle, place)) = deepest {
            let why = format!("when {} is fullest", place.name);
            return Self::around(cycle, end, why);
        }
        let total = samples.last().map_or(0, |sample| sample.frames().0);
        let half = samples
            .iter()
            .find(|sample| total > 0 && sample.frames().0 * 2 >= total);
        match half {
            Some(sample) => Self::around(sample.cycle, end, "in the middle of the traffic".into()),
            None => Self::around(0, end, "at the start".into()),
        }
    }
}
