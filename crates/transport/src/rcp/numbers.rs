//! Sets of packet numbers that are nearly contiguous from 0.

use serde::{Deserialize, Serialize};

/// Numbers that have been received.
#[derive(Debug, Clone, PartialEq, Eq, Default, Serialize, Deserialize)]
pub(super) struct ReceivedNumbers {
    /// All numbers below this one have been received.
    next: u32,
    /// Ranges beyond holes, in order: the first number and the one after the last.
    beyond: Vec<(u32, u32)>,
}

impl ReceivedNumbers {
    /// Adds a number; returns true if it is new.
    pub fn insert(&mut self, number: u32) -> bool {
        if self.contains(number) {
            return false;
        }
        let at = self.beyond.partition_point(|range| range.1 <= number);
        self.beyond.insert(at, (number, number + 1));
        if self
            .beyond
            .get(at + 1)
            .is_some_and(|range| range.0 == number + 1)
        {
            self.beyond[at].1 = self.beyond.remove(at + 1).1;
        }
        if at > 0 && self.beyond[at - 1].1 == number {
            self.beyond[at - 1].1 = self.beyond.remove(at).1;
        }
        if self.beyond[0].0 == self.next {
            self.next = self.beyond.remove(0).1;
        }
        true
    }

    /// Whether the number has been received.
    pub fn contains(&self, number: u32) -> bool {
        let at = self.beyond.partition_point(|range| range.1 <= number);
        let beyond = self.beyond.get(at).is_some_and(|range| range.0 <= number);
        number < self.next || beyond
    }

    /// Returns the first missing number.
    pub fn next(&self) -> u32 {
        self.next
    }

    /// Returns the missing numbers below `end`.
    pub fn missing(&self, end: u32) -> impl Iterator<Item = u32> + '_ {
        let starts = std::iter::once(self.next).chain(self.beyond.iter().map(|range| range.1));
        let ends = self.beyond.iter().map(|range| range.0).chain([u32::MAX]);
        starts
            .zip(ends)
            .flat_map(move |(start, stop)| start..stop.min(end).max(start))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    proptest! {
        #[test]
        fn received_and_missing_numbers_partition_the_range(
            came in prop::collection::vec(0_u32..40, 0..40), end in 0_u32..50,
        ) {
            let mut numbers = ReceivedNumbers::default();
            let mut set = std::collections::BTreeSet::new();
            for number in came {
                prop_assert_eq!(numbers.insert(number), set.insert(number));
            }
            let missing: Vec<_> = numbers.missing(end).collect();
            let expected: Vec<_> = (0..end).filter(|number| !set.contains(number)).collect();
            prop_assert_eq!(missing, expected);
            let next = (0..100).find(|number| !set.contains(number));
            prop_assert_eq!(Some(numbers.next()), next);
        }
    }
}
