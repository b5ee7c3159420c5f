//! The axes of a sweep: what changes from point to point.

use std::collections::BTreeMap;

use npsim_project::quantity::{Dimension, Time, Unit};
use serde::Deserialize;

use crate::axis_places;
use crate::rounding::close;
use crate::setting_value::SettingValue;
use crate::windows::{self, picoseconds};

/// Maximum number of windows of a time axis.
const MAX_WINDOWS: u64 = 100_000;
/// Picoseconds per second.
const SECOND: f64 = 1e12;

/// A quantity that changes from point to point.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// The name in tables and in `where`; the key if absent.
    pub name: Option<String>,
    /// The label in figures; its name if absent.
    pub label: Option<String>,
    /// The unit.
    #[serde(default)]
    pub unit: String,
    /// The setting that is varied.
    pub key: Option<String>,
    /// The values of the setting.
    #[serde(default)]
    pub values: Vec<SettingValue>,
    /// The positions of the values on the axis; their own leading numbers if absent.
    #[serde(default)]
    pub x: Vec<f64>,
    /// Several settings that change together, instead of `key` and `values`.
    #[serde(default)]
    pub step: Vec<AxisStep>,
    /// For networks and the fluid model, instead of `key` and `values`: consecutive windows of this length.
    /// The windows of a network are measured in one run.
    pub every: Option<String>,
    /// The beginning of the first window; 0 if absent.
    pub from: Option<String>,
    /// The end of the last window.
    pub until: Option<String>,
    /// The places used in a quick run; all if absent.
    #[serde(default)]
    pub quick: Vec<f64>,
}

/// Settings that change together.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct AxisStep {
    /// Its position on the axis.
    pub x: f64,
    /// The name; the number if absent.
    pub label: Option<String>,
    /// The settings.
    pub set: BTreeMap<String, SettingValue>,
}

/// One level of an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct AxisLevel {
    /// Its position.
    pub x: f64,
    /// Its label.
    pub label: String,
    /// The settings that it applies, by path.
    pub set: Vec<(String, String)>,
}

impl Axis {
    /// The name in tables.
    #[must_use]
    pub fn name(&self) -> &str {
        let other = if self.every.is_some() { "time" } else { "step" };
        let key = self.key.as_deref().unwrap_or(other);
        self.name.as_deref().unwrap_or(key)
    }

    /// The label in figures, with the unit.
    #[must_use]
    pub fn shown(&self) -> String {
        let label = self.label.as_deref().unwrap_or_else(|| self.name());
        match &*self.unit() {
            "" => label.to_owned(),
            unit => format!("{label} [{unit}]"),
        }
    }

    /// The levels, with their positions, labels and settings.
    #[must_use]
    pub fn levels(&self) -> Vec<AxisLevel> {
        if self.every.is_some() {
            return self.windows().unwrap_or_default();
        }
        if !self.step.is_empty() {
            let steps = self.step.iter().map(|step| AxisLevel {
                x: step.x,
                label: step.label.clone().unwrap_or_else(|| step.x.to_string()),
                set: step
                    .set
                    .iter()
                    .map(|(key, value)| (key.clone(), value.text()))
                    .collect(),
            });
            return steps.collect();
        }
        // Checking has refused studies with unknown positions.
        let places = self.places().unwrap_or_default();
        let levels = self.values.iter().enumerate().map(|(at, value)| {
            let text = value.text();
            AxisLevel {
                x: places.get(at).copied().unwrap_or(at as f64),
                set: self
                    .key
                    .iter()
                    .map(|key| (key.clone(), text.clone()))
                    .collect(),
                label: text,
            }
        });
        levels.collect()
    }

    /// The positions of the values: as given by `x`, or their numbers in the axis's unit, or consecutive
    /// integers if none of them is a number.
    ///
    /// # Errors
    /// Returns a description of the problem if the numbers have no common unit.
    pub(crate) fn places(&self) -> Result<Vec<f64>, String> {
        if !self.x.is_empty() {
            return Ok(self.x.clone());
        }
        let texts: Vec<String> = self.values.iter().map(SettingValue::text).collect();
        axis_places::places(&texts, &self.unit)
    }

