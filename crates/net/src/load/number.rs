//! Numbers of a load in written form: numbers or strings in TOML and JSON, strings on the command
//! line.

use std::fmt;
use std::marker::PhantomData;
use std::str::FromStr;

use schemars::{JsonSchema, Schema, SchemaGenerator, json_schema};
use serde::de::{self, Deserialize, Deserializer, SeqAccess, Visitor};

/// Deserializes a number or a string through the type's `FromStr`.
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
        // The shortest digits that identify this float, which are those that were written.
        self.visit_str(&number.to_string())
    }
}

/// Returns the schema for [`deserialize`], which accepts no list.
pub(super) fn schema(expecting: &str) -> Schema {
    json_schema!({ "type": ["number", "string"], "description": expecting })
}

/// Returns the schema for [`deserialize_or_list`].
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

/// Deserializes a number, a string, or a list.
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
