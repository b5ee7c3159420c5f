//! Comparison of published with measured values.

use std::collections::BTreeSet;

use serde::Serialize;

use crate::class::RowClass;
use crate::curves::{named, of_run};
use crate::estimate::Estimate;
use crate::evaluate::{is_figure, shape, value};
use crate::expression::{CurveName, Shape};
use crate::results::{PointChip, Results};
use crate::selection::needs;
use crate::study::{Confidence, Published, Study};

/// A number, or words instead.
#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(untagged)]
pub enum FigureValue {
    /// A number in the row's unit.
    Number(f64),
    /// Words, where there is no number.
    Words(String),
}

/// The verdict on a measured value or shape.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
pub enum Verdict {
    /// The value is within the tolerance, or on the right side of the bound.
    #[serde(rename = "hit")]
    Hit,
    /// The value is outside its tolerance.
    #[serde(rename = "miss")]
    Miss,
    /// The curves have the shape.
    #[serde(rename = "shape hit")]
    ShapeHit,
    /// The curves do not have the shape.
    #[serde(rename = "shape miss")]
    ShapeMiss,
    /// The limit between hit and miss lies within the interval of the measurement.
    #[serde(rename = "undecided")]
    Undecided,
    /// There is no measurement to compare with.
    #[serde(rename = "not measured")]
    NotMeasured,
}

impl Verdict {
    /// The name in reports.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Hit => "hit",
            Self::Miss => "miss",
            Self::ShapeHit => "shape hit",
            Self::ShapeMiss => "shape miss",
            Self::Undecided => "undecided",
            Self::NotMeasured => "not measured",
        }
    }

    /// Whether the published value or shape was reproduced.
    #[must_use]
    pub const fn is_hit(self) -> bool {
        matches!(self, Self::Hit | Self::ShapeHit)
    }
}

/// A published value or shape beside what was measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Comparison {
    /// The id in the list of published values.
    pub id: String,
    /// A description.
    pub what: String,
    /// The unit.
    pub unit: String,
    /// The published value.
    pub published: FigureValue,
    /// The measured value, a mean if there are several runs; `None` if there is none.
    pub measured: Option<FigureValue>,
    /// The 95 % interval of the mean, if points have several runs.
    pub interval: Option<[f64; 2]>,
    /// The number of runs of its points.
    pub runs: usize,
    /// Whether several runs all gave the same, so that there is no interval.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub equal_runs: bool,
    /// The tolerance for a hit.
    pub tolerance: Option<String>,
    /// The lowest and the highest value that is a hit, for values and bounds.
    #[serde(skip)]
    pub accepted: [Option<f64>; 2],
    /// The verdict on the comparison.
    pub verdict: Verdict,
    /// The class of the row.
    pub class: RowClass,
    /// The constants that were chosen with it in view.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub chosen: Vec<String>,
    /// Why it cannot fail, if so.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub arithmetic: Option<String>,
    /// The parameter that was fitted to this value, in which case a hit is not a prediction.
    pub calibrated: Option<String>,
    /// The measured minus the published value.
    pub difference: Option<f64>,
    /// The difference as a share of the published value, in percent.
    pub difference_percent: Option<f64>,
    /// The source's statement.
    pub stated: Option<String>,
    /// How reliable the published value is.
    pub evidence: Confidence,
    /// The publication and the place in it.
    pub source: String,
    /// Why nothing was measured, if so.
    pub why: Option<String>,
    /// Whether the row is about the study itself, not about a published value.
    #[serde(skip_serializing_if = "std::ops::Not::not")]
    pub own_check: bool,
}

/// Compares the selected published values.
#[must_use]
pub fn rows(study: &Study, results: &Results, wanted: &[&Published]) -> Vec<Comparison> {
    wanted
        .iter()
        .map(|row| compare(study, results, row))
        .collect()
}

/// Compares a published value with its measured counterpart.
pub(crate) fn compare(study: &Study, results: &Results, published: &Published) -> Comparison {
    let (mut class, chosen) = RowClass::of(study, published);
    let needed = { results.points.iter() }.filter(|cached| needs(study, published, &cached.point));
    let needed: Vec<_> = needed.collect();
    let runs = needed.iter().map(|cached| cached.point.run + 1).max();
    let chips = { needed.iter() }.filter_map(|cached| cached.chip.as_ref());
    let chips: BTreeSet<&PointChip> = chips.collect();
    let is_other =
        study.changes().next().is_some() || chips.iter().any(|chip| !chip.is_frozen(study));
    if class != RowClass::Arithmetic && is_other {
        class = RowClass::Other;
    }
    let runs = runs.unwrap_or(1);
    let mut row = Comparison {
        id: published.id.clone(),
        what: published.what.clone(),
        unit: published.unit.clone(),
        published: FigureValue::Words(published.stated.clone().unwrap_or_default()),
        measured: None,
        interval: None,
        runs,
        equal_runs: false,
        tolerance: published.tolerance.map(|t| t.to_string()),
        accepted: [published.at_least, published.at_most],
        verdict: Verdict::NotMeasured,
        class,
        chosen: chosen.into_iter().map(str::to_owned).collect(),
        arithmetic: published.arithmetic.clone(),
        calibrated: published.calibrated.clone(),
        difference: None,
        difference_percent: None,
        stated: published.stated.clone(),
        evidence: published.evidence,
        source: published.source.clone(),
        why: None,
        own_check: false,
    };
    let compared = match &published.shape {
        Some(expected) => compare_shape(study, results, expected, &mut row),
        None => compare_value(study, results, published, &mut row),
    };
    row.why = compared.err();
    row
}

