//! A parameter of the hardware: its schema, its value in a profile, and its provenance.

use std::fmt;

use serde::Serialize;

use crate::error::ProfileError;

/// The values that a parameter may have.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Domain {
    /// A whole number.
    Number {
        /// The unit of measure.
        unit: &'static str,
        /// Smallest value that the model can work with.
        least: u64,
        /// Greatest value that the model can work with.
        most: u64,
    },
    /// One of these names.
    Name(&'static [&'static str]),
}

/// The definition of a parameter.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Schema {
    /// The part of the chip that it belongs to.
    pub group: &'static str,
    /// The name in the group.
    pub name: &'static str,
    /// The values that it may have.
    pub domain: Domain,
    /// What it means.
    pub meaning: &'static str,
    /// Whether it is in the board's file rather than the chip's.
    pub(crate) board: bool,
}

impl Schema {
    /// Whether the parameter is in the board's file rather than the chip's.
    #[must_use]
    pub const fn is_board_parameter(&self) -> bool {
        self.board
    }

    /// `group.name`
    #[must_use]
    pub fn key(&self) -> String {
        format!("{}.{}", self.group, self.name)
    }

    /// The value that a text on the command line stands for, in range or not.
    ///
    /// # Errors
    /// Returns an error if it is not a number, or not one of the names.
    pub fn parse(&self, text: &str) -> Result<ParameterValue, ProfileError> {
        match self.domain {
            Domain::Number { .. } => match text.replace('_', "").parse() {
                Ok(number) => Ok(ParameterValue::Number(number)),
                Err(_) => Err(ProfileError::InvalidValue {
                    key: self.key(),
                    reason: format!("`{text}` is not a whole number from 0"),
                }),
            },
            Domain::Name(known) => choose(&self.key(), text, known),
        }
    }
}

/// The one of a policy's names that equals a text.
///
/// # Errors
/// Returns an error if the policy has no such name.
pub(crate) fn choose(
    key: &str,
    text: &str,
    known: &'static [&'static str],
) -> Result<ParameterValue, ProfileError> {
    let name = known.iter().find(|name| **name == text);
    let name = name.ok_or_else(|| ProfileError::UnknownName {
        key: key.to_owned(),
        name: text.to_owned(),
        known,
    })?;
    Ok(ParameterValue::Name(name))
}

/// The value of a parameter in a profile.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(untagged)]
pub enum ParameterValue {
    /// A number, in the parameter's unit of measure.
    Number(u64),
    /// The name of a policy.
    Name(&'static str),
}

impl ParameterValue {
    /// The number, if it is one.
    #[must_use]
    pub const fn number(self) -> Option<u64> {
        match self {
            Self::Number(number) => Some(number),
            Self::Name(_) => None,
        }
    }

    /// The name, if it is one.
    #[must_use]
    pub const fn name(self) -> Option<&'static str> {
        match self {
            Self::Number(_) => None,
            Self::Name(name) => Some(name),
        }
    }
}

impl From<u64> for ParameterValue {
    fn from(number: u64) -> Self {
        Self::Number(number)
    }
}

impl From<&'static str> for ParameterValue {
    fn from(name: &'static str) -> Self {
        Self::Name(name)
    }
}

impl fmt::Display for ParameterValue {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Number(number) => number.fmt(f),
            Self::Name(name) => name.fmt(f),
        }
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
    /// All foundations, best first.
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

/// A parameter as given in a profile.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Parameter {
    /// The unit of the chip that it belongs to.
    pub group: &'static str,
    /// The name in the group.
    pub name: &'static str,
    /// The value.
    pub value: ParameterValue,
    /// The unit of measure; empty for a name.
    pub unit: &'static str,
    /// What it means.
    pub meaning: &'static str,
    /// How well it is founded.
    pub foundation: Foundation,
    /// The source, or the reason for the provenance.
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
    /// The RBUF elements that it affects, by element size: 64, 128, 256 bytes.
    pub elements: [Vec<u8>; 3],
}
