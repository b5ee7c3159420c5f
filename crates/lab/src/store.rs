//! Saved outcomes of points, one file each, named by the point's key. A file is either
//! complete or absent, so a campaign can be interrupted at any moment and resumed.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use npsim_project::atomic_file::write_atomically;
use npsim_project::problem::Problem;
use serde::{Deserialize, Serialize};

/// Name of the file format.
const SCHEMA: &str = "npsim-point-1";

/// The outcome of a point.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PointOutcome {
    /// Name of the file format.
    pub schema: String,
    /// The point's key.
    pub key: String,
    /// How the run ended, as in the stats file.
    pub ending: String,
    /// The fault that stopped it, if a check did.
    pub fault: Option<String>,
    /// Cycle at which the window begins.
    pub from: u64,
    /// Cycle at which it ends.
    pub until: u64,
    /// Whether the measured quantities had settled when the window began, if the
    /// warm-up was to be detected.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub settled: Option<bool>,
    /// Microengine clock in hertz.
    pub hertz: u64,
    /// The measured values, by metric.
    pub metrics: BTreeMap<String, MetricReading>,
}

/// A metric's value, or why there is none.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct MetricReading {
    /// The value in the metric's unit.
    pub value: Option<f64>,
    /// Why there is no value.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub why: Option<String>,
}

impl From<Result<f64, String>> for MetricReading {
    fn from(value: Result<f64, String>) -> Self {
        let none = |why: String| Self {
            value: None,
            why: Some(why),
        };
        match value {
            Ok(value) if value.is_finite() => Self {
                value: Some(value),
                why: None,
            },
            Ok(_) => none("it is not a finite number".into()),
            Err(why) => none(why),
        }
    }
}

impl PointOutcome {
    /// An outcome without metrics.
    #[must_use]
    pub fn new(key: &str) -> Self {
        Self {
            schema: SCHEMA.to_owned(),
            key: key.to_owned(),
            ending: String::new(),
            fault: None,
            from: 0,
            until: 0,
            settled: None,
            hertz: 0,
            metrics: BTreeMap::new(),
        }
    }
}

/// The folder of outcomes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Store {
    folder: PathBuf,
}

impl Store {
    /// Opens the store in a results folder, creating it if necessary.
    ///
    /// # Errors
    /// Returns an error if it cannot be created.
    pub fn open(results: &Path) -> Result<Self, Problem> {
        let folder = results.join("points");
        std::fs::create_dir_all(&folder).map_err(|error| Problem::io("make", &folder, &error))?;
        Ok(Self { folder })
    }

    /// The path of the file for a key.
    #[must_use]
    pub fn path(&self, key: &str) -> PathBuf {
        self.folder.join(format!("{key}.json"))
    }

    /// Returns the outcome of the point with this key, if it was saved. A file with
    /// another format or key is ignored.
    #[must_use]
    pub fn get(&self, key: &str) -> Option<PointOutcome> {
        let text = std::fs::read_to_string(self.path(key)).ok()?;
        let outcome: PointOutcome = serde_json::from_str(&text).ok()?;
        (outcome.schema == SCHEMA && outcome.key == key).then_some(outcome)
    }

    /// Saves an outcome.
    ///
    /// # Errors
    /// Returns an error if the file cannot be written.
    pub fn put(&self, outcome: &PointOutcome) -> Result<(), Problem> {
        let path = self.path(&outcome.key);
        let text = serde_json::to_string_pretty(outcome)
            .map_err(|error| Problem::new(format!("`{}`: {error}", path.display())))?;
        write_atomically(&path, (text + "\n").as_bytes())
            .map_err(|error| Problem::io("write", &path, &error))
    }
}

#[cfg(test)]
mod tests {
    use super::{MetricReading, PointOutcome, Store};

    #[test]
    fn saved_values_round_trip_exactly() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        let mut outcome = PointOutcome::new("abc");
        let value = Some(0.1 + 0.2);
        outcome
            .metrics
            .insert("m".into(), MetricReading { value, why: None });
        assert_eq!(store.get("abc"), None);
        store.put(&outcome).unwrap();
        assert_eq!(store.get("abc"), Some(outcome));
    }

    #[test]
    fn damaged_or_mismatched_outcomes_are_ignored() {
        let dir = tempfile::tempdir().unwrap();
        let store = Store::open(dir.path()).unwrap();
        store.put(&PointOutcome::new("abc")).unwrap();
        let text = std::fs::read_to_string(store.path("abc")).unwrap();
        std::fs::write(store.path("other"), &text).unwrap();
        assert_eq!(store.get("other"), None, "its key is another");
        std::fs::write(store.path("abc"), &text[..text.len() / 2]).unwrap();
        assert_eq!(store.get("abc"), None, "it is cut");
        std::fs::write(
            store.path("abc"),
            text.replace("npsim-point-1", "npsim-point-0"),
        )
        .unwrap();
        assert_eq!(store.get("abc"), None, "its format is another");
    }
}
