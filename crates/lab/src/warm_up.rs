//! Detects where a run has settled and the measurement can begin.
//!
//! A run is cut into batches of equal time, and the frames that left in each give two
//! values: their number, and how long they were inside on average. The best place to
//! truncate a series is where the sum of squared deviations of the remaining values,
//! divided by the square of their number, is least (the marginal standard error rule:
//! White, 1997). Initial values that differ from the others make this larger, so they are
//! dropped. The later of the places that the two series give is used.

use npsim_chip::Cycle;

use crate::observation::DepartedFrame;

/// Number of batches in the longest warm-up.
const BATCHES: u64 = 40;

/// The measurement window of a point, in cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct MeasureWindow {
    /// Time before counting begins; the maximum if it is detected.
    pub warm_up: u64,
    /// Whether the warm-up is detected from the run.
    pub detected: bool,
    /// The length; `None` if the run continues until the traffic is handled.
    pub measure: Option<u64>,
}

/// The beginning of a window.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct WindowStart {
    /// The index of the pause.
    pub pause: usize,
    /// The cycle.
    pub cycle: Cycle,
    /// Whether all series had settled before the longest warm-up was over.
    pub settled: bool,
}

/// The cycles at which a window may begin; empty if its beginning is given. Cycle 0 is
/// not among them, since the first frames take time to pass through.
#[must_use]
pub(crate) fn pauses(window: MeasureWindow) -> Vec<Cycle> {
    if !window.detected {
        return Vec::new();
    }
    let batch = (window.warm_up / BATCHES).max(1);
    let batches = (window.warm_up / batch).max(1);
    (1..=batches).map(|n| n * batch).collect()
}

/// Determines where the window of a run that ended at `until` begins, from the frames
/// that left and their times.
pub(crate) fn detect(
    left: &[(Cycle, DepartedFrame)],
    until: Cycle,
    pauses: &[Cycle],
) -> WindowStart {
    let (Some(&batch), Some(&most)) = (pauses.first(), pauses.last()) else {
        return WindowStart {
            pause: 0,
            cycle: 0,
            settled: true,
        };
    };
    let batches = (until / batch) as usize;
    let mut frames = vec![0_u64; batches];
    let mut inside = vec![(0_u64, 0_u64); batches];
    for (end, frame) in left {
        // A last bit belongs to the cycle that it ends.
        let at = (end.saturating_sub(1) / batch) as usize;
        let Some(count) = frames.get_mut(at) else {
            continue;
        };
        *count += 1;
        if let Some(latency) = frame.latency {
            inside[at].0 += latency;
            inside[at].1 += 1;
        }
    }
    let frames: Vec<f64> = frames.into_iter().map(|count| count as f64).collect();
    // In a batch without frames, the previous latency is kept.
    let mut last = 0.0;
    let inside: Vec<f64> = inside
        .into_iter()
        .map(|(sum, count)| {
            if count > 0 {
                last = sum as f64 / count as f64;
            }
            last
        })
        .collect();
    let cut = truncation(&frames, 0.5).max(truncation(&inside, 0.0));
    // Batch n ends at pause n, and the first batch never counts.
    let pause = cut.saturating_sub(1).min(pauses.len() - 1);
    WindowStart {
        pause,
        cycle: pauses[pause],
        settled: (cut as u64) * batch < most,
    }
}

/// The relative difference below which batches are considered equal: smaller differences
/// are no sign of a warm-up.
const SETTLED_TOLERANCE: f64 = 0.01;

/// The number of initial values of a series to drop; `resolution` is the precision of its
/// values. The last fifth is never considered alone: a few values that are close by
/// chance would look settled.
fn truncation(series: &[f64], resolution: f64) -> usize {
    let last = series.len() * 4 / 5;
    let mean = series.iter().sum::<f64>() / series.len().max(1) as f64;
    let least = resolution.max(SETTLED_TOLERANCE * mean.abs());
    let mut best = (0, f64::INFINITY);
    let (mut sum, mut squares) = (0.0, 0.0);
    for cut in (0..series.len()).rev() {
        sum += series[cut];
        squares += series[cut] * series[cut];
        if cut > last {
            continue;
        }
        let count = (series.len() - cut) as f64;
        let spread = (squares - sum * sum / count).max(0.0) + count * least * least;
        let error = spread / (count * count);
        if error <= best.1 {
            best = (cut, error);
        }
    }
    best.0
}

#[cfg(test)]
mod tests {
    use super::{MeasureWindow, detect, pauses, truncation};
    use crate::observation::DepartedFrame;

    #[test]
    fn truncation_drops_the_transient() {
        assert_eq!(truncation(&[4.0; 50], 0.0), 0);
        let ramp: Vec<f64> = (0..50).map(|n| f64::from(n.min(12))).collect();
        assert_eq!(truncation(&ramp, 0.0), 12);
        // Noise as large as the last steps is kept.
        let noisy: Vec<f64> = (0..50)
            .map(|n| f64::from(n.min(12)) + f64::from(n * 7 % 5) * 0.2)
            .collect();
        assert!((10..=13).contains(&truncation(&noisy, 0.0)), "{noisy:?}");
        // Regular frames vary by one from batch to batch.
        let beats: Vec<f64> = (0..50)
            .map(|n| f64::from((n * 7 + 3) / 5 % 2 + 11))
            .collect();
        assert!(truncation(&beats, 0.5) < 10, "{beats:?}");
        let rising: Vec<f64> = (0..50).map(f64::from).collect();
        assert_eq!(truncation(&rising, 0.0), 40, "it never settles");
        assert_eq!(truncation(&[], 0.0), 0);
    }

    /// One frame leaves every ten cycles; latencies grow to 500.
    fn run(settles: u64, until: u64) -> Vec<(u64, DepartedFrame)> {
        (1..=until / 10)
            .map(|n| {
                let end = n * 10;
                (
                    end,
                    DepartedFrame::new(&[0; 60], Some(end.min(settles) * 500 / settles)),
                )
            })
            .collect()
    }

    #[test]
    fn window_begins_where_latency_settles() {
        let window = MeasureWindow {
            warm_up: 40_000,
            detected: true,
            measure: Some(60_000),
        };
        let pauses = pauses(window);
        assert_eq!((pauses.len(), pauses[0], pauses[39]), (40, 1_000, 40_000));
        let begin = detect(&run(20_000, 100_000), 100_000, &pauses);
        assert!(begin.settled && (19_000..=21_000).contains(&begin.cycle));
        assert_eq!(pauses[begin.pause], begin.cycle);
        let at_once = detect(&run(1, 100_000), 100_000, &pauses);
        assert_eq!((at_once.cycle, at_once.settled), (1_000, true));
        let never = detect(&run(100_000, 100_000), 100_000, &pauses);
        assert_eq!((never.cycle, never.settled), (40_000, false));
        let given = MeasureWindow {
            detected: false,
            ..window
        };
        assert!(super::pauses(given).is_empty());
    }
}
