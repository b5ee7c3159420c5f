//! Measured curves: a metric of a sweep's points over the first axis.

use std::collections::BTreeMap;

use crate::points::Point;
use crate::replicates::estimate;
use crate::results::{CachedPoint, Results};
use crate::sample::{CurvePoint, Runs};
use crate::study::{SettingValue, Study};

/// Whether a point lies on a curve at these values of the other axes.
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
                    .and_then(|value| axis.level(value))
                    .is_some_and(|level| level.label == coordinate.label)
            })
}

/// Returns the samples of a sweep's metric, from left to right.
#[must_use]
pub(crate) fn measured_samples(
    study: &Study,
    results: &Results,
    (of, at): (&str, &BTreeMap<String, SettingValue>),
    runs: Runs,
) -> Vec<CurvePoint> {
    let metric = of.split_once('.').map_or("", |(_, metric)| metric);
    let on = |cached: &&CachedPoint| lies_on(study, &cached.point, of, at);
    let x = |cached: &CachedPoint| cached.point.coordinates.first().map_or(0.0, |c| c.x);
    let mut on: Vec<&CachedPoint> = results.points.iter().filter(on).collect();
    on.sort_by(|a, b| (x(a).total_cmp(&x(b))).then(a.point.run.cmp(&b.point.run)));
    on.chunk_by(|a, b| x(a).total_cmp(&x(b)).is_eq())
        .map(|place| {
            let (y, estimate) = match runs {
                Runs::Mean => match estimate(results, place, metric) {
                    Ok(estimate) => (Ok(estimate.mean), Some(estimate)),
                    Err(why) => (Err(why), None),
                },
                Runs::One(run) => {
                    let wanted = place.iter().find(|cached| cached.point.run == run);
                    let value = results.reading(wanted.unwrap_or(&place[0]), metric);
                    (value, None)
                }
            };
            CurvePoint {
                x: x(place[0]),
                y,
                estimate,
            }
        })
        .collect()
}
