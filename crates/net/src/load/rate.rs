//! Amount of traffic.

use std::borrow::Cow;
use std::fmt;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::de::{Deserialize, Deserializer};
use serde::ser::{Serialize, Serializer};

use super::number;
use crate::quantity;
use crate::{Ratio, RatioError};

/// Amount of traffic per second.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Amount {
    /// A fraction of the lines' rate, including preamble and gap: 1 is back to back.
    Line(Ratio),
    /// Frames.
    Packets(Ratio),
    /// Bits on the line: preamble, frame, FCS and gap.
    Bits(Ratio),
}

/// The rate of a load.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum LoadRate {
    /// Over all ports together.
    Total(Amount),
    /// Port by port; `None` for no traffic. Ports beyond the end of the list get none.
    PerPort(Vec<Option<Amount>>),
}

/// Why a text is not a rate.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum RateError {
    /// The unit is unknown.
    #[error(
        "`{0}` is not a rate: write a part of the lines' rate such as 0.33 or 33%, frames such as 4.5Mpps, bits of line time such as 3Gbps, or a list with one of these for each port"
    )]
    Unknown(String),
    /// The number before the unit is wrong.
    #[error("the rate `{text}` has no usable number: {source}")]
    Number {
        /// The text.
        text: String,
        /// What is wrong with the number.
        source: RatioError,
    },
    /// The load is more than back to back.
    #[error(
        "a load of `{0}` is more than the lines carry: 1 is back to back on every port; a number of frames or bits has a unit, as in 5Mpps or 3Gbps"
    )]
    AboveLineRate(String),
    /// The prefix is in lower case but should be in upper case.
    #[error("`{text}` is not a rate: the prefix is a capital letter, as in {meant}")]
    LowercasePrefix {
        /// The text.
        text: String,
        /// The text with the prefix in upper case.
        meant: String,
    },
}

impl FromStr for Amount {
    type Err = RateError;

    /// Parses `0.33`, `33%`, `1/3`, `200pps`, `4.5Mpps`, `3Gbps`, `100 Mb/s`.
    fn from_str(text: &str) -> Result<Self, RateError> {
        let of_number = |digits: &str, factor: u64| {
            if let Some(number) = digits.strip_suffix(['m', 'g'])
                && quantity::ratio(number).is_ok()
            {
                let (at, prefix) = (number.len(), &digits[number.len()..]);
                let meant = format!("{number}{}{}", prefix.to_uppercase(), &text[at + 1..]);
                let text = text.to_string();
                return Err(RateError::LowercasePrefix { text, meant });
            }
            quantity::ratio(digits)
                .and_then(|ratio| ratio.times(factor))
                .map_err(|source| RateError::Number {
                    text: text.to_string(),
                    source,
                })
        };
        if let Some((digits, factor)) = quantity::scaled(text, "pps") {
            return of_number(digits, factor).map(Self::Packets);
        }
        for unit in quantity::BIT_RATE_UNITS {
            if let Some((digits, factor)) = quantity::scaled(text, unit) {
                return of_number(digits, factor).map(Self::Bits);
            }
        }
        let (digits, parts) = match text.strip_suffix('%') {
            Some(digits) => (digits.trim_end(), 100),
            None => (text, 1),
        };
        if digits
            .bytes()
            .any(|byte| !byte.is_ascii_digit() && !b"./".contains(&byte))
        {
            return Err(RateError::Unknown(text.to_string()));
        }
        let ratio = of_number(digits, 1)?;
        let ratio = ratio
            .denominator()
            .checked_mul(parts)
            .ok_or(RatioError::TooLarge)
            .and_then(|denominator| Ratio::new(ratio.numerator(), denominator))
            .map_err(|source| RateError::Number {
                text: text.to_string(),
                source,
            })?;
        if ratio.numerator() > ratio.denominator() {
            return Err(RateError::AboveLineRate(text.to_string()));
        }
        Ok(Self::Line(ratio))
    }
}

impl fmt::Display for Amount {
    /// Writes the form that [`Amount::from_str`] parses.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Line(part) => write!(out, "{part}"),
            Self::Packets(rate) => write!(out, "{}pps", quantity::with_prefix(*rate)),
            Self::Bits(rate) => write!(out, "{}bps", quantity::with_prefix(*rate)),
        }
    }
}

