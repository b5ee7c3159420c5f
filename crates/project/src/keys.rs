//! Types of values in sections of project files.

use std::borrow::Cow;
use std::ops::Range;

use schemars::{JsonSchema, Schema, SchemaGenerator};
use serde::Deserialize;

/// A value with its byte range in the file.
///
/// It is deserialized like [`toml::Spanned`], and has the schema of its inner value.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Deserialize)]
#[serde(transparent, bound(deserialize = "T: Deserialize<'de>"))]
pub struct Spanned<T>(toml::Spanned<T>);

impl<T> Spanned<T> {
    /// Creates a value from a file that is not TOML.
    pub fn new(span: Range<usize>, value: T) -> Self {
        Self(toml::Spanned::new(span, value))
    }

    /// Returns the value's byte range in the file.
    pub fn span(&self) -> Range<usize> {
        self.0.span()
    }

    /// Returns the value.
    pub fn get_ref(&self) -> &T {
        self.0.get_ref()
    }
}

impl<T: JsonSchema> JsonSchema for Spanned<T> {
    fn inline_schema() -> bool {
        T::inline_schema()
    }

    fn schema_name() -> Cow<'static, str> {
        T::schema_name()
    }

    fn schema_id() -> Cow<'static, str> {
        T::schema_id()
    }

    fn json_schema(generator: &mut SchemaGenerator) -> Schema {
        T::json_schema(generator)
    }
}

/// A number with a fraction, as a TOML number or a string; exact in its digits.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a number or a string such as \"0.4\"")]
pub enum Decimal {
    /// A whole number.
    Integer(i64),
    /// A number with a fraction, taken as the shortest digits that denote it.
    Float(f64),
    /// Digits, or a value with a unit.
    Text(String),
}

impl Decimal {
    /// Returns the text as written.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Integer(number) => number.to_string(),
            Self::Float(number) => number.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}

/// Threads that each have their own record.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "a number of threads or a list such as \"32-55\""
)]
pub enum Threads {
    /// A number of threads, from thread 0 on.
    Count(u16),
    /// A list of numbers and ranges.
    List(String),
}

/// One index or a list such as `"0-2,4"`.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "an index such as 0 or a list such as \"0-2,4\"")]
pub enum Ids {
    /// One microengine.
    One(i64),
    /// A list of indices and ranges.
    List(String),
}
