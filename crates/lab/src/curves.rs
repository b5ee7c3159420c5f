//! Curves over the first axis of a sweep, measured or computed from measured ones.

mod derived;
mod measured;

use std::collections::BTreeMap;

use crate::expression::CurveName;
use crate::results::Results;
use crate::sample::{CurvePoint, Runs};
use crate::study::{SettingValue, Study};
pub(crate) use measured::lies_on;
use measured::measured_samples;

/// Returns the samples of a curve, measured or derived, from left to right; means where points have
/// several runs.
#[must_use]
pub fn samples(
    study: &Study,
    results: &Results,
    of: &str,
    at: &BTreeMap<String, SettingValue>,
) -> Vec<CurvePoint> {
    samples_of(study, results, (of, at), Runs::Mean)
}

fn samples_of(
    study: &Study,
    results: &Results,
    (of, at): (&str, &BTreeMap<String, SettingValue>),
    runs: Runs,
) -> Vec<CurvePoint> {
    match study.curve.get(of) {
        Some(derived) => derived::samples(study, results, derived, runs),
        None => measured_samples(study, results, (of, at), runs),
    }
}

/// Returns the samples of a curve by its name in an expression.
#[must_use]
pub fn named(study: &Study, results: &Results, curve: &CurveName) -> Vec<CurvePoint> {
    samples_of(study, results, (curve.of(), &curve.at()), Runs::Mean)
}

/// Returns the samples of a curve in one run of the points, counted from 0. Points that ran once
/// contribute that run.
#[must_use]
pub fn of_run(study: &Study, results: &Results, curve: &CurveName, run: usize) -> Vec<CurvePoint> {
    samples_of(study, results, (curve.of(), &curve.at()), Runs::One(run))
}
