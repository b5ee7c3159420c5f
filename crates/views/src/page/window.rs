//! Which short stretch of a run is worth a close look.

use npsim_chip::Cycle;
use npsim_session::report::Report;
use npsim_session::series::{PlaceKind, Series};

/// Cycles that are looked at closely.
pub const LENGTH: Cycle = 3000;

/// A stretch of a run and why it was chosen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct CloseUp {
    /// First cycle to record.
    pub from: Cycle,
    /// First cycle after it.
    pub until: Cycle,
    /// Whether the frame that is lost first in it stands in the middle.
    pub around_loss: bool,
    /// For people: `the first frame is lost`.
    pub why: String,
}

impl CloseUp {
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
            let before = index.checked_sub(1).map_or(0, |index| samples[index].cycle);
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
                series
                    .places()
                    .iter()
                    .zip(&sample.fills)
                    .filter_map(|(place, fill)| {
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

#[cfg(test)]
mod tests {
    use npsim_chip::stats::{PortStats, Stats};
    use npsim_session::links::Traffic;
    use npsim_session::report::Report;
    use npsim_session::series::{Fill, Place, PlaceKind, Sample, Series};
    use npsim_session::simulation::Ending;

    use super::{CloseUp, LENGTH};

    /// A run of ten intervals of 10,000 cycles: what lay on the ring at each look.
    fn moment(fills: [u64; 10]) -> CloseUp {
        let place = Place {
            kind: PlaceKind::Ring { number: 0 },
            name: "WORK".into(),
            unit: "longwords",
            capacity: Some(100),
            full_at: Some(90),
        };
        let mut series = Series::with(vec![place], 10_000, 64);
        for (n, found) in (1..).zip(fills) {
            let port = PortStats {
                received_frames: n,
                ..PortStats::default()
            };
            series.push(Sample {
                cycle: n * 10_000,
                stats: Stats {
                    ports: vec![port],
                    ..Stats::default()
                },
                fills: vec![Fill::of(found, Some(90))],
            });
        }
        let chip = Stats {
            cycles: 100_000,
            ..Stats::default()
        };
        let report = Report::new("made", &Ending::Drained, None, &Traffic::default(), chip);
        CloseUp::of(&report, &series)
    }

    #[test]
    fn the_fullest_place_is_worth_a_look_and_else_the_middle() {
        let full = moment([0, 0, 20, 0, 0, 0, 60, 60, 0, 0]);
        assert_eq!(full.why, "when WORK is fullest");
        assert!((full.from..full.until).contains(&70_000));
        assert_eq!(full.until - full.from, LENGTH);
        let empty = moment([0; 10]);
        assert_eq!(empty.why, "in the middle of the traffic");
        assert!((empty.from..empty.until).contains(&50_000));
        let at_the_end = moment([0, 0, 0, 0, 0, 0, 0, 0, 0, 60]);
        assert_eq!((at_the_end.from, at_the_end.until), (97_000, 100_000));
    }
}
