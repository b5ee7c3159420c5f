//! Campaigns in a folder of their own.

use std::path::{Path, PathBuf};
use std::sync::atomic::AtomicBool;

use npsim_lab::campaign::Campaign;
use npsim_lab::places::SearchPath;
use npsim_lab::points::{Point, points};
use npsim_lab::results::Results;
use npsim_lab::study::Study;

/// A folder for results, and the one in which systems are searched.
pub struct Bench {
    folder: tempfile::TempDir,
    systems: Option<PathBuf>,
}

impl Bench {
    /// A bench for systems in its own folder.
    pub fn new() -> Self {
        Self {
            folder: tempfile::tempdir().expect("a folder"),
            systems: None,
        }
    }

    /// A bench for systems of the repository.
    pub fn of_repository() -> Self {
        Self {
            systems: Some(crate::root()),
            ..Self::new()
        }
    }

    pub fn path(&self, name: &str) -> PathBuf {
        self.folder.path().join(name)
    }

    pub fn with<T>(
        &self,
        text: &str,
        quick: bool,
        jobs: usize,
        act: impl FnOnce(&Campaign, Vec<Point>) -> T,
    ) -> T {
        let study = Study::parse("study", text).expect("a study");
        let systems: &Path = self.systems.as_deref().unwrap_or(self.folder.path());
        let places = SearchPath::new(None, Some(systems));
        let results = self.path("results");
        let campaign = Campaign {
            study: &study,
            quick,
            places: &places,
            results: &results,
            jobs,
            observe: &[],
        };
        let points = points(&study, quick).expect("points");
        act(&campaign, points)
    }

    pub fn run(&self, text: &str, jobs: usize) -> Results {
        self.with(text, false, jobs, |campaign, points| {
            campaign
                .run(points, &AtomicBool::new(false), &())
                .unwrap_or_else(|problems| panic!("{problems}"))
        })
    }
}
