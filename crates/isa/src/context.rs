//! Contexts of a microengine by their number, and sets of them.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::ContextMode;

/// The number of a context in its microengine, from 0.
#[derive(
    Clone, Copy, Debug, Default, PartialEq, Eq, Hash, PartialOrd, Ord, Serialize, Deserialize,
)]
#[serde(transparent)]
pub struct Context(pub u8);

impl Context {
    /// The contexts that run in a mode, ascending.
    #[must_use]
    pub fn of_mode(mode: ContextMode) -> impl DoubleEndedIterator<Item = Self> + Clone {
        (0..mode.contexts()).map(move |index| Self(index * mode.stride()))
    }

    /// Its number as an index.
    #[must_use]
    pub const fn index(self) -> usize {
        self.0 as usize
    }

    /// The absolute number of its first register of a bank or of a kind of transfer register.
    /// Contexts that do not run in a mode have the registers of the one before them.
    #[must_use]
    pub const fn register_base(self, mode: ContextMode) -> u16 {
        let running = self.0 / mode.stride();
        running as u16 * mode.registers() as u16
    }
}

impl From<u8> for Context {
    fn from(number: u8) -> Self {
        Self(number)
    }
}

impl From<Context> for u8 {
    fn from(context: Context) -> Self {
        context.0
    }
}

impl fmt::Display for Context {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.fmt(f)
    }
}

/// A set of contexts: bit n stands for context n.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct ContextSet(pub u16);

impl ContextSet {
    /// No context.
    pub const EMPTY: Self = Self(0);

    /// Contexts 0 to `count - 1`; at most 16.
    #[must_use]
    pub const fn all(count: u8) -> Self {
        match u16::MAX.checked_shl(count as u32) {
            Some(others) => Self(!others),
            None => Self(u16::MAX),
        }
    }

    /// The contexts that run in a mode.
    #[must_use]
    pub fn of_mode(mode: ContextMode) -> Self {
        Context::of_mode(mode).collect()
    }

    /// One context.
    #[must_use]
    pub const fn one(context: Context) -> Self {
        Self(1 << context.0)
    }

    /// Whether it has a context.
    #[must_use]
    pub const fn contains(self, context: Context) -> bool {
        self.0 & Self::one(context).0 != 0
    }

    /// Whether it has none.
    #[must_use]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// How many contexts it has.
    #[must_use]
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Adds a context.
    pub const fn insert(&mut self, context: Context) {
        self.0 |= Self::one(context).0;
    }

    /// Takes a context out.
    pub const fn remove(&mut self, context: Context) {
        self.0 &= !Self::one(context).0;
    }

    /// The next one after a context in turn: the least above it, else the least of all.
    #[must_use]
    pub const fn next(self, after: Context) -> Option<Context> {
        let above = match (u16::MAX << 1).checked_shl(after.0 as u32) {
            Some(mask) => self.0 & mask,
            None => 0,
        };
        let candidates = if above == 0 { self.0 } else { above };
        if candidates == 0 {
            None
        } else {
            Some(Context(candidates.trailing_zeros() as u8))
        }
    }

    /// Its contexts, ascending.
    pub fn iter(self) -> impl Iterator<Item = Context> {
        let mut rest = self.0;
        std::iter::from_fn(move || {
            let context = Context(rest.trailing_zeros() as u8);
            (rest != 0).then(|| {
                rest &= rest - 1;
                context
            })
        })
    }
}

impl FromIterator<Context> for ContextSet {
    fn from_iter<I: IntoIterator<Item = Context>>(contexts: I) -> Self {
        let mut set = Self::EMPTY;
        for context in contexts {
            set.insert(context);
        }
        set
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn numbers(set: ContextSet) -> Vec<u8> {
        set.iter().map(|it| it.0).collect()
    }

    #[test]
    fn modes_have_their_contexts() {
        assert_eq!(ContextSet::of_mode(ContextMode::Four), ContextSet(0x55));
        assert_eq!(ContextSet::of_mode(ContextMode::Eight), ContextSet::all(8));
        assert_eq!(numbers(ContextSet::all(16)), (0..16).collect::<Vec<_>>());
        assert_eq!(ContextSet::all(0), ContextSet::EMPTY);
    }

    #[test]
    fn register_bases_divide_the_registers_among_the_contexts_of_a_mode() {
        let base = |context: u8, mode| Context(context).register_base(mode);
        assert_eq!(base(6, ContextMode::Four), 96);
        assert_eq!(base(6, ContextMode::Eight), 96);
        assert_eq!(base(7, ContextMode::Eight), 112);
        for mode in [ContextMode::Four, ContextMode::Eight] {
            let bases = Context::of_mode(mode).map(|it| it.register_base(mode));
            let step = usize::from(mode.registers());
            assert!(bases.eq((0..128u16).step_by(step)), "{mode:?}");
        }
    }

    #[test]
    fn next_goes_round_a_set() {
        let set = ContextSet(0x8011);
        let next = |after| set.next(Context(after)).map(|it| it.0);
        assert_eq!(
            [next(0), next(3), next(4), next(14), next(15)],
            [Some(4), Some(4), Some(15), Some(15), Some(0)]
        );
        assert_eq!(ContextSet::EMPTY.next(Context(3)), None);
        assert_eq!(ContextSet(8).next(Context(3)), Some(Context(3)));
    }

    #[test]
    fn sets_gain_and_lose_contexts() {
        let mut set = ContextSet::one(Context(9));
        set.insert(Context(2));
        assert_eq!(numbers(set), [2, 9]);
        assert_eq!((set.len(), set.contains(Context(9))), (2, true));
        set.remove(Context(9));
        assert!(!set.contains(Context(9)) && !set.is_empty());
    }
}
