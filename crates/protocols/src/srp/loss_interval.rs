//! The loss event rate measured as in TFRC (RFC 5348, section 5): the inverse of the weighted mean of
//! the last eight intervals between loss events.

use std::collections::VecDeque;

use serde::{Deserialize, Serialize};

/// Weights in fifths, for the latest interval first: 1, 1, 1, 1, 0.8, 0.6, 0.4, 0.2.
const WEIGHTS: [u64; 8] = [5, 5, 5, 5, 4, 3, 2, 1];
/// Fraction bits of a mean.
pub(super) const MEAN_BITS: u32 = 8;

/// Intervals between loss events, in packets.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct LossIntervals {
    /// Closed intervals, the latest first.
    closed: VecDeque<u64>,
    /// Bytes since the last loss event.
    open: u64,
}

impl LossIntervals {
    pub fn add(&mut self, bytes: u64) {
        self.open += bytes;
    }

    /// Ends the open interval at a loss event.
    pub fn close(&mut self, mss: u64) {
        self.begin_with((self.open / mss).max(1));
    }

    /// Adds an interval in packets that was not measured.
    pub fn begin_with(&mut self, packets: u64) {
        self.closed.push_front(packets);
        self.closed.truncate(WEIGHTS.len());
        self.open = 0;
    }

    /// The mean interval in packets x 2^8; the open interval counts if it makes the mean longer. `None`
    /// before the first loss.
    pub fn mean(&self, mss: u64) -> Option<u64> {
        if self.closed.is_empty() {
            return None;
        }
        let mean = |intervals: &mut dyn Iterator<Item = u64>| {
            let (sum, weights) = intervals
                .zip(WEIGHTS)
                .fold((0, 0), |(sum, all), (interval, weight)| {
                    (sum + interval * weight, all + weight)
                });
            (sum << MEAN_BITS) / weights
        };
        let without = mean(&mut self.closed.iter().copied());
        let open = std::iter::once(self.open / mss);
        let with = mean(&mut open.chain(self.closed.iter().copied()));
        Some(with.max(without))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn loss_intervals_are_weighted_by_age() {
        let mut intervals = LossIntervals::default();
        assert_eq!(intervals.mean(1_000), None);
        intervals.begin_with(100);
        assert_eq!(intervals.mean(1_000), Some(100 << MEAN_BITS));
        intervals.add(50_000);
        assert_eq!(intervals.mean(1_000), Some(100 << MEAN_BITS));
        intervals.add(250_000);
        assert_eq!(
            intervals.mean(1_000),
            Some(200 << MEAN_BITS),
            "(300 + 100) / 2"
        );
        intervals.close(1_000);
        assert_eq!(intervals.mean(1_000), Some(200 << MEAN_BITS));
        for _ in 0..8 {
            intervals.begin_with(10);
        }
        assert_eq!(
            intervals.mean(1_000),
            Some(10 << MEAN_BITS),
            "eight are kept"
        );
    }
}
