//! A sparse bit set for data-flow analysis, for example of the variables live at a word or the
//! writes that reach it.
//!
//! A program has thousands of registers, of which only a few are live at any word, so only the
//! non-empty rows of 64 numbers are stored.

use std::cmp::Ordering;
use std::ops::Range;

/// A set of numbers below 2^38.
#[derive(Debug, Default, PartialEq, Eq)]
pub struct BitSet {
    /// Non-empty rows, ascending: the row number, and a mask whose bit b stands for number
    /// 64 x row + b.
    rows: Vec<(u32, u64)>,
}

impl Clone for BitSet {
    fn clone(&self) -> Self {
        Self {
            rows: self.rows.clone(),
        }
    }

    fn clone_from(&mut self, other: &Self) {
        self.rows.clone_from(&other.rows);
    }
}

impl BitSet {
    /// Adds a number.
    pub fn insert(&mut self, n: usize) {
        let (row, bit) = place(n);
        match self.find(row) {
            Ok(at) => self.rows[at].1 |= bit,
            Err(at) => self.rows.insert(at, (row, bit)),
        }
    }

    /// Removes a number.
    pub fn remove(&mut self, n: usize) {
        let (row, bit) = place(n);
        if let Ok(at) = self.find(row) {
            let members = &mut self.rows[at].1;
            *members &= !bit;
            if *members == 0 {
                self.rows.remove(at);
            }
        }
    }

    /// Removes all numbers in a range.
    pub fn remove_range(&mut self, range: Range<usize>) {
        let rows = self.rows_of(&range);
        let mut left = rows.start;
        for at in rows.clone() {
            let (row, members) = self.rows[at];
            let kept = members & !mask(row, &range);
            if kept != 0 {
                self.rows[left] = (row, kept);
                left += 1;
            }
        }
        self.rows.drain(left..rows.end);
    }

    /// Returns the members in a range, ascending.
    pub fn iter_range(&self, range: Range<usize>) -> impl Iterator<Item = usize> + '_ {
        let rows = self.rows[self.rows_of(&range)].iter();
        Members::of(rows.map(move |&(row, members)| (row, members & mask(row, &range))))
    }

    /// Whether the set contains a number.
    #[must_use]
    pub fn contains(&self, n: usize) -> bool {
        let (row, bit) = place(n);
        self.find(row).is_ok_and(|at| self.rows[at].1 & bit != 0)
    }

    /// Adds all members of `other`; returns whether any of them was new.
    pub fn union_with(&mut self, other: &Self) -> bool {
        // Almost always, all rows are already present.
        let (mut new, mut missing, mut at) = (0, 0, 0);
        for &(row, theirs) in &other.rows {
            while self.rows.get(at).is_some_and(|mine| mine.0 < row) {
                at += 1;
            }
            match self.rows.get_mut(at).filter(|mine| mine.0 == row) {
                Some((_, mine)) => {
                    new |= theirs & !*mine;
                    *mine |= theirs;
                }
                None => missing += 1,
            }
        }
        if missing != 0 {
            self.add_rows(other, missing);
        }
        new != 0 || missing != 0
    }

    /// Adds the `missing` rows of `other` that this set lacks; rows that both have are already
    /// merged.
    fn add_rows(&mut self, other: &Self, missing: usize) {
        let mut theirs = other.rows.as_slice();
        let mut mine = self.rows.len();
        let mut free = mine + missing;
        self.rows.resize(free, (0, 0));
        // From the end, so that each row moves only once.
        while let Some((&last, before)) = theirs.split_last() {
            let own = mine.checked_sub(1).map(|at| self.rows[at]);
            free -= 1;
            match own.map(|own| (own, own.0.cmp(&last.0))) {
                Some((own, Ordering::Greater)) => {
                    self.rows[free] = own;
                    mine -= 1;
                }
                Some((own, Ordering::Equal)) => {
                    self.rows[free] = own;
                    mine -= 1;
                    theirs = before;
                }
                _ => {
                    self.rows[free] = last;
                    theirs = before;
                }
            }
        }
    }

    /// Adds the members of `other` in a range.
    pub fn add_range(&mut self, other: &Self, range: Range<usize>) {
        for &(row, members) in &other.rows[other.rows_of(&range)] {
            let members = members & mask(row, &range);
            if members == 0 {
                continue;
            }
            match self.find(row) {
                Ok(at) => self.rows[at].1 |= members,
                Err(at) => self.rows.insert(at, (row, members)),
            }
        }
    }

    /// Removes all numbers.
    pub fn clear(&mut self) {
        self.rows.clear();
    }

    /// Becomes equal to `other`, reporting each number that is added (true) or removed.
    pub fn follow(&mut self, other: &Self, mut visit: impl FnMut(usize, bool)) {
        let mut each = |row: u32, mine: u64, theirs: u64| {
            let mut changed = mine ^ theirs;
            while changed != 0 {
                let bit = changed.trailing_zeros();
                visit(row as usize * 64 + bit as usize, theirs >> bit & 1 != 0);
                changed &= changed - 1;
            }
        };
        let mut mine = self.rows.iter().peekable();
        for &(row, theirs) in &other.rows {
            while let Some(&(gone, members)) = mine.next_if(|mine| mine.0 < row) {
                each(gone, members, 0);
            }
            let own = mine.next_if(|mine| mine.0 == row).map_or(0, |mine| mine.1);
            each(row, own, theirs);
        }
        for &(gone, members) in mine {
            each(gone, members, 0);
        }
        self.rows.clone_from(&other.rows);
    }

    /// Returns the members in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = usize> + '_ {
        Members::of(self.rows.iter().copied())
    }

    /// Returns the position of a row, or where to insert it.
    fn find(&self, row: u32) -> Result<usize, usize> {
        // Numbers are often inserted in ascending order.
        match self.rows.last() {
            Some(last) if last.0 < row => Err(self.rows.len()),
            Some(last) if last.0 == row => Ok(self.rows.len() - 1),
            _ => self.rows.binary_search_by_key(&row, |it| it.0),
        }
    }

    /// Returns the positions of the rows that overlap a range.
    fn rows_of(&self, range: &Range<usize>) -> Range<usize> {
        let from = self.rows.partition_point(|it| end_of(it.0) <= range.start);
        let rows = &self.rows[from..];
        let count = rows.partition_point(|it| end_of(it.0) - 64 < range.end);
        from..from + count
    }
}

