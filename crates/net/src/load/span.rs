//! How long traffic comes.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::number;

/// A length of time, exact to the picosecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimeSpan(u64);

/// A text that is no time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a time; write for example 2ms, 500us or 1.5s, at most 24 hours")]
pub struct SpanError(String);

const UNITS: [(&str, u64); 5] = [
    ("ms", 1_000_000_000),
    ("us", 1_000_000),
    ("ns", 1_000),
    ("ps", 1),
    ("s", 1_000_000_000_000),
];

/// 24 hours, far below 2^64.
const LIMIT_PS: u64 = 86_400_000_000_000_000;

impl TimeSpan {
    /// So many picoseconds, at most 24 hours of them.
    #[must_use]
    pub fn from_picoseconds(ps: u64) -> Self {
        Self(ps.min(LIMIT_PS))
    }

    /// In picoseconds.
    #[must_use]
    pub const fn picoseconds(self) -> u64 {
        self.0
    }
}

impl FromStr for TimeSpan {
    type Err = SpanError;

    fn from_str(text: &str) -> Result<Self, SpanError> {
        let error = || SpanError(text.to_string());
        let (digits, unit) = UNITS
            .iter()
            .find_map(|(name, ps)| Some((text.strip_suffix(name)?.trim_end(), *ps)))
            .ok_or_else(error)?;
        let number = number::ratio(digits).map_err(|_| error())?;
        let scaled = u128::from(number.numerator()) * u128::from(unit);
        let ps = scaled / u128::from(number.denominator());
        let whole = scaled % u128::from(number.denominator()) == 0;
        match u64::try_from(ps) {
            Ok(ps) if whole && ps <= LIMIT_PS => Ok(Self(ps)),
            _ => Err(error()),
        }
    }
}

impl fmt::Display for TimeSpan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut units = UNITS;
        units.sort_by_key(|unit| std::cmp::Reverse(unit.1));
        let (name, scale) = units
            .into_iter()
            .find(|(_, scale)| self.0 >= *scale && self.0.is_multiple_of(*scale))
            .unwrap_or(("ps", 1));
        write!(out, "{}{name}", self.0 / scale)
    }
}

impl Serialize for TimeSpan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// What it is read from.
const EXPECTED: &str = "a time such as \"2ms\"";

impl<'de> Deserialize<'de> for TimeSpan {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        number::deserialize(deserializer, EXPECTED)
    }
}

impl JsonSchema for TimeSpan {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Span".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        number::schema(EXPECTED)
    }
}

#[cfg(test)]
mod tests {
    use super::TimeSpan;

    #[test]
    fn times_read_and_print() {
        for text in ["1ms", "1500us", "2s", "7ns", "1ps"] {
            assert_eq!(text.parse::<TimeSpan>().unwrap().to_string(), text);
        }
        assert_eq!("1.5 ms".parse(), Ok(TimeSpan(1_500_000_000)));
        for text in [
            "",
            "1",
            "0ms",
            "fast",
            "0.5ps",
            "25000000000s",
            "90000s",
            "-1s",
        ] {
            assert!(text.parse::<TimeSpan>().is_err(), "{text}");
        }
    }
}
