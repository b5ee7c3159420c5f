//! Frame sizes.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::number;

/// Shortest frame, in bytes with FCS.
pub const MIN_FRAME_SIZE: u32 = 64;
/// Longest frame of a load, in bytes with FCS.
pub const MAX_FRAME_SIZE: u32 = 9_216;

/// A frame size and its relative frequency.
#[derive(Clone, Copy, Debug, PartialEq, Eq, serde::Serialize, serde::Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct Size {
    /// Bytes with FCS, as the literature counts: 64 to 9216.
    pub bytes: u32,
    /// Relative frequency, in proportion to the weights of the other sizes.
    #[serde(default = "one")]
    pub weight: u32,
}

fn one() -> u32 {
    1
}

/// The frame sizes of a load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sizes(Vec<Size>);

/// The simple Internet mix: IP packets of at most 46, of 576 and of 1500 bytes in the ratio 7:4:1.
const IMIX: [Size; 3] = [
    Size {
        bytes: 64,
        weight: 7,
    },
    Size {
        bytes: 594,
        weight: 4,
    },
    Size {
        bytes: 1518,
        weight: 1,
    },
];

/// Why something is not a frame size.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum SizeError {
    /// It is neither a number nor a mix.
    #[error(
        "`{0}` is not a frame size: write bytes with FCS such as 64 or 512, `imix`, or sizes with weights such as 64:7,594:4,1518:1"
    )]
    Unknown(String),
    /// Ethernet has no frame of this size.
    #[error(
        "a frame of {0} bytes cannot be sent: with FCS a frame has {MIN_FRAME_SIZE} to {MAX_FRAME_SIZE}"
    )]
    Impossible(u32),
    /// All weights are zero.
    #[error("all frame sizes have weight 0, so none can be chosen; give one a weight")]
    NoWeight,
}

impl Sizes {
    /// Gives every frame the same size, in bytes with FCS.
    ///
    /// # Errors
    /// Returns an error if no frame has that size.
    pub fn one(bytes: u32) -> Result<Self, SizeError> {
        Self::mix(vec![Size { bytes, weight: 1 }])
    }

    /// Returns the simple Internet mix: 64, 594 and 1518 bytes in the ratio 7 : 4 : 1.
    #[must_use]
    pub fn imix() -> Self {
        Self(IMIX.to_vec())
    }

    /// Creates a mix of sizes with their weights.
    ///
    /// # Errors
    /// Returns an error if a size is impossible or all weights are zero.
    pub fn mix(sizes: Vec<Size>) -> Result<Self, SizeError> {
        if let Some(size) = sizes
            .iter()
            .find(|size| !(MIN_FRAME_SIZE..=MAX_FRAME_SIZE).contains(&size.bytes))
        {
            return Err(SizeError::Impossible(size.bytes));
        }
        if sizes.iter().all(|size| size.weight == 0) {
            return Err(SizeError::NoWeight);
        }
        Ok(Self(sizes))
    }

    /// The sizes.
    #[must_use]
    pub fn sizes(&self) -> &[Size] {
        &self.0
    }

    /// Returns the sum of all weights.
    pub(super) fn weight(&self) -> u64 {
        self.0.iter().map(|size| u64::from(size.weight)).sum()
    }

    /// Returns the size at a position among the weights, which is less than [`Sizes::weight`].
    pub(super) fn at(&self, mut place: u64) -> u32 {
        for size in &self.0 {
            let weight = u64::from(size.weight);
            if place < weight {
                return size.bytes;
            }
            place -= weight;
        }
        MIN_FRAME_SIZE
    }
}

impl Default for Sizes {
    fn default() -> Self {
        Self(vec![Size {
            bytes: MIN_FRAME_SIZE,
            weight: 1,
        }])
    }
}

impl FromStr for Sizes {
    type Err = SizeError;

    /// Parses `64`, `imix`, and `64:7,594:4,1518:1`.
    fn from_str(text: &str) -> Result<Self, SizeError> {
        if text == "imix" {
            return Ok(Self::imix());
        }
        let unknown = || SizeError::Unknown(text.to_string());
        let sizes = text.split(',').map(|entry| {
            let (bytes, weight) = entry.trim().split_once(':').unwrap_or((entry.trim(), "1"));
            Ok(Size {
                bytes: bytes.parse().map_err(|_| unknown())?,
                weight: weight.parse().map_err(|_| unknown())?,
            })
        });
        Self::mix(sizes.collect::<Result<_, SizeError>>()?)
    }
}

impl fmt::Display for Sizes {
    /// Writes the form that [`Sizes::from_str`] parses.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self.0.as_slice() {
            sizes if sizes == IMIX => out.write_str("imix"),
            [size] => write!(out, "{}", size.bytes),
            sizes => {
                let texts: Vec<_> = sizes
                    .iter()
                    .map(|size| format!("{}:{}", size.bytes, size.weight))
                    .collect();
                out.write_str(&texts.join(","))
            }
        }
    }
}

impl Serialize for Sizes {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Expected input, for error messages.
const EXPECTED: &str = "a frame size such as 64, \"imix\", or a list of { bytes, weight }";

impl<'de> Deserialize<'de> for Sizes {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        number::deserialize_or_list(deserializer, EXPECTED, str::parse, Self::mix)
    }
}

impl JsonSchema for Sizes {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Sizes".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        number::schema_or_list::<Size>(generator, EXPECTED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sizes_parse_and_print() {
        for text in ["64", "1518", "imix", "64:1,128:3"] {
            assert_eq!(text.parse::<Sizes>().unwrap().to_string(), text);
        }
        assert_eq!("64:7,594:4,1518:1".parse(), Ok(Sizes::imix()));
        assert_eq!("63".parse::<Sizes>(), Err(SizeError::Impossible(63)));
        assert_eq!("64:0".parse::<Sizes>(), Err(SizeError::NoWeight));
        for text in ["", "big", "64:", "-64", "64,"] {
            assert_eq!(text.parse::<Sizes>(), Err(SizeError::Unknown(text.into())));
        }
    }

    #[test]
    fn size_at_each_position_follows_the_weights() {
        let imix = Sizes::imix();
        let sizes: Vec<_> = (0..imix.weight()).map(|place| imix.at(place)).collect();
        assert_eq!(
            sizes,
            [64, 64, 64, 64, 64, 64, 64, 594, 594, 594, 594, 1518]
        );
    }
}
