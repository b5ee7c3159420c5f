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

/// The samples of a curve, measured or derived, from left to right.
#[must_use]
pub fn samples(
    study: &Study,
    results: &Results,
    of: &str,
    at: &BTreeMap<String, SettingValue>,
) -> Vec<Sample> {
    match study.curve.get(of) {
        Some(derived) => derived::samples(study, results, derived),
        None => measured_samples(study, results, of, at),
    }
}

/// The samples of a metric of a sweep, from left to right.
#[must_use]
pub(crate) fn measured_samples(
    study: &Study,
    results: &Results,
    of: &str,
    at: &BTreeMap<String, SettingValue>,
) -> Vec<Sample> {
    let metric = of.split_once('.').map_or("", |(_, metric)| metric);
    let on = |keyed: &&Keyed| lies_on(study, &keyed.point, of, at);
    let mut samples: Vec<Sample> = results
        .points
        .iter()
        .filter(on)
        .map(|keyed| Sample {
            x: keyed.point.coordinates.first().map_or(0.0, |c| c.x),
            y: reading(results, keyed, metric),
        })
        .collect();
    samples.sort_by(|a, b| a.x.total_cmp(&b.x));
    samples
}

/// The samples of a curve by its name in an expression.
#[must_use]
pub fn named(study: &Study, results: &Results, curve: &CurveName) -> Vec<Sample> {
    samples(study, results, curve.of(), &curve.at())
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
