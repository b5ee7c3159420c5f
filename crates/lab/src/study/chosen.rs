//! Constants that were chosen with published values in view: `[[chosen]]`.
//!
//! A hit of a row that a constant served is not a blind prediction. The study
//! therefore lists such constants, and `npsim sensitivity` varies them to show their
//! influence.

use serde::{Deserialize, Serialize};

use crate::setting_value::SettingValue;

/// A constant, or a decision that is not a number.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelChoice {
    /// The name; for a define, its name.
    pub name: String,
    /// A description.
    pub what: String,
    /// The unit.
    #[serde(default)]
    pub unit: String,
    /// The shipped value; absent if it is a decision and not a number.
    pub value: Option<SettingValue>,
    /// Paths of the settings that change it, as for `--set`.
    #[serde(default)]
    pub set: Vec<String>,
    /// Names of the sweeps whose systems have it, where `*` matches any letters; all
    /// if absent.
    #[serde(default)]
    pub sweeps: Vec<String>,
    /// Alternative values to compare with, instead of 20 % less and 20 % more.
    #[serde(default)]
    pub instead: Vec<SettingValue>,
    /// The ids of the rows that were in view.
    pub rows: Vec<String>,
    /// How it was chosen.
    pub why: String,
}

/// A constant in `results.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChosenConstant<'a> {
    /// The name.
    pub name: &'a str,
    /// A description.
    pub what: &'a str,
    /// The value with its unit; empty if it is not a number.
    pub value: String,
    /// The rows that were in view.
    pub rows: &'a [String],
    /// How it was chosen.
    pub why: &'a str,
}

impl ModelChoice {
    /// Prepares it for the results.
    #[must_use]
    pub fn shown(&self) -> ChosenConstant<'_> {
        let value = self.value.as_ref().map(SettingValue::text);
        let unit = Some(&self.unit).filter(|unit| !unit.is_empty());
        ChosenConstant {
            name: &self.name,
            what: &self.what,
            value: [value.as_ref(), unit]
                .into_iter()
                .flatten()
                .cloned()
                .collect::<Vec<_>>()
                .join(" "),
            rows: &self.rows,
            why: &self.why,
        }
    }

    /// Whether a sweep's system has it.
    #[must_use]
    pub fn is_in(&self, sweep: &str) -> bool {
        let fits = |pattern: &String| crate::counters::fits(pattern, sweep);
        self.sweeps.is_empty() || self.sweeps.iter().any(fits)
    }
}
