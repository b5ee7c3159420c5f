//! What can be written at a place, as data.

use std::ops::Range;

use npsim_asm::name_index::NameKind;

/// What an [`Item`] is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ItemKind {
    /// A directive or an optional token.
    Keyword,
    /// An instruction, or a function of expressions or conditions.
    Function,
    /// A macro.
    Macro,
    /// A register of the chip, or a name that stands for a value.
    Constant,
    /// One of a list of codes, such as a command of a unit.
    Member,
    /// An operator of the ALU or the like.
    Operator,
    /// A name that the program declares.
    Name(NameKind),
    /// A section of a project file.
    Section,
    /// A key of a project file.
    Key,
    /// A value of a key.
    Value,
}

/// Something that can be written.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// As it is listed.
    pub label: String,
    /// What it is.
    pub kind: ItemKind,
    /// A few words on it: its form, its value.
    pub detail: Option<String>,
    /// What it means, in Markdown.
    pub doc: Option<String>,
    /// What is written.
    pub text: String,
    /// What is compared with what has been typed, in place of the label.
    pub filter: Option<String>,
}

/// What can be written at a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// The bytes that have been typed of it and are replaced.
    pub typed: Range<usize>,
    /// Each of what fits.
    pub items: Vec<Item>,
}
