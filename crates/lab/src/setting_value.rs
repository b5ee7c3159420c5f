//! The value of a setting in a study.

use serde::Deserialize;

/// The value of a setting, as TOML lets it be typed.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged, expecting = "a string, a number or a boolean")]
pub enum SettingValue {
    /// `true`.
    Bool(bool),
    /// `4`.
    Integer(i64),
    /// `0.33`.
    Float(f64),
    /// `"4-7"`.
    Text(String),
}

impl SettingValue {
    /// As `--set` gets it.
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