    /// The unit of its positions: its own, or the common unit of values in several units.
    fn unit(&self) -> String {
        if !self.unit.is_empty() || !self.x.is_empty() {
            return self.unit.clone();
        }
        let texts: Vec<String> = self.values.iter().map(SettingValue::text).collect();
        axis_places::common_unit(&texts).unwrap_or_default()
    }

    /// Returns the level that a value in `where` selects.
    #[must_use]
    pub fn level(&self, value: &SettingValue) -> Option<AxisLevel> {
        let text = value.text();
        self.levels()
            .into_iter()
            .find(|level| level.label == text || text.parse().is_ok_and(|x: f64| close(level.x, x)))
    }

    /// The levels of a time axis: the end of each window, in the axis's unit, which is seconds if absent.
    ///
    /// # Errors
    /// Returns a description of the problem if there are no windows, too many windows, or the unit is not a
    /// unit of time.
    pub(crate) fn windows(&self) -> Result<Vec<AxisLevel>, String> {
        let time = |text: Option<&String>| text.map_or(Ok(0), |text| picoseconds(text));
        let (every, from) = (time(self.every.as_ref())?, time(self.from.as_ref())?);
        let until = time(self.until.as_ref())?;
        if every == 0 {
            return Err("`every` is not a time".into());
        }
        let unit = match &*self.unit {
            "" => SECOND,
            unit => { Unit::of(unit).filter(|unit| unit.dimension == Dimension::Time) }
                .map(|unit| unit.numerator as f64)
                .ok_or_else(|| format!("`{unit}` is not a unit of time such as `s` or `ms`"))?,
        };
        let count = until.saturating_sub(from) / every;
        if count == 0 || count > MAX_WINDOWS {
            return Err(format!(
                "`every`, `from` and `until` make {count} windows; 1 to {MAX_WINDOWS} are possible"
            ));
        }
        let level = |number: u64| {
            let (begin, end) = (from + number * every, from + (number + 1) * every);
            AxisLevel {
                x: end as f64 / unit,
                label: Time::Picoseconds(end).to_string(),
                set: vec![(
                    windows::KEY.to_owned(),
                    format!("{}..{}", Time::Picoseconds(begin), Time::Picoseconds(end)),
                )],
            }
        };
        Ok((0..count).map(level).collect())
    }
}

#[cfg(test)]
mod tests {
    use super::Axis;
    use crate::windows::window;

    #[test]
    fn time_axis_has_contiguous_windows() {
        let axis: Axis =
            toml::from_str("every = \"500ms\"\nfrom = \"1s\"\nuntil = \"2500ms\"").unwrap();
        let levels = axis.windows().unwrap();
        let shown: Vec<_> = { levels.iter() }
            .map(|level| (level.x, level.label.as_str(), level.set[0].1.as_str()))
            .collect();
        assert_eq!(
            shown,
            [
                (1.5, "1500ms", "1s..1500ms"),
                (2.0, "2s", "1500ms..2s"),
                (2.5, "2500ms", "2s..2500ms")
            ]
        );
        for level in &levels {
            assert!(window(&level.set[0].1).is_ok());
        }
        for wrong in ["1s", "2s..1s", "1s..1s", "1s..x", "1..2"] {
            assert!(window(wrong).is_err(), "{wrong}");
        }
        let axis: Axis =
            toml::from_str("every = \"500ms\"\nuntil = \"1s\"\nunit = \"ms\"").unwrap();
        let places: Vec<f64> = axis
            .windows()
            .unwrap()
            .iter()
            .map(|level| level.x)
            .collect();
        assert_eq!(
            places,
            [500.0, 1000.0],
            "in the unit that the axis is labelled with"
        );
        let axis: Axis =
            toml::from_str("every = \"500ms\"\nuntil = \"1s\"\nunit = \"Mpps\"").unwrap();
        assert!(axis.windows().unwrap_err().contains("not a unit of time"));
        let none: Axis = toml::from_str("every = \"0s\"\nuntil = \"1s\"").unwrap();
        assert!(none.windows().is_err());
    }
}
