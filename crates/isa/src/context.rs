//! The contexts of a microengine: their number, their indices and sets of them.

use serde::{Deserialize, Deserializer, Serialize, Serializer};

use crate::ContextMode;

/// Number of contexts of a microengine. Arrays indexed by context, [`Context`] and [`ContextSet`]
/// follow from it.
pub const CONTEXTS: u8 = 8;

/// Number of registers in each bank, and of each kind of transfer register, of a microengine.
const REGISTERS: u8 = 128;

// Parts of the model that do not scale with the number above.
const _: () = assert!(
    CONTEXTS <= 8,
    "registers, command words and packed records hold a context in three bits: \
     CONTRIBUTING.md names them under `more contexts`"
);

/// Returns the array index for a context number modulo [`CONTEXTS`]: [`Context::index`] for numbers
/// packed in a record.
#[must_use]
#[inline]
pub const fn context_index(context: u8) -> usize {
    Context::wrapping(context).index()
}

/// The number of a context of a microengine, below [`CONTEXTS`].
///
/// A context is serialized as its number; deserialization takes the number modulo [`CONTEXTS`], so
/// that no damaged state names a nonexistent context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
#[serde(transparent)]
pub struct Context(u8);

impl Context {
    /// Context 0.
    pub const FIRST: Self = Self(0);

    /// The context with the highest number.
    pub const LAST: Self = Self(CONTEXTS - 1);

    /// Returns the context with a number; `None` if a microengine has no such context.
    #[must_use]
    pub const fn new(number: u8) -> Option<Self> {
        if number < CONTEXTS {
            Some(Self(number))
        } else {
            None
        }
    }

    /// Returns the context with a number modulo [`CONTEXTS`], as the low bits of a register field
    /// hold it.
    #[must_use]
    #[inline]
    pub const fn wrapping(number: u8) -> Self {
        Self(number % CONTEXTS)
    }

    /// Returns all contexts, in numeric order.
    pub fn all() -> impl ExactSizeIterator<Item = Self> {
        (0..CONTEXTS).map(Self)
    }

    /// Returns the context's number.
    #[must_use]
    #[inline]
    pub const fn number(self) -> u8 {
        self.0
    }

    /// Returns the index into an array by context. The remainder changes nothing, but elides the
    /// bounds check.
    #[must_use]
    #[inline]
    pub const fn index(self) -> usize {
        (self.0 % CONTEXTS) as usize
    }

    /// Returns all contexts in round-robin order, beginning with the next higher one and ending
    /// with this one.
    pub fn round_robin_after(self) -> impl Iterator<Item = Self> {
        (1..=CONTEXTS).map(move |step| Self::wrapping(self.0 + step))
    }

    /// Returns the absolute number of the context's first register in a bank, or of a kind of
    /// transfer register. It does not depend on the mode: contexts that do not run leave their
    /// registers to the one before them.
    #[must_use]
    #[inline]
    pub const fn register_base(self) -> u8 {
        self.0 % CONTEXTS * (REGISTERS / CONTEXTS)
    }

    /// Returns the absolute number of a context-relative register, wrapping around after the last
    /// register.
    #[must_use]
    #[inline]
    pub const fn absolute_register(self, register: u8) -> u8 {
        (self.register_base() + register) % REGISTERS
    }
}

impl std::fmt::Display for Context {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        self.0.fmt(f)
    }
}

impl<'de> Deserialize<'de> for Context {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        u8::deserialize(from).map(Self::wrapping)
    }
}

/// A set of contexts of a microengine.
///
/// The set is serialized as its [bits](Self::bits), in the smallest integer that holds them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct ContextSet(u16);

impl ContextSet {
    /// The empty set.
    pub const EMPTY: Self = Self(0);

    /// All contexts.
    pub const ALL: Self = Self(u16::MAX >> (u16::BITS - CONTEXTS as u32));

    /// Makes a set from its bits, as `CTX_ENABLES` holds them: bit c stands for context c. Bits
    /// beyond the last context are ignored.
    #[must_use]
    #[inline]
    pub const fn from_bits(bits: u16) -> Self {
        Self(bits & Self::ALL.0)
    }

    /// Returns the bits: bit c stands for context c.
    #[must_use]
    #[inline]
    pub const fn bits(self) -> u16 {
        self.0
    }

    /// Adds a context to the set.
    #[inline]
    pub const fn insert(&mut self, context: Context) {
        self.0 |= 1 << context.index();
    }

    /// Removes a context from the set.
    #[inline]
    pub const fn remove(&mut self, context: Context) {
        self.0 &= !(1 << context.index());
    }

    /// Whether the set contains a context.
    #[must_use]
    #[inline]
    pub const fn contains(self, context: Context) -> bool {
        self.0 >> context.index() & 1 == 1
    }

    /// Whether the set is empty.
    #[must_use]
    #[inline]
    pub const fn is_empty(self) -> bool {
        self.0 == 0
    }

    /// Returns the number of contexts in the set.
    #[must_use]
    pub const fn len(self) -> u32 {
        self.0.count_ones()
    }

    /// Returns the contexts that are in either set.
    #[must_use]
    #[inline]
    pub const fn union(self, other: Self) -> Self {
        Self(self.0 | other.0)
    }

    /// Returns the contexts that are in both sets.
    #[must_use]
    #[inline]
    pub const fn intersection(self, other: Self) -> Self {
        Self(self.0 & other.0)
    }

