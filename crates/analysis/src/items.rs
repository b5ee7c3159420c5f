//! Completion items, as data.

use std::ops::Range;

use npsim_asm::name_index::NameKind;

/// The kind of an [`Item`].
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

/// A completion item.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Item {
    /// The text in the list.
    pub label: String,
    /// The kind.
    pub kind: ItemKind,
    /// A short detail: its form, its value.
    pub detail: Option<String>,
    /// Its meaning, in Markdown.
    pub doc: Option<String>,
    /// The text to insert.
    pub text: String,
    /// The text to match against what has been typed, in place of the label.
    pub filter: Option<String>,
}

/// The completions at a place.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    /// The bytes already typed, which are replaced.
    pub typed: Range<usize>,
    /// The matching items.
    pub items: Vec<Item>,
}
