//! A set of small integers as a row of bits, for the data flow.

use std::ops::Range;

/// A set of numbers below a bound that is fixed when it is made.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct BitSet {
    words: Vec<u64>,
}

impl Clone for BitSet {
    fn clone(&self) -> Self {
        Self {
            words: self.words.clone(),
        }
    }

    fn clone_from(&mut self, other: &Self) {
        self.words.clone_from(&other.words);
    }
}

impl BitSet {
    /// The empty set that can hold numbers below `bound`.
    #[must_use]
    pub fn new(bound: usize) -> Self {
        Self {
            words: vec![0; bound.div_ceil(64)],
        }
    }

    /// Adds a number.
    pub fn insert(&mut self, n: usize) {
        self.words[n / 64] |= 1 << (n % 64);
    }

    /// Takes a number out.
    pub fn remove(&mut self, n: usize) {
        self.words[n / 64] &= !(1 << (n % 64));
    }

    /// Takes all numbers of a range out.
    pub fn remove_range(&mut self, range: Range<usize>) {
        for (at, mask) in masks(range) {
            self.words[at] &= !mask;
        }
    }

    /// The members in a range, ascending.
    pub fn iter_range(&self, range: Range<usize>) -> impl Iterator<Item = usize> + '_ {
        masks(range).flat_map(|(at, mask)| members(at, self.words[at] & mask))
    }

    /// Whether the number is in the set.
    #[must_use]
    pub fn contains(&self, n: usize) -> bool {
        self.words
            .get(n / 64)
            .is_some_and(|word| word & (1 << (n % 64)) != 0)
    }

    /// Adds all members of `other`; says whether anything was new.
    pub fn union_with(&mut self, other: &Self) -> bool {
        let mut changed = false;
        for (mine, theirs) in self.words.iter_mut().zip(&other.words) {
            changed |= *theirs & !*mine != 0;
            *mine |= theirs;
        }
        changed
    }

    /// Takes all numbers out.
    pub fn clear(&mut self) {
        self.words.fill(0);
    }

    /// The members that are not in `other`, ascending.
    pub fn without<'a>(&'a self, other: &'a Self) -> impl Iterator<Item = usize> + 'a {
        let pairs = self.words.iter().zip(&other.words).enumerate();
        pairs.flat_map(|(at, (&mine, &theirs))| members(at, mine & !theirs))
    }

    /// Adds all members of `other`, whose bound a set without one takes over.
    pub fn join(&mut self, other: &Self) {
        if self.words.is_empty() {
            self.clone_from(other);
        } else {
            self.union_with(other);
        }
    }

    /// The members in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words
            .iter()
            .enumerate()
            .flat_map(|(at, &word)| members(at, word))
    }
}

/// The members that one word of a set stands for.
fn members(at: usize, word: u64) -> impl Iterator<Item = usize> {
    std::iter::successors((word != 0).then_some(word), |w| {
        let rest = w & (w - 1);
        (rest != 0).then_some(rest)
    })
    .map(move |w| at * 64 + w.trailing_zeros() as usize)
}

/// The words that a range touches, with its bits in each.
fn masks(range: Range<usize>) -> impl Iterator<Item = (usize, u64)> {
    let words = range.start / 64..range.end.div_ceil(64);
    words.map(move |at| {
        let low = range.start.saturating_sub(at * 64);
        let high = (range.end - at * 64).min(64);
        let below = |n: usize| if n == 64 { u64::MAX } else { (1 << n) - 1 };
        (at, below(high) & !below(low))
    })
}

#[cfg(test)]
mod tests {
    use super::BitSet;

    #[test]
    fn members_come_back_in_order() {
        let mut set = BitSet::new(200);
        for n in [130, 3, 64, 63, 199] {
            set.insert(n);
        }
        set.remove(64);
        assert_eq!(set.iter().collect::<Vec<_>>(), [3, 63, 130, 199]);
        let mut other = BitSet::new(200);
        other.insert(3);
        assert!(other.union_with(&set));
        assert!(!other.union_with(&set));
        assert_eq!(other, set);
    }

    #[test]
    fn what_one_set_has_and_another_has_not() {
        let (mut one, mut other) = (BitSet::new(200), BitSet::new(200));
        for n in [3, 64, 130, 199] {
            one.insert(n);
        }
        for n in [64, 65, 199] {
            other.insert(n);
        }
        assert_eq!(one.without(&other).collect::<Vec<_>>(), [3, 130]);
        other.clone_from(&one);
        assert_eq!(other, one);
        other.clear();
        assert_eq!(other, BitSet::new(200));
    }

    #[test]
    fn ranges_end_within_and_at_words() {
        for range in [0..0, 0..64, 3..4, 63..65, 64..128, 10..200, 130..130] {
            let mut set = BitSet::new(200);
            (0..200).for_each(|n| set.insert(n));
            assert_eq!(
                set.iter_range(range.clone()).collect::<Vec<_>>(),
                range.clone().collect::<Vec<_>>()
            );
            set.remove_range(range.clone());
            assert!((0..200).all(|n| set.contains(n) != range.contains(&n)));
        }
    }
}
