//! The slow path of Quick-Start: measuring utilisation and renewing the limit.
//!
//! Grants count for the window in which they were made and for the next. There are two counters of
//! grants: fast-path threads add to the counter of the current window and give back to the one that
//! they took from. A counter is therefore final only some time (the grace period) after its window
//! has ended, and is zeroed after it has been idle for a whole window.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

use super::UNIT_BITS_PER_SECOND;

/// Converts bits per second to units of 40 kbit/s, rounded down.
#[must_use]
pub fn units_of_rate(bits_per_second: u64) -> i64 {
    (bits_per_second / UNIT_BITS_PER_SECOND) as i64
}

/// The rate of `bytes` in `picoseconds`, in units of 40 kbit/s, rounded down; 0 if the time is 0.
#[must_use]
pub fn units_of_bytes(bytes: u64, picoseconds: u64) -> i64 {
    let bits_per_unit = u128::from(picoseconds) * u128::from(UNIT_BITS_PER_SECOND);
    let units = (u128::from(bytes) * 8 * 1_000_000_000_000)
        .checked_div(bits_per_unit)
        .unwrap_or(0);
    i64::try_from(units).unwrap_or(i64::MAX)
}

/// The peak of recent samples of the line's utilisation.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct PeakUtilisation {
    samples: VecDeque<i64>,
    kept: usize,
}

impl PeakUtilisation {
    /// Creates it; it keeps `kept` samples, at least one.
    #[must_use]
    pub fn new(kept: usize) -> Self {
        Self {
            samples: VecDeque::new(),
            kept: kept.max(1),
        }
    }

    /// Records a sample, in units of 40 kbit/s.
    pub fn record(&mut self, units: i64) {
        if self.samples.len() == self.kept {
            self.samples.pop_front();
        }
        self.samples.push_back(units);
    }

    /// The largest sample kept, 0 before the first.
    #[must_use]
    pub fn peak(&self) -> i64 {
        self.samples.iter().copied().max().unwrap_or(0)
    }
}

/// The largest limit, and the lowest one below zero, in units of 40 kbit/s: 43 Tbit/s.
pub const MAX_LIMIT: i64 = 1 << 30;

/// Returns the limit of the next window, in units of 40 kbit/s: what the threshold leaves above the
/// peak utilisation and the grants of the previous window. It is clamped to [`MAX_LIMIT`], so
/// that the difference of a limit and a counter of grants fits in 32 bits.
#[must_use]
pub fn limit(threshold: i64, peak: i64, previous_grants: i64) -> i32 {
    threshold
        .saturating_sub(peak)
        .saturating_sub(previous_grants)
        .clamp(-MAX_LIMIT, MAX_LIMIT) as i32
}

/// Limit, phase and the two counters of grants: the state that the fast path shares.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct GrantWindow {
    /// The limit of this window, in units of 40 kbit/s.
    pub limit: i32,
    /// Index of this window's counter: 0 or 1.
    pub phase: u8,
    /// The counters of grants.
    pub granted: [i32; 2],
}

impl GrantWindow {
    /// Ends a window: the other counter is zeroed and becomes the current one. The grants of the
    /// ended window are taken as they are, an upper bound while requests are being settled.
    pub fn rotate(&mut self, threshold: i64, peak: i64) {
        let ended = usize::from(self.phase & 1);
        self.granted[1 - ended] = 0;
        self.phase = 1 - ended as u8;
        self.limit = limit(threshold, peak, i64::from(self.granted[ended]));
    }

    /// Recomputes the limit after the grace period, when the grants of the previous window are exact.
    pub fn settle(&mut self, threshold: i64, peak: i64) {
        let ended = 1 - usize::from(self.phase & 1);
        self.limit = limit(threshold, peak, i64::from(self.granted[ended]));
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::quick_start::pool::GrantPool;
    use proptest::prelude::*;

    const SAMPLE: u64 = 150_000_000_000;

    #[test]
    fn bytes_convert_to_rate_units() {
        assert_eq!(units_of_bytes(749, SAMPLE), 0);
        assert_eq!(units_of_bytes(750, SAMPLE), 1);
        assert_eq!(units_of_bytes(18_750_000, SAMPLE), 25_000);
        assert_eq!(units_of_bytes(1, 0), 0);
        assert_eq!(units_of_bytes(u64::MAX, 1), i64::MAX);
        assert_eq!(units_of_rate(3_000_000_000), 75_000);
    }

    #[test]
    fn peak_utilisation_covers_the_last_samples() {
        let mut peak = PeakUtilisation::new(3);
        assert_eq!(peak.peak(), 0);
        let seen: Vec<i64> = [5, 9, 1, 2, 3, 4]
            .map(|sample| {
                peak.record(sample);
                peak.peak()
            })
            .to_vec();
        assert_eq!(seen, [5, 9, 9, 9, 3, 4]);
    }

    #[test]
    fn grants_count_in_their_window_and_the_next() {
        let mut window = GrantWindow::default();
        window.rotate(25_000, 1_000);
        assert_eq!((window.limit, window.phase), (24_000, 1));
        window.granted[1] = 4_096 + 256;
        window.rotate(25_000, 1_000);
        assert_eq!((window.limit, window.phase), (24_000 - 4_352, 0));
        window.granted[1] -= 256;
        window.settle(25_000, 1_000);
        assert_eq!(window.limit, 24_000 - 4_096);
        window.granted[0] = 2;
        window.rotate(25_000, 1_000);
        assert_eq!(window.granted, [2, 0]);
        assert_eq!((window.limit, window.phase), (23_998, 1));
    }

    #[test]
    fn limits_saturate() {
        assert_eq!(i64::from(limit(i64::MIN, i64::MAX, 0)), -MAX_LIMIT);
        assert_eq!(i64::from(limit(i64::MAX, 0, 0)), MAX_LIMIT);
    }

    proptest! {
        /// In any two consecutive windows, no more is granted than the threshold leaves.
        #[test]
        fn consecutive_windows_stay_within_the_threshold(
            threshold in 0_i64..100_000,
            windows in prop::collection::vec(prop::collection::vec(0_u8..16, 0..20), 1..10),
        ) {
            let mut window = GrantWindow::default();
            let mut before = 0;
            for requests in windows {
                window.rotate(threshold, 0);
                window.settle(threshold, 0);
                let mut pool = GrantPool { limit: window.limit, granted: 0 };
                for code in requests {
                    pool.grant(code);
                }
                window.granted[usize::from(window.phase)] = pool.granted;
                prop_assert!(before + i64::from(pool.granted) <= threshold);
                before = i64::from(pool.granted);
            }
        }
    }
}
