//! Duration of traffic.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::number;
use crate::quantity::Time;

/// A time span, exact to the picosecond.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct TimeSpan(u64);

/// A text that is not a time.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("`{0}` is not a time; write for example 2ms, 500us or 1.5s, at most 24 hours")]
pub struct SpanError(String);

/// 24 hours, far below 2^64 ps.
const LIMIT_PS: u64 = 86_400_000_000_000_000;

impl TimeSpan {
    /// Creates a span of `ps` picoseconds, capped at 24 hours.
    #[must_use]
    pub fn from_picoseconds(ps: u64) -> Self {
        Self(ps.min(LIMIT_PS))
    }

    /// Returns the span in picoseconds.
    #[must_use]
    pub const fn picoseconds(self) -> u64 {
        self.0
    }
}

impl FromStr for TimeSpan {
    type Err = SpanError;

    fn from_str(text: &str) -> Result<Self, SpanError> {
        match text.parse() {
            Ok(Time::Picoseconds(ps @ 1..=LIMIT_PS)) => Ok(Self(ps)),
            _ => Err(SpanError(text.to_string())),
        }
    }
}

impl fmt::Display for TimeSpan {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        Time::Picoseconds(self.0).fmt(out)
    }
}

impl Serialize for TimeSpan {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        serializer.collect_str(self)
    }
}

/// Expected input, for error messages.
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
    fn times_parse_and_print() {
        for text in ["1ms", "1500us", "2s", "7ns", "1ps"] {
            assert_eq!(text.parse::<TimeSpan>().unwrap().to_string(), text);
        }
        for text in ["1.5 ms", "3/2ms", " 1_500us", "1500\u{b5}s"] {
            assert_eq!(text.parse(), Ok(TimeSpan(1_500_000_000)), "{text}");
        }
        for text in [
            "",
            "1",
            "5 cycles",
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
