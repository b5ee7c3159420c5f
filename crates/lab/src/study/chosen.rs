//! Constants that were chosen with published values in view: `[[chosen]]`.
//!
//! A hit of a row that a constant served is no blind prediction. So the study lists
//! such constants, and what each is worth shows in `npsim sensitivity`, which moves
//! them.

use serde::{Deserialize, Serialize};

use crate::setting_value::SettingValue;

/// A constant, or a decision that is no number.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ModelChoice {
    /// The name, that of the define if it is one.
    pub name: String,
    /// What it is, in words.
    pub what: String,
    /// The unit.
    #[serde(default)]
    pub unit: String,
    /// What it is as shipped; absent if it is a decision and no number.
    pub value: Option<SettingValue>,
    /// Paths of the settings that change it, as for `--set`.
    #[serde(default)]
    pub set: Vec<String>,
    /// Names of the sweeps whose systems have it, `*` standing for any letters; all if
    /// left out.
    #[serde(default)]
    pub sweeps: Vec<String>,
    /// Values to compare with, instead of a fifth less and a fifth more.
    #[serde(default)]
    pub instead: Vec<SettingValue>,
    /// The ids of the rows that were in view.
    pub rows: Vec<String>,
    /// How it was chosen.
    pub why: String,
}

/// A constant in `results.json`.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ChosenShown<'a> {
    /// The name.
    pub name: &'a str,
    /// What it is.
    pub what: &'a str,
    /// The value with its unit; empty if it is no number.
    pub value: String,
    /// The rows that were in view.
    pub rows: &'a [String],
    /// How it was chosen.
    pub why: &'a str,
}

impl ModelChoice {
    /// As results show it.
    #[must_use]
    pub fn shown(&self) -> ChosenShown<'_> {
        let value = self.value.as_ref().map(SettingValue::text);
        let unit = Some(&self.unit).filter(|unit| !unit.is_empty());
        ChosenShown {
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
