//! Bit fields, with one module of constants per word format.
//!
//! `raw::alu::OP.get(word)` is the operation field of an `alu` word. The
//! constants are generated from the format table.

/// A run of bits in a word.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Field {
    /// Name in the format table.
    pub name: &'static str,
    /// Lowest bit.
    pub lo: u8,
    /// Number of bits.
    pub width: u8,
}

impl Field {
    /// Makes a field of `width` bits whose lowest bit is `lo`.
    #[must_use]
    pub const fn new(name: &'static str, lo: u8, width: u8) -> Self {
        Self { name, lo, width }
    }

    /// Returns the largest value that the field holds.
    #[must_use]
    pub const fn max(self) -> u64 {
        (1 << self.width) - 1
    }

    /// Returns the mask of the field's bits in the word.
    #[must_use]
    pub const fn mask(self) -> u64 {
        self.max() << self.lo
    }

    /// Returns the field's value in `word`.
    #[must_use]
    pub const fn get(self, word: u64) -> u64 {
        (word >> self.lo) & self.max()
    }

    /// Whether any bit of the field is set in `word`.
    #[must_use]
    pub const fn flag(self, word: u64) -> bool {
        self.get(word) != 0
    }

    /// Returns `value` shifted to the field's position; bits that do not fit
    /// are cut off.
    #[must_use]
    pub const fn put(self, value: u64) -> u64 {
        (value & self.max()) << self.lo
    }
}

include!(concat!(env!("OUT_DIR"), "/raw.rs"));