/// Compares the shape of curves, by its slack in each run.
fn compare_shape(
    study: &Study,
    results: &Results,
    expected: &Shape,
    row: &mut Comparison,
) -> Result<(), String> {
    row.tolerance = (expected.share() > 0.0).then(|| {
        // Shares are typed with few digits; the product has more.
        format!("{}%", (expected.share() * 1e8).round() / 1e6)
    });
    let seen = shape(expected, &|curve| named(study, results, curve))?;
    let mut found = seen.found;
    let slack = if row.runs == 1 {
        Estimate::from(seen.slack)
    } else {
        let each = (0..row.runs)
            .map(|run| shape(expected, &|curve| of_run(study, results, curve, run)))
            .collect::<Result<Vec<_>, _>>()?;
        let held = each.iter().filter(|seen| seen.holds).count();
        let slack = Estimate::of(&each.iter().map(|seen| seen.slack).collect::<Vec<_>>());
        let same = |run: usize, curve: &CurveName| {
            of_run(study, results, curve, run) == of_run(study, results, curve, 0)
        };
        row.equal_runs =
            { 1..row.runs }.all(|run| { expected.curves().into_iter() }.all(|it| same(run, it)));
        found = if row.equal_runs {
            format!("{found}; all {} runs are equal", row.runs)
        } else {
            format!("{found}; holds in {held} of {} runs", row.runs)
        };
        slack
    };
    row.measured = Some(FigureValue::Words(found));
    row.verdict = match slack.at_least(0.0) {
        Some(true) => Verdict::ShapeHit,
        Some(false) => Verdict::ShapeMiss,
        None => Verdict::Undecided,
    };
    Ok(())
}

