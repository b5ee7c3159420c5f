//! Kinds of values that sections of tasks and devices are typed with.

use serde::Deserialize;

/// A number with a fraction, as a TOML number or a string; exact in its digits.
#[derive(Clone, Debug, Deserialize)]
#[serde(untagged, expecting = "a number or a string such as \"0.4\"")]
pub enum Decimal {
    /// A whole number.
    Integer(i64),
    /// The shortest digits that make the number are taken.
    Float(f64),
    /// Digits, or a value with a unit.
    Text(String),
}

impl Decimal {
    /// As it is typed.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Integer(number) => number.to_string(),
            Self::Float(number) => number.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}

/// Threads that keep something each.
#[derive(Clone, Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "a number of threads or a list such as \"32-55\""
)]
pub enum Threads {
    /// So many, from thread 0 on.
    Count(u16),
    /// A list of numbers and ranges.
    List(String),
}
