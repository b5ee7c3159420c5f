//! `results.json`: all results of a study, for programs.

use serde::Serialize;

use crate::counts::ClassCounts;
use crate::grid::{Grid, grids};
use crate::points::Coordinate;
use crate::profiles::{self, ProfileUse};
use crate::replicates::{estimate, replicates};
use crate::results::Results;
use crate::study::{ChosenConstant, ModelChoice, Study};
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
    /// The study's title.
    pub title: &'a str,
    /// Whether it was a quick run.
    pub quick: bool,
    /// Published values beside measured ones.
    pub rows: &'a [Comparison],
    /// How many rows of each class were reproduced.
    pub reproduced: ClassCounts,
    /// The constants that were chosen with rows in view.
    pub chosen: Vec<ChosenConstant<'a>>,
    /// Tables with their cells.
    pub tables: Vec<Grid>,
    /// Whether all points of a chip ran on one profile, in words.
    pub profile: String,
    /// The same, as a flag.
    pub one_profile: bool,
    /// The chips that the points ran on.
    pub profiles: Vec<ProfileUse>,
    /// The definition of each metric.
    pub metrics: Vec<MetricInfo>,
    /// The results of every point.
    pub points: Vec<PointEntry<'a>>,
    /// The results of each point over all its runs.
    pub means: Vec<MeanEntry<'a>>,
}

/// A metric of a point in `results.json`, over all its runs.
#[derive(Clone, Debug, Serialize)]
pub struct MeanEntry<'a> {
    /// The point's sweep.
    pub sweep: &'a str,
    /// Its place on each axis.
    pub at: &'a [Coordinate],
    /// The metric.
    pub metric: &'a str,
    /// The mean; `None` if a run has no value.
    pub mean: Option<f64>,
    /// The 95 % interval; `None` if there is a single run or all runs are
    /// equal.
    pub interval: Option<[f64; 2]>,
    /// The number of runs.
    pub runs: usize,
    /// Whether there are several runs and all gave the same value.
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
                    equal_runs: estimate.is_some_and(|it| it.has_equal_runs()),
                });
            }
        }
    }
    means
}

/// A metric in `results.json`.
#[derive(Clone, Debug, Serialize)]
pub struct MetricInfo {
    /// Its name in the study.
    pub name: String,
    /// Its title.
    pub title: String,
    /// The unit.
    pub unit: &'static str,
    /// The exact definition.
    pub definition: String,
}

/// A point in `results.json`.
#[derive(Clone, Debug, Serialize)]
pub struct PointEntry<'a> {
    /// Its number.
    pub point: usize,
    /// Its sweep.
    pub sweep: &'a str,
    /// Its key.
    pub key: &'a str,
    /// Its place on each axis.
    pub at: &'a [Coordinate],
    /// The number of this run at the place, from 0.
    pub run: usize,
    /// The seed that the study gives it, if any.
    pub seed: Option<u64>,
    /// Settings that override the project, the capture and the seed.
    pub settings: Vec<String>,
    /// The fault that stopped it, if any.
    pub fault: Option<&'a str>,
    /// The measured values.
    pub metrics: serde_json::Value,
}

/// The metrics of a study.
#[must_use]
pub fn about(study: &Study) -> Vec<MetricInfo> {
    study
        .metric
        .iter()
        .map(|(name, metric)| MetricInfo {
            name: name.clone(),
            title: metric.shown(),
            unit: metric.unit(),
            definition: metric.definition(),
        })
        .collect()
}

/// Builds the `results.json` of a study.
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
        one_profile: profiles::is_single_profile(&used),
        profiles: used,
        metrics: about(study),
        points: points.collect(),
        means: means(study, results),
    }
}
