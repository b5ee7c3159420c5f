//! How well a fact of the instruction set is supported.

/// The kind of evidence for a table row.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Evidence {
    /// Words produced by the vendor's assembler, checked against their source
    /// text.
    Golden,
    /// Words that carry the vendor's listing comment.
    Listing,
    /// One disassembler for this family implies it.
    OneDisassembler,
    /// The bits have this meaning in the NFP descendant.
    Descendant,
    /// The hardware reference manual.
    Manual,
    /// Library or application code relies on it.
    Library,
    /// The host-side loader relies on it.
    Loader,
    /// No source confirms it.
    Uncertain,
}

impl Evidence {
    /// All kinds, strongest first.
    pub const ALL: [Self; 8] = [
        Self::Golden,
        Self::Listing,
        Self::OneDisassembler,
        Self::Descendant,
        Self::Manual,
        Self::Library,
        Self::Loader,
        Self::Uncertain,
    ];

    /// Returns what the mark means.
    #[must_use]
    pub const fn meaning(self) -> &'static str {
        match self {
            Self::Golden => {
                "words that the vendor's own assembler made, compared with the source text they were made from"
            }
            Self::Listing => {
                "words from an assembler listing, where the vendor's comment beside each word says what it is"
            }
            Self::OneDisassembler => "one disassembler for this family of chips says so",
            Self::Descendant => {
                "the same bits mean this in the NFP, the later network processor that took the instruction set over"
            }
            Self::Manual => "the hardware reference manual says so",
            Self::Library => "published libraries or applications work only if it is so",
            Self::Loader => "the loader on the host processor works only if it is so",
            Self::Uncertain => "nothing confirms it",
        }
    }

    /// Returns the mark used in tables and reference pages.
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
