//! The runs of a point taken together: their means, and whether they differ at all.

use std::collections::BTreeMap;

use crate::estimate::Estimate;
use crate::results::{CachedPoint, Results};
use crate::study::{Study, SubjectKind, Sweep};

/// The points of a sweep, with all runs of a point grouped.
pub(crate) fn replicates<'a>(results: &'a Results, sweep: &str) -> Vec<Vec<&'a CachedPoint>> {
    let mine = { results.points.iter() }.filter(|cached| cached.point.sweep == sweep);
    let mine: Vec<&CachedPoint> = mine.collect();
    mine.chunk_by(|a, b| b.point.run > a.point.run && a.point.coordinates == b.point.coordinates)
        .map(<[_]>::to_vec)
        .collect()
}

/// Estimates a metric from the runs of a point.
///
/// # Errors
/// Returns a description of the problem if one of them has no value.
pub(crate) fn estimate(
    results: &Results,
    runs: &[&CachedPoint],
    metric: &str,
) -> Result<Estimate, String> {
    let values = runs.iter().map(|cached| results.reading(cached, metric));
    Ok(Estimate::of(&values.collect::<Result<Vec<_>, _>>()?))
}

/// Notes, one per sweep and metric, on means that have no interval although their points have
/// several runs.
#[must_use]
pub fn equal_runs(study: &Study, results: &Results) -> Vec<String> {
    let mut lines = Vec::new();
    for (name, sweep) in &study.sweep {
        let mut found: BTreeMap<&str, usize> = BTreeMap::new();
        let several: Vec<_> = { replicates(results, name).into_iter() }
            .filter(|runs| runs.len() > 1)
            .collect();
        for runs in &several {
            for metric in study.metrics_of(sweep).into_keys() {
                let estimate = estimate(results, runs, metric);
                if estimate.is_ok_and(|estimate| estimate.has_equal_runs()) {
                    *found.entry(metric).or_default() += 1;
                }
            }
        }
        let title = sweep.title.as_deref().unwrap_or(name);
        lines.extend(found.into_iter().map(|(metric, equal)| {
            let points = match (several.len(), equal) {
                (1, _) => "the point".to_owned(),
                (all, equal) if all == equal => format!("each of {all} points"),
                (all, equal) => format!("{equal} of {all} points"),
            };
            format!(
                "all runs of {points} of \"{title}\" have the same `{metric}`: they show nothing of \
                 chance, and there is no interval"
            )
        }));
    }
    lines
}

/// A note on the single runs of a sweep: how many of its points run once, and why that is enough;
/// `None` if all have several runs.
#[must_use]
pub fn single_runs(study: &Study, results: &Results, name: &str) -> Option<String> {
    let sweep = study.sweep.get(name)?;
    let points = replicates(results, name);
    let single = points.iter().filter(|runs| runs.len() == 1).count();
    let which = match points.len() {
        _ if single == 0 => return None,
        1 => "the point is".to_owned(),
        all if single == all => format!("each of {all} points is"),
        all => format!("{single} of {all} points are"),
    };
    let own = { sweep.single.clone() }.or_else(|| draws_nothing(study, sweep).map(str::to_owned));
    let reasons: Vec<String> = own
        .into_iter()
        .chain(spread(study, results, sweep))
        .collect();
    let reasons = if reasons.is_empty() {
        "how far runs lie apart is not known".to_owned()
    } else {
        reasons.join("; ")
    };
    Some(format!("{which} run once, without an interval: {reasons}"))
}

/// The reason why runs of a sweep's points cannot differ, if there is one.
pub(crate) fn draws_nothing(study: &Study, sweep: &Sweep) -> Option<&'static str> {
    if sweep.kind() == SubjectKind::Fluid {
        return Some("the model draws no random numbers");
    }
    if sweep.trace.is_some() {
        return Some("a capture is played, whose frames come at the same times in every run");
    }
    let metrics = study.metrics_of(sweep);
    let code = metrics.values().all(|metric| metric.is_static());
    code.then_some("the code is counted, not a run")
}

/// The widest relative interval of each of a sweep's metrics, over all points of the study with
/// several runs.
fn spread(study: &Study, results: &Results, sweep: &Sweep) -> Option<String> {
    let mut widest: BTreeMap<&str, f64> = BTreeMap::new();
    let metrics = study.metrics_of(sweep);
    for (name, other) in &study.sweep {
        let several = replicates(results, name).into_iter();
        for runs in several.filter(|runs| runs.len() > 1) {
            for metric in study.metrics_of(other).into_keys() {
                let Ok(it) = estimate(results, &runs, metric) else {
                    continue;
                };
                let share = it.half_width.unwrap_or(0.0) / it.mean.abs() * 100.0;
                if metrics.contains_key(metric) && share.is_finite() {
                    let most = widest.entry(metric).or_default();
                    *most = most.max(share);
                }
            }
        }
    }
    let each = { widest.iter() }.map(|(metric, share)| format!("{share:.1} % of `{metric}`"));
    let each: Vec<_> = each.collect();
    (!each.is_empty()).then(|| {
        format!(
            "where the study runs points several times, 95 % intervals reach from the mean at most {}",
            each.join(", ")
        )
    })
}
