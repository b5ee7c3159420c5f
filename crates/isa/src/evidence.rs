//! How well a fact of the instruction set is supported.

/// Kind of support for a table row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Evidence {
    /// Words made by the vendor's assembler, checked against their source text.
    Golden,
    /// Words that carry the vendor's listing comment.
    Listing,
    /// One disassembler for this family says so.
    OneDisassembler,
    /// The same bits mean this in the NFP descendant.
    Descendant,
    /// The hardware reference manual.
    Manual,
    /// Library or application code relies on it.
    Library,
    /// The host-side loader relies on it.
    Loader,
    /// Nothing confirms it.
    Uncertain,
}

impl Evidence {
    /// The mark used in tables and reference pages.
    #[must_use]
    pub const fn label(self) -> &'static str {
        match self {
            Self::Golden => "golden",
            Self::Listing => "listing",
            Self::OneDisassembler => "one disassembler",
            Self::Descendant => "descendant",
            Self::Manual => "manual",
            Self::Library => "library",
            Self::Loader => "loader",
            Self::Uncertain => "uncertain",
        }
    }
}