/// Returns the row of a number, and its bit in that row.
const fn place(n: usize) -> (u32, u64) {
    debug_assert!((n as u64) < 1 << 38, "a number is too large");
    ((n / 64) as u32, 1 << (n % 64))
}

/// Returns the number after the last one of a row.
const fn end_of(row: u32) -> usize {
    (row as usize + 1) * 64
}

/// Returns the bits of a row that lie in a range that overlaps it.
fn mask(row: u32, range: &Range<usize>) -> u64 {
    let first = end_of(row) - 64;
    let below = |n: usize| match n.saturating_sub(first) {
        n if n < 64 => (1 << n) - 1,
        _ => u64::MAX,
    };
    below(range.end) & !below(range.start)
}

/// The members of a set, ascending, by rows.
struct Members<I> {
    rows: I,
    row: u32,
    rest: u64,
}

impl<I: Iterator<Item = (u32, u64)>> Members<I> {
    fn of(rows: I) -> Self {
        Self {
            rows,
            row: 0,
            rest: 0,
        }
    }
}

impl<I: Iterator<Item = (u32, u64)>> Iterator for Members<I> {
    type Item = usize;

    #[inline]
    fn next(&mut self) -> Option<usize> {
        while self.rest == 0 {
            (self.row, self.rest) = self.rows.next()?;
        }
        let bit = self.rest.trailing_zeros() as usize;
        self.rest &= self.rest - 1;
        Some(self.row as usize * 64 + bit)
    }
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use proptest::collection::vec;
    use proptest::prelude::*;

    use super::BitSet;

    fn set(members: impl IntoIterator<Item = usize>) -> BitSet {
        let mut set = BitSet::default();
        members.into_iter().for_each(|n| set.insert(n));
        set
    }

    fn ordered(set: &BitSet) -> Vec<usize> {
        set.iter().collect()
    }

    #[test]
    fn members_are_iterated_in_order() {
        let mut one = set([130, 3, 64, 63, 199]);
        one.remove(64);
        assert_eq!(ordered(&one), [3, 63, 130, 199]);
        let mut other = set([3]);
        assert!(other.union_with(&one));
        assert!(!other.union_with(&one));
        assert_eq!(other, one);
        other.clear();
        assert_eq!(other, BitSet::default());
    }

    #[test]
    fn ranges_may_end_inside_or_at_row_boundaries() {
        for range in [0..0, 0..64, 3..4, 63..65, 64..128, 10..200, 130..130] {
            let mut all = set(0..200);
            let inside: Vec<_> = all.iter_range(range.clone()).collect();
            assert_eq!(inside, range.clone().collect::<Vec<_>>());
            all.remove_range(range.clone());
            assert!((0..200).all(|n| all.contains(n) != range.contains(&n)));
        }
    }

    proptest! {
        #[test]
        fn bit_set_operations_match_btree_set(
            one in vec(0usize..700, 0..40),
            other in vec(0usize..700, 0..40),
            out in vec(0usize..700, 0..20),
            range in (0usize..700, 0usize..300),
        ) {
            let range = range.0..range.0 + range.1;
            let (mut mine, mut theirs) = (set(one.clone()), set(other.clone()));
            let mut model: BTreeSet<usize> = one.into_iter().collect();
            let others: BTreeSet<usize> = other.into_iter().collect();

            let mut followed = mine.clone();
            let (mut came, mut gone) = (Vec::new(), Vec::new());
            followed.follow(&theirs, |n, is_in| if is_in { &mut came } else { &mut gone }.push(n));
            prop_assert_eq!(&followed, &theirs);
            prop_assert_eq!(came, others.difference(&model).copied().collect::<Vec<_>>());
            prop_assert_eq!(gone, model.difference(&others).copied().collect::<Vec<_>>());

            let new = !others.is_subset(&model);
            prop_assert_eq!(mine.union_with(&theirs), new);
            model.extend(&others);
            prop_assert_eq!(ordered(&mine), model.iter().copied().collect::<Vec<_>>());
            for n in out {
                mine.remove(n);
                theirs.remove(n);
                model.remove(&n);
            }
            prop_assert_eq!(&mine, &set(model.iter().copied()));
            let inside: Vec<_> = mine.iter_range(range.clone()).collect();
            prop_assert_eq!(inside, model.range(range.clone()).copied().collect::<Vec<_>>());
            let mut part = theirs.clone();
            part.add_range(&mine, range.clone());
            let mut parts: BTreeSet<usize> = theirs.iter().collect();
            parts.extend(model.range(range.clone()));
            prop_assert_eq!(&part, &set(parts));
            mine.remove_range(range.clone());
            model.retain(|n| !range.contains(n));
            prop_assert_eq!(&mine, &set(model.iter().copied()));
            prop_assert!((0..700).all(|n| mine.contains(n) == model.contains(&n)));
        }
    }
}