    /// Returns the contexts of this set that are not in the other.
    #[must_use]
    #[inline]
    pub const fn difference(self, other: Self) -> Self {
        Self(self.0 & !other.0)
    }

    /// Returns the contexts of the set, in numeric order.
    pub fn iter(self) -> impl Iterator<Item = Context> {
        Context::all().filter(move |&context| self.contains(context))
    }

    /// Returns the first context of the set after `last` in round-robin order; `last` itself comes
    /// last.
    #[must_use]
    #[inline]
    pub const fn next_after(self, last: Context) -> Option<Context> {
        let higher_members = self.0 & 0xfffe << last.index();
        let first = if higher_members == 0 {
            self.0
        } else {
            higher_members
        };
        if first == 0 {
            None
        } else {
            Some(Context::wrapping(first.trailing_zeros() as u8))
        }
    }
}

impl From<Context> for ContextSet {
    fn from(context: Context) -> Self {
        Self(1 << context.index())
    }
}

impl FromIterator<Context> for ContextSet {
    fn from_iter<I: IntoIterator<Item = Context>>(contexts: I) -> Self {
        let mut set = Self::EMPTY;
        contexts.into_iter().for_each(|it| set.insert(it));
        set
    }
}

impl Serialize for ContextSet {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match u8::try_from(self.0) {
            Ok(bits) if CONTEXTS <= 8 => to.serialize_u8(bits),
            _ => to.serialize_u16(self.0),
        }
    }
}

impl<'de> Deserialize<'de> for ContextSet {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        let bits = if CONTEXTS <= 8 {
            u8::deserialize(from)?.into()
        } else {
            u16::deserialize(from)?
        };
        Ok(Self::from_bits(bits))
    }
}

impl ContextMode {
    /// Returns how many registers a context has in each bank and of each kind of transfer register.
    #[must_use]
    #[inline]
    pub const fn registers(self) -> u8 {
        match self {
            Self::Four => REGISTERS / 4,
            Self::Eight => REGISTERS / 8,
        }
    }

    /// Returns the distance between the numbers of consecutive running contexts.
    #[must_use]
    #[inline]
    pub const fn stride(self) -> u8 {
        match self {
            Self::Four => CONTEXTS / 4,
            Self::Eight => CONTEXTS / 8,
        }
    }

    /// Returns the contexts that run in this mode.
    #[must_use]
    #[inline]
    pub const fn running(self) -> ContextSet {
        let mut contexts = ContextSet::EMPTY;
        let mut number = 0;
        while number < CONTEXTS {
            contexts.insert(Context(number));
            number += self.stride();
        }
        contexts
    }

    /// Returns the next running context after this one, in round-robin order.
    #[must_use]
    #[inline]
    pub const fn next(self, context: Context) -> Context {
        Context::wrapping(context.0 + self.stride())
    }
}

#[cfg(test)]
mod tests {
    use serde::de::IntoDeserializer;
    use serde::de::value::{Error, U8Deserializer};

    use super::*;

    fn context(number: u8) -> Context {
        Context::new(number).unwrap()
    }

    #[test]
    fn context_numbers_out_of_range_are_rejected_or_wrap() {
        assert_eq!(Context::new(CONTEXTS), None);
        assert_eq!(Context::wrapping(CONTEXTS + 3), context(3));
        assert_eq!(Context::all().last(), Some(Context::LAST));
        let number: U8Deserializer<Error> = (CONTEXTS + 1).into_deserializer();
        assert_eq!(Context::deserialize(number), Ok(context(1)));
    }

    #[test]
    fn four_context_mode_uses_even_contexts() {
        assert_eq!(ContextMode::Four.running().bits(), 0x55);
        assert_eq!(ContextMode::Eight.running(), ContextSet::ALL);
        assert_eq!(ContextMode::Four.next(context(6)), Context::FIRST);
        assert_eq!(ContextMode::Eight.next(context(6)), Context::LAST);
    }

    #[test]
    fn next_context_in_a_set_is_round_robin() {
        for bits in 0..=ContextSet::ALL.bits() {
            let set = ContextSet::from_bits(bits);
            for last in Context::all() {
                let found = last.round_robin_after().find(|&it| set.contains(it));
                assert_eq!(set.next_after(last), found, "{bits:x} after {last}");
            }
            assert_eq!(set.iter().collect::<ContextSet>(), set);
        }
    }

    #[test]
    fn context_sets_insert_remove_and_combine() {
        let mut set = ContextSet::from(context(2));
        set.insert(context(5));
        assert_eq!(set.bits(), 0b10_0100);
        set.remove(context(2));
        assert!(!set.contains(context(2)) && set.contains(context(5)));
        assert_eq!(ContextSet::ALL.difference(set).union(set), ContextSet::ALL);
        assert_eq!(ContextSet::from_bits(u16::MAX), ContextSet::ALL);
        assert!(set.intersection(ContextMode::Four.running()).is_empty());
    }

    #[test]
    fn registers_are_divided_among_running_contexts() {
        for mode in [ContextMode::Four, ContextMode::Eight] {
            let bases = mode.running().iter().map(Context::register_base);
            assert!(
                bases.eq((0..REGISTERS).step_by(mode.registers().into())),
                "{mode:?}"
            );
        }
        assert_eq!(context(5).absolute_register(4), 84);
        assert_eq!(context(7).absolute_register(20), 4);
    }
}
