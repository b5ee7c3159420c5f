//! The received parts of a stream, in order and beyond holes.

use serde::{Deserialize, Serialize};

/// Received ranges of the stream. The SYN at offset 0 has been received.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub(super) struct StreamAssembly {
    next: u64,
    /// Disjoint ranges beyond holes, the most recently changed first: the order of SACK blocks (RFC
    /// 2018, section 4).
    beyond: Vec<(u64, u64)>,
}

impl Default for StreamAssembly {
    fn default() -> Self {
        Self {
            next: 1,
            beyond: Vec::new(),
        }
    }
}

impl StreamAssembly {
    /// Returns the offset after the last byte received without a gap.
    pub fn next(&self) -> u64 {
        self.next
    }

    pub fn has_holes(&self) -> bool {
        !self.beyond.is_empty()
    }

    /// Adds the range `first..after`; returns how many bytes of it are new.
    pub fn insert(&mut self, first: u64, after: u64) -> u64 {
        let first = first.max(self.next);
        if first >= after {
            return 0;
        }
        let (mut low, mut high, mut known) = (first, after, 0);
        self.beyond.retain(|&(begin, end)| {
            let touches = begin <= after && end >= first;
            if touches {
                known += end.min(after) - begin.max(first);
                (low, high) = (low.min(begin), high.max(end));
            }
            !touches
        });
        if low == self.next {
            self.next = high;
        } else {
            self.beyond.insert(0, (low, high));
        }
        after - first - known
    }

    /// Records the FIN, which must be next in order.
    pub fn finish(&mut self) {
        self.next += 1;
    }

    /// Returns up to `most` ranges beyond holes, the latest first.
    pub fn recent(&self, most: usize) -> impl Iterator<Item = (u64, u64)> + '_ {
        self.beyond.iter().take(most).copied()
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn most_recent_range_comes_first() {
        let mut assembly = StreamAssembly::default();
        for (first, after) in [(11, 21), (31, 41), (51, 61), (21, 31)] {
            assembly.insert(first, after);
        }
        let ranges: Vec<_> = assembly.recent(3).collect();
        assert_eq!(ranges, [(11, 41), (51, 61)]);
        assert_eq!(assembly.insert(1, 11), 10);
        assert_eq!((assembly.next(), assembly.has_holes()), (41, true));
    }

    proptest! {
        #[test]
        fn assembly_neither_loses_nor_invents_data(
            blocks in prop::collection::vec((1_u64..60, 1_u64..12), 0..20),
        ) {
            let mut assembly = StreamAssembly::default();
            let mut came = [false; 80];
            for (first, length) in blocks {
                let place = first as usize..(first + length) as usize;
                let fresh = came[place.clone()].iter().filter(|&&there| !there).count();
                prop_assert_eq!(assembly.insert(first, first + length), fresh as u64);
                came[place].fill(true);
                let next = (1..80).find(|&at: &usize| !came[at]).unwrap();
                prop_assert_eq!(assembly.next(), next as u64);
                let beyond: u64 = assembly.recent(100).map(|(first, after)| after - first).sum();
                let expected = came[next..].iter().filter(|&&there| there).count();
                prop_assert_eq!(beyond, expected as u64);
            }
        }
    }
}
