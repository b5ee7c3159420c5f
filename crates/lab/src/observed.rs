//! Observation files of a study's points, beside their results.
//!
//! Observing changes nothing in a run, so a point has the same key with and
//! without it. A point that has run is run again if requested files are missing.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::str::FromStr;

use npsim_observe::profile::to_json;
use npsim_observe::set::{Observations, ObserverConfig};
use npsim_observe::timeline::TimeWindow;
use npsim_project::atomic_file::write_atomically;
use npsim_project::problem::Problem;
use npsim_report::flame::{Flame, svg};

/// A kind of observation.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum Observe {
    /// Where the cycles went, as data: `profile.json`.
    Profile,
    /// Where the cycles went, as a flame graph: `flame.svg`.
    Flame,
    /// Events over time, from the beginning of the measurement window:
    /// `timeline.json.gz`.
    Timeline,
}

impl Observe {
    const ALL: [(&'static str, Self, &'static str); 3] = [
        ("profile", Self::Profile, "profile.json"),
        ("flame", Self::Flame, "flame.svg"),
        ("timeline", Self::Timeline, "timeline.json.gz"),
    ];

    const fn file(self) -> &'static str {
        Self::ALL[self as usize].2
    }
}

impl FromStr for Observe {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let found = Self::ALL.into_iter().find(|(name, ..)| *name == text);
        found.map(|(_, it, _)| it).ok_or_else(|| {
            let names = Self::ALL.map(|(name, ..)| name).join("`, `");
            format!("`{text}` cannot be observed of a point; choose one of `{names}`")
        })
    }
}

/// The observation files of one point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PointFiles {
    folder: PathBuf,
    what: BTreeSet<Observe>,
}

impl PointFiles {
    /// The files of the point with this key, in a study's results folder:
    /// `observed/KEY/`.
    #[must_use]
    pub fn new(results: &Path, key: &str, what: &[Observe]) -> Self {
        Self {
            folder: results.join("observed").join(key),
            what: what.iter().copied().collect(),
        }
    }

    /// Whether all requested files exist.
    #[must_use]
    pub(crate) fn all_exist(&self) -> bool {
        self.what.iter().all(|&what| self.path(what).is_file())
    }

    /// Refuses to observe a chain of routers, since each router would need its
    /// own files.
    ///
    /// # Errors
    /// Returns an error if files are requested and there are several routers.
    pub(crate) fn refuse_chain(&self, hops: usize) -> Result<(), Problem> {
        if hops > 1 && !self.what.is_empty() {
            return Err(
                Problem::new("the points of a chain of routers cannot be observed")
                    .help("leave `--observe` out, or observe a point with one router"),
            );
        }
        Ok(())
    }

    /// Returns what a run must observe to produce the files.
    ///
    /// # Errors
    /// Returns an error if the folder cannot be created.
    pub(crate) fn wanted(&self, window: TimeWindow) -> Result<ObserverConfig, Problem> {
        if !self.what.is_empty() {
            std::fs::create_dir_all(&self.folder)
                .map_err(|error| Problem::io("make", &self.folder, &error))?;
        }
        let has = |what| self.what.contains(&what);
        Ok(ObserverConfig {
            profile: has(Observe::Profile) || has(Observe::Flame),
            timeline: has(Observe::Timeline).then(|| (self.path(Observe::Timeline), window)),
            ..ObserverConfig::default()
        })
    }

    /// Writes the observations of a run.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written.
    pub(crate) fn write(&self, seen: Observations) -> Result<(), Problem> {
        if let Some(written) = seen.timeline {
            let path = self.path(Observe::Timeline);
            written.map_err(|error| Problem::io("write", &path, &error))?;
        }
        let Some(profile) = &seen.profile else {
            return Ok(());
        };
        for &what in &self.what {
            let text = match what {
                Observe::Profile => {
                    to_json(profile).map_err(|error| Problem::new(error.to_string()))?
                }
                Observe::Flame => svg(profile, Flame::Pipeline),
                Observe::Timeline => continue,
            };
            let path = self.path(what);
            write_atomically(&path, text.as_bytes())
                .map_err(|error| Problem::io("write", &path, &error))?;
        }
        Ok(())
    }

    fn path(&self, what: Observe) -> PathBuf {
        self.folder.join(what.file())
    }
}

#[cfg(test)]
mod tests {
    use super::Observe;

    #[test]
    fn observe_names_parse_and_have_files() {
        for (name, what, file) in Observe::ALL {
            assert_eq!(name.parse(), Ok(what));
            assert_eq!(what.file(), file);
        }
        let error = "everything".parse::<Observe>().unwrap_err();
        assert!(error.contains("`flame`"), "{error}");
    }
}
