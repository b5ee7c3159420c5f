//! Word formats: which class a word belongs to and how its bits are divided.

use crate::{Evidence, raw::Field};

/// The kind of contents of a field.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum FieldKind {
    /// One bit, yes or no.
    Flag,
    /// A number.
    Uint,
    /// A code of an enumeration.
    Enum,
    /// A control-store word address.
    Address,
    /// An operand in the restricted form.
    Restricted,
    /// An operand in the unrestricted form.
    Unrestricted,
}

/// A field with its meaning.
#[derive(Clone, Copy, Debug)]
pub struct FieldInfo {
    /// Position and name.
    pub field: Field,
    /// The kind of contents.
    pub kind: FieldKind,
    /// Description, in prose.
    pub doc: &'static str,
}

/// A word format.
#[derive(Clone, Copy, Debug)]
pub struct FormatInfo {
    /// The format itself.
    pub format: Format,
    /// Name in the table.
    pub name: &'static str,
    /// Title for reference pages.
    pub title: &'static str,
    /// The leading bits: 0, 1, or `.` for a bit that is not tested.
    pub pattern: &'static str,
    /// Bits that select the format.
    pub match_mask: u64,
    /// Value of those bits.
    pub match_value: u64,
    /// Bits in neither the match nor a field, which are zero.
    pub reserved: u64,
    /// Fields, from the top bit down.
    pub fields: &'static [FieldInfo],
    /// Evidence for the layout.
    pub evidence: &'static [Evidence],
    /// What remains unconfirmed, if anything.
    pub uncertain: Option<&'static str>,
}

/// A bit layout that is not a format of its own.
#[derive(Clone, Copy, Debug)]
pub struct RecordInfo {
    /// Name in the table.
    pub name: &'static str,
    /// Title for reference pages.
    pub title: &'static str,
    /// Number of bits.
    pub bits: u32,
    /// Where it occurs.
    pub doc: &'static str,
    /// The fields.
    pub fields: &'static [FieldInfo],
    /// Evidence for the layout.
    pub evidence: &'static [Evidence],
    /// What remains unconfirmed, if anything.
    pub uncertain: Option<&'static str>,
}

include!(concat!(env!("OUT_DIR"), "/formats.rs"));

/// Mask of all bits of an instruction word.
pub const WORD_MASK: u64 = (1 << WORD_BITS) - 1;

impl Format {
    /// Returns the format's table row.
    #[must_use]
    pub fn info(self) -> &'static FormatInfo {
        &FORMATS[self as usize]
    }

    /// Returns the format of a word, from its bits 39..32 alone.
    #[must_use]
    pub fn of(word: u64) -> Option<Self> {
        CLASSES[usize::from((word >> (WORD_BITS - 8)) as u8)]
    }

    /// Returns the name in the table.
    #[must_use]
    pub fn name(self) -> &'static str {
        self.info().name
    }
}
