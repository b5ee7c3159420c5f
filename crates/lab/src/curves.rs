//! Curves: what the points of a sweep came to, over its first axis.

use std::collections::BTreeMap;

use crate::campaign::{Keyed, Results};
use crate::derived;
use crate::expression::CurveName;
use crate::points::Point;
use crate::study::{SettingValue, Study, place_of};

/// A place of a curve.
#[derive(Clone, Debug, PartialEq)]
pub struct Sample {
    /// Where.
    pub x: f64,
    /// The value, or why there is none.
    pub y: Result<f64, String>,
}

/// Whether a point lies on a curve through these places of the other axes.
#[must_use]
pub(crate) fn lies_on(
    study: &Study,
    point: &Point,
    of: &str,
    at: &BTreeMap<String, SettingValue>,
) -> bool {
    let Some((name, _)) = of.split_once('.') else {
        return false;
    };
    let Some(sweep) = study.sweep.get(name) else {
        return false;
    };
    point.sweep == name
        && sweep
            .axis
            .iter()
            .zip(&point.coordinates)
            .skip(1)
            .all(|(axis, coordinate)| {
                at.get(axis.name())
                    .and_then(|value| place_of(axis, value))
                    .is_some_and(|place| place.label == coordinate.label)
            })
}

/// Which runs of points are meant, where points were run several times.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Runs {
    /// The mean of all of them.
    Mean,
    /// One of them; of a point that was run once, that one.
    One(usize),
}

/// The samples of a curve, measured or derived, from left to right; means where points
/// were run several times.
#[must_use]
pub fn samples(
    study: &Study,
    results: &Results,
    of: &str,
    at: &BTreeMap<String, SettingValue>,
) -> Vec<Sample> {
    samples_of(study, results, (of, at), Runs::Mean)
}

fn samples_of(
    study: &Study,
    results: &Results,
    (of, at): (&str, &BTreeMap<String, SettingValue>),
    runs: Runs,
) -> Vec<Sample> {
    match study.curve.get(of) {
        Some(derived) => derived::samples(study, results, derived, runs),
        None => measured_samples(study, results, (of, at), runs),
    }
}

/// The samples of a metric of a sweep, from left to right.
#[must_use]
pub(crate) fn measured_samples(
    study: &Study,
    results: &Results,
    (of, at): (&str, &BTreeMap<String, SettingValue>),
    runs: Runs,
) -> Vec<Sample> {
    let metric = of.split_once('.').map_or("", |(_, metric)| metric);
    let on = |keyed: &&Keyed| lies_on(study, &keyed.point, of, at);
    let x = |keyed: &Keyed| keyed.point.coordinates.first().map_or(0.0, |c| c.x);
    let mut on: Vec<&Keyed> = results.points.iter().filter(on).collect();
    on.sort_by(|a, b| (x(a).total_cmp(&x(b))).then(a.point.run.cmp(&b.point.run)));
    on.chunk_by(|a, b| x(a).total_cmp(&x(b)).is_eq())
        .map(|place| Sample {
            x: x(place[0]),
            y: match runs {
                Runs::Mean => mean(results, place, metric),
                Runs::One(run) => {
                    let wanted = place.iter().find(|keyed| keyed.point.run == run);
                    reading(results, wanted.unwrap_or(&place[0]), metric)
                }
            },
        })
        .collect()
}

/// The mean of a metric over the runs of a point.
fn mean(results: &Results, runs: &[&Keyed], metric: &str) -> Result<f64, String> {
    let values = runs.iter().map(|keyed| reading(results, keyed, metric));
    let values = values.collect::<Result<Vec<_>, _>>()?;
    Ok(values.iter().sum::<f64>() / values.len() as f64)
}

/// The samples of a curve by its name in an expression.
#[must_use]
pub fn named(study: &Study, results: &Results, curve: &CurveName) -> Vec<Sample> {
    samples_of(study, results, (curve.of(), &curve.at()), Runs::Mean)
}

/// The same of one run of the points, from 0; of points that were run once, that one.
#[must_use]
pub fn of_run(study: &Study, results: &Results, curve: &CurveName, run: usize) -> Vec<Sample> {
    samples_of(study, results, (curve.of(), &curve.at()), Runs::One(run))
}

/// The value of a metric at a point, or why there is none.
///
/// # Errors
/// It was not run, or nothing could be measured.
pub fn reading(results: &Results, keyed: &Keyed, metric: &str) -> Result<f64, String> {
    let Some(outcome) = results.outcome(keyed) else {
        return Err("the point was not run".into());
    };
    let Some(reading) = outcome.metrics.get(metric) else {
        return Err("it was not measured".into());
    };
    reading.value.ok_or_else(|| {
        reading
            .why
            .clone()
            .unwrap_or_else(|| "nothing was measured".into())
    })
}
