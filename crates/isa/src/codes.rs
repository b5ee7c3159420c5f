//! Enumerated fields: operators, conditions, states and options.

use crate::Evidence;

/// A value of an enumeration.
#[derive(Clone, Copy, Debug)]
pub struct CodeInfo {
    /// Value in the word.
    pub code: u8,
    /// Name of the variant.
    pub name: &'static str,
    /// Spelling in microcode.
    pub text: &'static str,
    /// Other accepted spellings.
    pub aliases: &'static [&'static str],
    /// Meaning in words.
    pub doc: &'static str,
    /// What supports the value.
    pub evidence: &'static [Evidence],
    /// What is not confirmed.
    pub uncertain: Option<&'static str>,
}

impl CodeInfo {
    /// Whether `text` is this value's spelling or an alias, in any letter case.
    #[must_use]
    pub fn is_spelt(&self, text: &str) -> bool {
        self.text.eq_ignore_ascii_case(text)
            || self.aliases.iter().any(|a| a.eq_ignore_ascii_case(text))
    }
}

/// An enumeration for reference pages.
#[derive(Clone, Copy, Debug)]
pub struct EnumerationInfo {
    /// Name of the type.
    pub name: &'static str,
    /// `format.field` whose codes it lists.
    pub field: &'static str,
    /// Meaning in words.
    pub doc: &'static str,
    /// The values in table order.
    pub values: &'static [&'static CodeInfo],
}

include!(concat!(env!("OUT_DIR"), "/enums.rs"));

impl InputState {
    /// The state number in the instruction, 0-15.
    #[must_use]
    pub const fn number(self) -> u8 {
        self.code()
    }

    /// The state with this number.
    #[must_use]
    pub const fn from_number(number: u8) -> Option<Self> {
        Self::from_code(number)
    }
}

impl AluOp {
    /// Whether the operator ignores A.
    #[must_use]
    pub const fn is_unary(self) -> bool {
        matches!(self, Self::B | Self::NotB)
    }
}

impl ShfOp {
    /// Whether the operator ignores A.
    #[must_use]
    pub const fn is_unary(self) -> bool {
        matches!(self, Self::B | Self::NotB)
    }
}