/// Compares a value with the published one or with its bound.
fn compare_value(
    study: &Study,
    results: &Results,
    published: &Published,
    row: &mut Comparison,
) -> Result<(), String> {
    let bound = [
        published
            .at_least
            .map(|least| (format!("at least {least}"), least)),
        published
            .at_most
            .map(|most| (format!("at most {most}"), most)),
    ];
    if let Some(number) = published.value {
        row.published = FigureValue::Number(number);
    } else if let Some((words, _)) = bound.iter().flatten().next() {
        row.published = FigureValue::Words(words.clone());
    }
    let measured = { published.measured.as_ref() }
        .ok_or_else(|| "the study does not say what is measured".to_owned())?;
    let finite = |number: f64| {
        Some(number)
            .filter(|number| number.is_finite())
            .ok_or_else(|| format!("the value is {number}"))
    };
    let each = (0..row.runs)
        .map(|run| {
            let curves = |curve: &CurveName| of_run(study, results, curve, run);
            value(measured, &curves).and_then(finite)
        })
        .collect::<Result<Vec<_>, _>>()?;
    let estimate = Estimate::of(&each);
    row.measured = Some(FigureValue::Number(estimate.mean));
    row.interval = estimate.interval();
    row.equal_runs = estimate.has_equal_runs();
    let hit = if let Some(expected) = published.value {
        row.difference = Some(estimate.mean - expected);
        let difference = estimate.mean - expected;
        row.difference_percent =
            is_figure(difference, expected).then(|| difference * 100.0 / expected.abs());
        let tolerance = published.tolerance;
        let allowed = tolerance.map_or(0.0, |tolerance| tolerance.allowed(expected));
        row.accepted = [expected - allowed, expected + allowed].map(Some);
        estimate.within(expected - allowed, expected + allowed)
    } else {
        let least = published.at_least.map(|least| estimate.at_least(least));
        let most = published.at_most.map(|most| estimate.at_most(most));
        least.or(most).unwrap_or(Some(true))
    };
    row.verdict = match hit {
        Some(true) => Verdict::Hit,
        Some(false) => Verdict::Miss,
        None => Verdict::Undecided,
    };
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::{FigureValue, Verdict, rows};
    use crate::points::points;
    use crate::results::{CachedPoint, Results};
    use crate::selection::select;
    use crate::store::{MetricReading, PointOutcome};
    use crate::study::Study;

    const TEXT: &str = include_str!("verdict/judged.toml");

    fn results(study: &Study, values: [Option<f64>; 3]) -> Results {
        let mut results = Results::default();
        for (point, value) in points(study, false).unwrap().into_iter().zip(values) {
            let key = point.number.to_string();
            let mut outcome = PointOutcome::new(&key);
            let why = value.is_none().then(|| "it was stopped".to_owned());
            outcome
                .metrics
                .insert("rate".into(), MetricReading { value, why });
            results.outcomes.insert(key.clone(), outcome);
            results.points.push(CachedPoint {
                point,
                key,
                chip: None,
                cycles: 0,
                run: None,
            });
        }
        results
    }

    #[test]
    fn values_bounds_and_shapes_are_judged() {
        let study = Study::parse("s", TEXT).unwrap();
        let results = results(&study, [Some(1.0), Some(2.1), Some(3.25)]);
        let rows = rows(&study, &results, &select(&study, &[]).unwrap());
        let verdicts: Vec<_> = rows.iter().map(|row| row.verdict).collect();
        assert_eq!(
            verdicts,
            [Verdict::Hit, Verdict::Miss, Verdict::Hit, Verdict::ShapeHit]
        );
        assert_eq!(rows[0].calibrated.as_deref(), Some("dram.x"));
        assert_eq!(rows[1].difference, Some(-0.75));
        assert_eq!(rows[1].difference_percent, Some(-18.75));
        assert_eq!(rows[2].published, FigureValue::Words("at most 3.5".into()));
        assert_eq!(
            rows[3].published,
            FigureValue::Words("follows the load".into())
        );
        assert_eq!(rows[3].tolerance.as_deref(), Some("7%"));
        let json = serde_json::to_value(&rows[0]).unwrap();
        for key in [
            "id",
            "what",
            "unit",
            "published",
            "measured",
            "tolerance",
            "verdict",
            "calibrated",
        ] {
            assert!(json.get(key).is_some(), "{key}");
        }
        assert_eq!(json["verdict"], "hit");
    }

    /// Runs each point three times, with these values at place 2.
    fn replicated(values: [f64; 3]) -> Vec<super::Comparison> {
        let text = TEXT.replacen(
            "[sweep.a]",
            "[replication]\nruns = 3\n[sweep.a]\nreplicate = true",
            1,
        );
        let study = Study::parse("s", &text).unwrap();
        let mut results = Results::default();
        for point in points(&study, false).unwrap() {
            let key = point.number.to_string();
            let x = point.coordinates.first().map_or(0.0, |place| place.x);
            let is_second = (x - 2.0).abs() < 1e-9;
            let value = if is_second { values[point.run] } else { x };
            let mut outcome = PointOutcome::new(&key);
            let value = Some(value);
            let reading = MetricReading { value, why: None };
            outcome.metrics.insert("rate".into(), reading);
            results.outcomes.insert(key.clone(), outcome);
            results.points.push(CachedPoint {
                point,
                key,
                chip: None,
                cycles: 0,
                run: None,
            });
        }
        rows(&study, &results, &select(&study, &[]).unwrap())
    }

    #[test]
    fn verdict_uses_the_confidence_interval() {
        let steady = replicated([2.02, 2.04, 2.03]);
        let [low, high] = steady[0].interval.unwrap();
        assert!(low > 2.0 && high < 2.06, "{low} {high}");
        assert_eq!((steady[0].verdict, steady[0].runs), (Verdict::Hit, 3));
        assert_eq!(steady[3].verdict, Verdict::ShapeHit);
        // The same mean as before, but so noisy that it proves nothing.
        let noisy = replicated([1.83, 2.23, 2.03]);
        assert_eq!(noisy[0].measured, steady[0].measured);
        assert_eq!(noisy[0].verdict, Verdict::Undecided);
        assert!(!noisy[0].verdict.is_hit());
        assert_eq!(noisy[3].verdict, Verdict::Undecided, "{:?}", noisy[3]);
        let seen = format!("{:?}", noisy[3].measured);
        assert!(seen.contains("holds in 1 of 3 runs"), "{seen}");
        let far = replicated([2.5, 2.51, 2.49]);
        assert_eq!(far[0].verdict, Verdict::Miss);
        // The largest value is at 3 in every run.
        assert_eq!(far[2].verdict, Verdict::Hit);
    }

    #[test]
    fn failed_measurement_is_no_hit() {
        let study = Study::parse("s", TEXT).unwrap();
        let results = results(&study, [Some(1.0), None, Some(3.9)]);
        let rows = rows(&study, &results, &select(&study, &[]).unwrap());
        for row in &rows {
            assert_eq!(
                (row.verdict, &row.measured),
                (Verdict::NotMeasured, &None),
                "{}",
                row.what
            );
            assert!(row.why.as_deref().unwrap().contains("it was stopped"));
            assert!(!row.verdict.is_hit());
        }
        let none = Results::default();
        let rows = super::rows(&study, &none, &select(&study, &[]).unwrap());
        assert!(rows.iter().all(|row| row.verdict == Verdict::NotMeasured));
    }

    #[test]
    fn deviations_in_the_other_direction_are_judged() {
        let study = Study::parse("s", TEXT).unwrap();
        let results = results(&study, [Some(1.0), Some(1.8), Some(3.6)]);
        let rows = rows(&study, &results, &select(&study, &[]).unwrap());
        let verdicts: Vec<_> = rows.iter().map(|row| row.verdict).collect();
        assert_eq!(
            verdicts,
            [
                Verdict::Miss,
                Verdict::Hit,
                Verdict::Miss,
                Verdict::ShapeMiss
            ]
        );
    }
}
