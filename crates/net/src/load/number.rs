//! Numbers of a load as they are written: in TOML and JSON as numbers or texts, on the command line as
//! texts. All become exact fractions; the decimal digits count, not what a float makes of them.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};

use crate::{Ratio, RatioError};

/// A decimal number or a fraction such as `1/3`, more than zero.
pub(super) fn ratio(text: &str) -> Result<Ratio, RatioError> {
    let not_a_number = || RatioError::NotANumber(text.to_string());
    let Some((numerator, denominator)) = text.split_once('/') else {
        return text.parse();
    };
    let part = |digits: &str| -> Result<u64, RatioError> {
        if digits.is_empty() || !digits.bytes().all(|digit| digit.is_ascii_digit()) {
            return Err(not_a_number());
        }
        digits.parse().map_err(|_| RatioError::TooLarge)
    };
    Ratio::new(part(numerator)?, part(denominator)?)
}

/// A decimal number, a fraction or zero, which is `None`.
pub(super) fn ratio_or_zero(text: &str) -> Result<Option<Ratio>, RatioError> {
    match ratio(text) {
        Err(RatioError::Zero) if !text.contains('/') => Ok(None),
        other => other.map(Some),
    }
}

/// Takes a prefix (k, M, G) and a unit off a number.
pub(super) fn scaled<'a>(text: &'a str, unit: &str) -> Option<(&'a str, u64)> {
    let rest = text.strip_suffix(unit)?;
    // A small m would be a thousandth, so only the capital is a million.
    for (prefix, factor) in [
        ('k', 1_000),
        ('K', 1_000),
        ('M', 1_000_000),
        ('G', 1_000_000_000),
    ] {
        if let Some(number) = rest.strip_suffix(prefix) {
            return Some((number.trim_end(), factor));
        }
    }
    Some((rest.trim_end(), 1))
}

/// `4.5M` for 4,500,000: the largest prefix that leaves at least one, if the number stays exact.
pub(super) fn with_prefix(value: Ratio) -> String {
    for (prefix, factor) in [("G", 1_000_000_000), ("M", 1_000_000), ("k", 1_000)] {
        if value.numerator() / value.denominator() >= factor
            && let Some(denominator) = value.denominator().checked_mul(factor)
            && let Ok(part) = Ratio::new(value.numerator(), denominator)
        {
            return format!("{part}{prefix}");
        }
    }
    value.to_string()
}

/// Reads a number or a text with the type's `FromStr`.
pub(super) fn deserialize<'de, T, D>(
    deserializer: D,
    expecting: &'static str,
) -> Result<T, D::Error>
where
    T: FromStr,
    T::Err: fmt::Display,
    D: Deserializer<'de>,
{
    deserializer.deserialize_any(QuotedNumber {
        expecting,
        of: PhantomData,
    })
}

struct QuotedNumber<T> {
    expecting: &'static str,
    of: PhantomData<T>,
}

impl<T> Visitor<'_> for QuotedNumber<T>
where
    T: FromStr,
    T::Err: fmt::Display,
{
    type Value = T;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.expecting)
    }

    fn visit_str<E: de::Error>(self, text: &str) -> Result<T, E> {
        text.parse().map_err(E::custom)
    }

    fn visit_u64<E: de::Error>(self, number: u64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_i64<E: de::Error>(self, number: i64) -> Result<T, E> {
        self.visit_str(&number.to_string())
    }

    fn visit_f64<E: de::Error>(self, number: f64) -> Result<T, E> {
        // The shortest digits that mean this float, which are those that were written.
        self.visit_str(&number.to_string())
    }
}

/// The schema of what [`deserialize`] reads, and of no list.
pub(super) fn schema(expecting: &str) -> Schema {
    json_schema!({ "type": ["number", "string"], "description": expecting })
}

/// The schema of what [`deserialize_or_list`] reads.
pub(super) fn schema_or_list<L: JsonSchema>(
    generator: &mut SchemaGenerator,
    expecting: &str,
) -> Schema {
    let entry = generator.subschema_for::<L>();
    json_schema!({
        "type": ["number", "string", "array"],
        "items": entry,
        "description": expecting
    })
}

/// Reads a number, a text, or a list.
pub(super) fn deserialize_or_list<'de, T, E, L, D>(
    deserializer: D,
    expecting: &'static str,
    one: fn(&str) -> Result<T, E>,
    list: fn(Vec<L>) -> Result<T, E>,
) -> Result<T, D::Error>
where
    L: Deserialize<'de>,
    E: fmt::Display,
    D: Deserializer<'de>,
{
    deserializer.deserialize_any(TextOrList {
        expecting,
        one,
        list,
    })
}

struct TextOrList<T, E, L> {
    expecting: &'static str,
    one: fn(&str) -> Result<T, E>,
    list: fn(Vec<L>) -> Result<T, E>,
}

impl<'de, T, E: fmt::Display, L: Deserialize<'de>> Visitor<'de> for TextOrList<T, E, L> {
    type Value = T;

    fn expecting(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.write_str(self.expecting)
    }

    fn visit_str<F: de::Error>(self, text: &str) -> Result<T, F> {
        (self.one)(text).map_err(F::custom)
    }

    fn visit_u64<F: de::Error>(self, number: u64) -> Result<T, F> {
        self.visit_str(&number.to_string())
    }

    fn visit_i64<F: de::Error>(self, number: i64) -> Result<T, F> {
        self.visit_str(&number.to_string())
    }

    fn visit_f64<F: de::Error>(self, number: f64) -> Result<T, F> {
        self.visit_str(&number.to_string())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut sequence: A) -> Result<T, A::Error> {
        let mut entries = Vec::new();
        while let Some(entry) = sequence.next_element()? {
            entries.push(entry);
        }
        (self.list)(entries).map_err(de::Error::custom)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn fractions_and_zero() {
        assert_eq!(ratio("1/3"), Ratio::new(1, 3));
        assert_eq!(ratio("0.25"), Ratio::new(1, 4));
        assert_eq!(ratio_or_zero("0"), Ok(None));
        assert_eq!(ratio_or_zero("0.0"), Ok(None));
        for text in ["1/0", "0/3", "1/", "/3", "1/2/3", "-1", "a/b"] {
            assert!(ratio_or_zero(text).is_err(), "{text}");
        }
    }

    #[test]
    fn prefixes_come_off_and_go_on() {
        assert_eq!(scaled("4.5Mpps", "pps"), Some(("4.5", 1_000_000)));
        assert_eq!(scaled("3 Gbps", "bps"), Some(("3", 1_000_000_000)));
        assert_eq!(scaled("3Gbps", "pps"), None);
        for (value, text) in [(4_500_000, "4.5M"), (999, "999"), (1_000, "1k")] {
            assert_eq!(with_prefix(Ratio::new(value, 1).unwrap()), text);
        }
    }
}
