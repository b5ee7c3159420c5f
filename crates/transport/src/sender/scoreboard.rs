//! The scoreboard of data reported by SACK blocks (RFC 6675).

use serde::{Deserialize, Serialize};

/// Number of duplicates after which a segment counts as lost.
const DUPLICATES: usize = 3;

/// Ranges of the stream that have arrived beyond the acknowledgement.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct SackScoreboard {
    /// First offset and the one after the last; disjoint, in order.
    ranges: Vec<(u64, u64)>,
    /// Everything lost before this offset has been retransmitted (`HighRxt`).
    pub repaired: u64,
    /// Where the last rescue retransmission ended (`RescueRxt`).
    pub rescued: u64,
}

impl SackScoreboard {
    /// Adds a block; returns how many bytes of it are new.
    pub fn insert(&mut self, mut first: u64, mut after: u64) -> u64 {
        let begin = self.ranges.partition_point(|range| range.1 < first);
        let end = self.ranges.partition_point(|range| range.0 <= after);
        let known: u64 = self.ranges[begin..end]
            .iter()
            .map(|range| range.1.min(after).saturating_sub(range.0.max(first)))
            .sum();
        let news = after - first - known;
        if news > 0 {
            if let Some(range) = self.ranges[begin..end].first() {
                first = first.min(range.0);
            }
            if let Some(range) = self.ranges[begin..end].last() {
                after = after.max(range.1);
            }
            self.ranges.splice(begin..end, [(first, after)]);
        }
        news
    }

    /// Handles the acknowledgement of everything before `offset`.
    pub fn advance(&mut self, offset: u64) {
        let gone = self.ranges.partition_point(|range| range.1 <= offset);
        self.ranges.drain(..gone);
        if let Some(range) = self.ranges.first_mut() {
            range.0 = range.0.max(offset);
        }
    }

    /// Handles an expiry of the timer when everything before `acknowledged` is acknowledged. Ranges that
    /// have arrived stay known (RFC 6675, 5.1), unless the peer has discarded them: otherwise it would
    /// have acknowledged the range that begins here.
    pub fn start_again(&mut self, acknowledged: u64) {
        (self.repaired, self.rescued) = (0, 0);
        if self.hole(acknowledged).0 > acknowledged {
            self.ranges.clear();
        }
    }

    /// Returns how many bytes of `first..after` have arrived.
    pub fn arrived(&self, first: u64, after: u64) -> u64 {
        let begin = self.ranges.partition_point(|range| range.1 <= first);
        self.ranges[begin..]
            .iter()
            .take_while(|range| range.0 < after)
            .map(|range| range.1.min(after) - range.0.max(first))
            .sum()
    }

    /// Returns the first offset at or after `offset` that has not arrived, and the start of the next
    /// range that has.
    pub fn hole(&self, offset: u64) -> (u64, Option<u64>) {
        let at = self.ranges.partition_point(|range| range.1 <= offset);
        match self.ranges.get(at) {
            Some(range) if range.0 <= offset => {
                (range.1, self.ranges.get(at + 1).map(|range| range.0))
            }
            next => (offset, next.map(|range| range.0)),
        }
    }

    /// Returns the offset below which missing data count as lost: three ranges or more than two segments
    /// lie above it.
    pub fn lost_before(&self, mss: u64) -> u64 {
        let mut bytes = 0;
        for (count, range) in self.ranges.iter().rev().enumerate() {
            bytes += range.1 - range.0;
            if count + 1 >= DUPLICATES || bytes > (DUPLICATES as u64 - 1) * mss {
                return range.0;
            }
        }
        0
    }

    /// Returns the offset after the last byte that has arrived.
    pub fn end(&self) -> u64 {
        self.ranges.last().map_or(0, |range| range.1)
    }

    /// Returns how many bytes of `first..after` are assumed to be in flight: those that have neither
    /// arrived nor been lost, and those that were retransmitted.
    pub fn pipe(&self, first: u64, after: u64, mss: u64) -> u64 {
        let missing = |from: u64, to: u64| {
            let from = from.clamp(first, after);
            let to = to.clamp(from, after);
            to - from - self.arrived(from, to)
        };
        missing(self.lost_before(mss), after) + missing(first, self.repaired)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn board(blocks: &[(u64, u64)]) -> SackScoreboard {
        let mut board = SackScoreboard::default();
        for &(first, after) in blocks {
            board.insert(first, after);
        }
        board
    }

    #[test]
    fn three_ranges_or_over_two_segments_mark_a_loss() {
        assert_eq!(board(&[(20, 30), (40, 50)]).lost_before(10), 0);
        assert_eq!(board(&[(20, 30), (40, 50), (60, 70)]).lost_before(10), 20);
        assert_eq!(board(&[(20, 40)]).lost_before(10), 0, "two segments");
        assert_eq!(board(&[(20, 41)]).lost_before(10), 20);
    }

    #[test]
    fn pipe_excludes_arrived_and_lost_data() {
        let mut board = board(&[(20, 30), (40, 50), (60, 70)]);
        // 10..20 is lost; 30..40, 50..60 and 70..100 may be in flight.
        assert_eq!(board.pipe(10, 100, 10), 50);
        board.repaired = 20;
        assert_eq!(board.pipe(10, 100, 10), 60);
        board.repaired = 40;
        assert_eq!(
            board.pipe(10, 100, 10),
            70,
            "sent again and not known to be lost: counts twice"
        );
    }

    #[test]
    fn timeout_clears_sacked_ranges_only_if_the_peer_reneged() {
        let mut board = board(&[(20, 30), (40, 50)]);
        (board.repaired, board.rescued) = (40, 50);
        board.start_again(10);
        assert_eq!((board.repaired, board.rescued), (0, 0));
        assert_eq!(board.arrived(10, 60), 20);
        board.start_again(20);
        assert_eq!(board.arrived(10, 60), 0);
    }

    proptest! {
        #[test]
        fn sacked_ranges_are_the_union_of_the_blocks(
            blocks in prop::collection::vec((0_u64..60, 1_u64..12), 0..12), advance in 0_u64..40,
        ) {
            let mut board = SackScoreboard::default();
            let mut arrived = [false; 80];
            for (first, length) in blocks {
                let fresh = (first..first + length).filter(|&at| !arrived[at as usize]).count();
                arrived[first as usize..(first + length) as usize].fill(true);
                prop_assert_eq!(board.insert(first, first + length), fresh as u64);
            }
            board.advance(advance);
            arrived[..advance as usize].fill(false);
            for from in 0..80 {
                let count = arrived[from..].iter().filter(|&&there| there).count();
                prop_assert_eq!(board.arrived(from as u64, 80), count as u64);
                if from >= advance as usize {
                    let hole = (from..81).find(|&at| !arrived.get(at).copied().unwrap_or(false));
                    prop_assert_eq!(board.hole(from as u64).0, hole.unwrap() as u64);
                }
            }
            for pair in board.ranges.windows(2) {
                prop_assert!(pair[0].1 < pair[1].0);
            }
        }
    }
}
