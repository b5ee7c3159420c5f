//! The value of a setting in a study.

use serde::Deserialize;

/// The value of a setting, with its TOML type.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged, expecting = "a string, a number or a boolean")]
pub enum SettingValue {
    /// A boolean, such as `true`.
    Bool(bool),
    /// An integer, such as `4`.
    Integer(i64),
    /// A floating-point number, such as `0.33`.
    Float(f64),
    /// A text, such as `"4-7"`.
    Text(String),
}

impl SettingValue {
    /// The text that `--set` would take.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Bool(value) => value.to_string(),
            Self::Integer(value) => value.to_string(),
            Self::Float(value) => value.to_string(),
            Self::Text(value) => value.clone(),
        }
    }
}
