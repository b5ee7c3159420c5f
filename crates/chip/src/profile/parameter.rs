//! A number about the hardware: what it must look like, what a profile makes of
//! it, and how well that is founded.

use std::fmt;

/// What a parameter must look like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schema {
    /// The part of the chip it belongs to.
    pub group: &'static str,
    /// Its name in the group.
    pub name: &'static str,
    /// The unit of measure.
    pub unit: &'static str,
    /// Least value that the model can work with.
    pub least: u64,
    /// Greatest value that the model can work with.
    pub most: u64,
    /// What it means.
    pub meaning: &'static str,
    /// Whether it stands in the board's file, not in the chip's.
    pub(super) board: bool,
}

impl Schema {
    /// Whether the parameter stands in the board's file, not in the chip's.
    #[must_use]
    pub const fn is_of_the_board(&self) -> bool {
        self.board
    }
}

/// How well a parameter is founded.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Foundation {
    /// Read in a primary source.
    Source,
    /// Two weak sources agree.
    Likely,
    /// Computed from other figures.
    Derived,
    /// Fitted to one published figure.
    Calibrated,
    /// One recollection or a modelling choice.
    Assumed,
}

impl Foundation {
    /// All of them, best first.
    pub const ALL: [Self; 5] = [
        Self::Source,
        Self::Likely,
        Self::Derived,
        Self::Calibrated,
        Self::Assumed,
    ];

    /// The word used in profiles.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Source => "source",
            Self::Likely => "likely",
            Self::Derived => "derived",
            Self::Calibrated => "calibrated",
            Self::Assumed => "assumed",
        }
    }
}

impl fmt::Display for Foundation {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}

/// One parameter as the profile gives it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The unit of the chip it belongs to.
    pub group: &'static str,
    /// Its name in the group.
    pub name: &'static str,
    /// Its value.
    pub value: u64,
    /// The unit of measure.
    pub unit: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// How well it is founded.
    pub foundation: Foundation,
    /// The source, or the reason for the mark.
    pub basis: String,
}

/// A known fault of the silicon, as data.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Erratum {
    /// The vendor's number.
    pub number: u32,
    /// What goes wrong.
    pub effect: String,
    /// Where it is documented.
    pub source: String,
    /// RBUF elements it concerns, by element size 64, 128, 256 bytes.
    pub elements: [Vec<u8>; 3],
}
