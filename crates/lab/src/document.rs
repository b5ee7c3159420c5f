//! `results.json`: all that a study came to, for programs.

use serde::Serialize;

use crate::counts::ClassCounts;
use crate::grid::{Grid, grids};
use crate::points::Coordinate;
use crate::profiles::{self, Used};
use crate::replicates::{estimate, replicates};
use crate::results::Results;
use crate::study::{ChosenShown, ModelChoice, Study};
use crate::verdict::Comparison;

/// Name of the format of `results.json`.
pub const SCHEMA: &str = "npsim-results-2";

/// `results.json`.
#[derive(Clone, Debug, Serialize)]
pub struct ResultsDocument<'a> {
    /// Name and version of the format.
    pub schema: &'static str,
    /// Version of npsim.
    pub npsim: &'static str,
    /// The study.
    pub study: &'a str,
    /// The title.
    pub title: &'a str,
    /// Whether it was a quick run.
    pub quick: bool,
    /// Published beside measured.
    pub rows: &'a [Comparison],
    /// How many rows of each class were reproduced.
    pub reproduced: ClassCounts,
    /// The constants that were chosen with rows in view.
    pub chosen: Vec<ChosenShown<'a>>,
    /// Tables with their cells.
    pub tables: Vec<Grid>,
    /// Whether all points of a chip ran on one profile, in words.
    pub profile: String,
    /// Whether all points of a chip ran on one profile.
    pub one_profile: bool,
    /// The chips that the points ran on.
    pub profiles: Vec<Used>,
    /// What each metric is.
    pub metrics: Vec<About>,
    /// What every point came to.
    pub points: Vec<PointEntry<'a>>,
    /// What the runs of each point came to together.
    pub means: Vec<MeanEntry<'a>>,
}

/// A metric of a point in `results.json`, all its runs together.
#[derive(Clone, Debug, Serialize)]
pub struct MeanEntry<'a> {
    /// The point's sweep.
    pub sweep: &'a str,
    /// Its place on each axis.
    pub at: &'a [Coordinate],
    /// The metric.
    pub metric: &'a str,
    /// The mean; none if a run has no value.
    pub mean: Option<f64>,
    /// The 95 % interval; none of a single run and of equal ones.
    pub interval: Option<[f64; 2]>,
    /// How many runs.
    pub runs: usize,
    /// Whether these are several and all came to the same.
    pub equal_runs: bool,
}

/// The means of all points.
fn means<'a>(study: &'a Study, results: &'a Results) -> Vec<MeanEntry<'a>> {
    let mut means = Vec::new();
    for (sweep, about) in &study.sweep {
        for runs in replicates(results, sweep) {
            let Some(first) = runs.first() else { continue };
            for metric in study.metrics_of(about).into_keys() {
                let estimate = estimate(results, &runs, metric).ok();
                means.push(MeanEntry {
                    sweep,
                    at: &first.point.coordinates,
                    metric,
                    mean: estimate.map(|it| it.mean),
                    interval: estimate.and_then(|it| it.interval()),
                    runs: runs.len(),
                    equal_runs: estimate.is_some_and(|it| it.is_of_equal_runs()),
                });
            }
        }
    }
    means
}

/// A metric in `results.json`.
#[derive(Clone, Debug, Serialize)]
pub struct About {
    /// The name in the study.
    pub name: String,
    /// What it is called.
    pub title: String,
    /// The unit.
    pub unit: &'static str,
    /// What exactly is measured.
    pub definition: String,
}

/// A point in `results.json`.
#[derive(Clone, Debug, Serialize)]
pub struct PointEntry<'a> {
    /// The number.
    pub point: usize,
    /// The sweep.
    pub sweep: &'a str,
    /// The key.
    pub key: &'a str,
    /// The place on each axis.
    pub at: &'a [Coordinate],
    /// Which of several runs of the place it is, from 0.
    pub run: usize,
    /// The seed that the study gives it.
    pub seed: Option<u64>,
    /// Settings over the project, the capture and the seed.
    pub settings: Vec<String>,
    /// What stopped it.
    pub fault: Option<&'a str>,
    /// What was measured.
    pub metrics: serde_json::Value,
}

/// The metrics of a study.
#[must_use]
pub fn about(study: &Study) -> Vec<About> {
    study
        .metric
        .iter()
        .map(|(name, metric)| About {
            name: name.clone(),
            title: metric.shown(),
            unit: metric.unit(),
            definition: metric.definition(),
        })
        .collect()
}

/// `results.json` of a study.
#[must_use]
pub fn document<'a>(
    study: &'a Study,
    results: &'a Results,
    rows: &'a [Comparison],
    quick: bool,
) -> ResultsDocument<'a> {
    let points = results.points.iter().map(|cached| {
        let outcome = results.outcome(cached);
        PointEntry {
            point: cached.point.number,
            sweep: &cached.point.sweep,
            key: &cached.key,
            at: &cached.point.coordinates,
            run: cached.point.run,
            seed: cached.point.seed,
            settings: cached.point.shown_settings(),
            fault: outcome.and_then(|outcome| outcome.fault.as_deref()),
            metrics: outcome
                .and_then(|outcome| serde_json::to_value(&outcome.metrics).ok())
                .unwrap_or_default(),
        }
    });
    let used = profiles::used(study, results);
    ResultsDocument {
        schema: SCHEMA,
        npsim: env!("CARGO_PKG_VERSION"),
        study: &study.name,
        title: &study.title,
        quick,
        rows,
        reproduced: ClassCounts::of(rows),
        chosen: study.chosen.iter().map(ModelChoice::shown).collect(),
        tables: grids(study, results),
        profile: profiles::shown(&used),
        one_profile: profiles::is_one(&used),
        profiles: used,
        metrics: about(study),
        points: points.collect(),
        means: means(study, results),
    }
}
