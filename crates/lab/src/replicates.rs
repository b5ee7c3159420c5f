//! The runs of a point together: what they come to, and whether they differ at all.

use std::collections::BTreeMap;

use crate::estimate::Estimate;
use crate::results::{CachedPoint, Results};
use crate::study::Study;

/// The points of a sweep, all runs of one together.
pub(crate) fn replicates<'a>(results: &'a Results, sweep: &str) -> Vec<Vec<&'a CachedPoint>> {
    let mine = { results.points.iter() }.filter(|cached| cached.point.sweep == sweep);
    let mine: Vec<&CachedPoint> = mine.collect();
    mine.chunk_by(|a, b| b.point.run > a.point.run && a.point.coordinates == b.point.coordinates)
        .map(<[_]>::to_vec)
        .collect()
}

/// What the runs of a point come to in a metric.
///
/// # Errors
/// One of them has no value, in words.
pub(crate) fn estimate(
    results: &Results,
    runs: &[&CachedPoint],
    metric: &str,
) -> Result<Estimate, String> {
    let values = runs.iter().map(|cached| results.reading(cached, metric));
    Ok(Estimate::of(&values.collect::<Result<Vec<_>, _>>()?))
}

/// Why means have no interval although points were run several times, a line for each sweep and
/// metric.
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
                if estimate.is_ok_and(|estimate| estimate.is_of_equal_runs()) {
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
