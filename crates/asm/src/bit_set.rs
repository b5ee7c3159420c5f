//! A set of small integers as a row of bits, for the data flow.

/// A set of numbers below a bound that is fixed when it is made.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct BitSet {
    words: Vec<u64>,
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

    /// The members in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        self.words.iter().enumerate().flat_map(|(i, &word)| {
            std::iter::successors((word != 0).then_some(word), |w| {
                let rest = w & (w - 1);
                (rest != 0).then_some(rest)
            })
            .map(move |w| i * 64 + w.trailing_zeros() as usize)
        })
    }
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
}