impl FromStr for LoadRate {
    type Err = RateError;

    /// Parses an [`Amount`], or a comma-separated list with one for each port, `0` for a port without
    /// traffic.
    fn from_str(text: &str) -> Result<Self, RateError> {
        if text.contains(',') {
            let parts = text.split(',').map(|part| port_amount(part.trim()));
            return parts.collect::<Result<_, _>>().map(Self::PerPort);
        }
        text.parse().map(Self::Total)
    }
}

impl fmt::Display for LoadRate {
    /// Writes the form that [`LoadRate::from_str`] parses, except for a list of one.
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Total(amount) => amount.fmt(out),
            Self::PerPort(amounts) => {
                let texts: Vec<_> = amounts.iter().map(|&amount| port_text(amount)).collect();
                out.write_str(&texts.join(","))
            }
        }
    }
}

fn port_amount(text: &str) -> Result<Option<Amount>, RateError> {
    match quantity::ratio_or_zero(text) {
        Ok(None) => Ok(None),
        _ => text.parse().map(Some),
    }
}

fn port_text(amount: Option<Amount>) -> String {
    amount.map_or_else(|| "0".to_string(), |amount| amount.to_string())
}

impl Serialize for LoadRate {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        match self {
            Self::Total(amount) => serializer.collect_str(amount),
            Self::PerPort(amounts) => {
                serializer.collect_seq(amounts.iter().map(|&amount| port_text(amount)))
            }
        }
    }
}

/// One entry of a list, so that errors name the entry.
struct PortAmount(Option<Amount>);

impl FromStr for PortAmount {
    type Err = RateError;

    fn from_str(text: &str) -> Result<Self, RateError> {
        port_amount(text).map(Self)
    }
}

const EXPECTED: &str =
    "a rate such as 0.33, \"4.5Mpps\" or \"3Gbps\", or a list with one for each port";

impl<'de> Deserialize<'de> for PortAmount {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        number::deserialize(deserializer, EXPECTED)
    }
}

impl JsonSchema for PortAmount {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "PortAmount".into()
    }

    fn json_schema(_: &mut SchemaGenerator) -> Schema {
        number::schema(EXPECTED)
    }
}

impl<'de> Deserialize<'de> for LoadRate {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        number::deserialize_or_list(
            deserializer,
            EXPECTED,
            str::parse,
            |list: Vec<PortAmount>| {
                Ok::<_, RateError>(Self::PerPort(
                    list.into_iter().map(|entry| entry.0).collect(),
                ))
            },
        )
    }
}

impl JsonSchema for LoadRate {
    fn inline_schema() -> bool {
        true
    }

    fn schema_name() -> Cow<'static, str> {
        "Rate".into()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        number::schema_or_list::<PortAmount>(generator, EXPECTED)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn ratio(numerator: u64, denominator: u64) -> Ratio {
        Ratio::new(numerator, denominator).unwrap()
    }

    #[test]
    fn rates_parse_and_print() {
        for (text, rate) in [
            ("0.33", Amount::Line(ratio(33, 100))),
            ("33%", Amount::Line(ratio(33, 100))),
            ("1/3", Amount::Line(ratio(1, 3))),
            ("1", Amount::Line(Ratio::ONE)),
            ("4.5Mpps", Amount::Packets(ratio(4_500_000, 1))),
            ("200pps", Amount::Packets(ratio(200, 1))),
            ("3Gbps", Amount::Bits(ratio(3_000_000_000, 1))),
            ("100 Mb/s", Amount::Bits(ratio(100_000_000, 1))),
        ] {
            let read: LoadRate = text.parse().unwrap();
            assert_eq!(read, LoadRate::Total(rate), "{text}");
            assert_eq!(read.to_string().parse(), Ok(read), "{text}");
        }
        assert_eq!(
            "0.5,0,10kpps".parse(),
            Ok(LoadRate::PerPort(vec![
                Some(Amount::Line(ratio(1, 2))),
                None,
                Some(Amount::Packets(ratio(10_000, 1)))
            ]))
        );
        for text in [
            "", "0", "fast", "-1", "1.5", "101%", "5mpps", "1Tbps", "0pps", "1e6",
        ] {
            let error = text.parse::<LoadRate>().unwrap_err();
            assert!(error.to_string().contains(&format!("`{text}`")), "{error}");
        }
    }
}
