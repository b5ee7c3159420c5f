//! Figures as SVG: the study's curves with published values marked.

use npsim_report::chart::figure::{Curve as Line, Figure as Drawn};

use crate::curves::samples;
use crate::results::Results;
use crate::sample::CurvePoint;
use crate::study::{FigureScale, PublishedCurve, PublishedFigure, PublishedMark, Study};

/// The figures of a study; if it has none, one for each metric of each sweep with
/// an axis.
#[must_use]
pub fn figures(study: &Study) -> Vec<PublishedFigure> {
    if !study.figure.is_empty() {
        return study.figure.clone();
    }
    let mut figures = Vec::new();
    for (name, sweep) in &study.sweep {
        if sweep.axis.is_empty() {
            continue;
        }
        for (metric, about) in study.metrics_of(sweep) {
            let mut cuts = vec![Vec::new()];
            for axis in sweep.axis.iter().skip(1) {
                cuts = cuts
                    .into_iter()
                    .flat_map(|before: Vec<(String, String)>| {
                        axis.levels().into_iter().map(move |place| {
                            let mut now = before.clone();
                            now.push((axis.name().to_owned(), place.label));
                            now
                        })
                    })
                    .collect();
            }
            let curve = cuts.into_iter().map(|cut| PublishedCurve {
                of: format!("{name}.{metric}"),
                label: (!cut.is_empty()).then(|| {
                    let parts: Vec<_> = cut.iter().map(|(a, v)| format!("{a} {v}")).collect();
                    parts.join(", ")
                }),
                at: cut
                    .into_iter()
                    .map(|(axis, value)| (axis, crate::study::SettingValue::Text(value)))
                    .collect(),
            });
            figures.push(PublishedFigure {
                name: format!("{name}-{metric}"),
                title: format!(
                    "{}: {}",
                    sweep.title.as_deref().unwrap_or(name),
                    about.shown()
                ),
                x: FigureScale::default(),
                y: FigureScale::default(),
                curve: curve.collect(),
                mark: Vec::new(),
                diagonal: false,
            });
        }
    }
    figures
}

/// A figure as SVG; `None` if none of its curves has a value.
#[must_use]
pub fn draw(study: &Study, results: &Results, figure: &PublishedFigure) -> Option<String> {
    let curves: Vec<Line> = figure
        .curve
        .iter()
        .map(|curve| {
            let places = samples(study, results, &curve.of, &curve.at);
            Line {
                label: label(study, curve),
                points: places.iter().filter_map(known).collect(),
                bars: places.iter().filter_map(bar).collect(),
                computed: study.curve.contains_key(&curve.of),
            }
        })
        .collect();
    if curves.iter().all(|line| line.points.is_empty()) {
        return None;
    }
    let marks: Vec<(String, f64, f64)> = figure
        .mark
        .iter()
        .filter_map(|mark| place(study, mark))
        .collect();
    let seen = || {
        let marked = marks.iter().map(|(_, x, y)| (*x, *y));
        curves
            .iter()
            .flat_map(|line| line.points.iter().copied())
            .chain(
                curves
                    .iter()
                    .flat_map(|line| &line.bars)
                    .flat_map(|&(x, low, high)| [(x, low), (x, high)]),
            )
            .chain(marked)
    };
    let x = range(&figure.x, seen().map(|(x, _)| x));
    let y = range(&figure.y, seen().map(|(_, y)| y));
    let drawn = Drawn {
        title: figure.title.clone(),
        labels: labels(study, figure),
        ranges: (x, y),
        curves,
        marks,
        marks_label: "published".into(),
        notes: notes(study, results, figure),
        diagonal: figure.diagonal,
    };
    Some(drawn.draw())
}

/// Explains the error bars, and their absence where points have several runs.
fn notes(study: &Study, results: &Results, figure: &PublishedFigure) -> Vec<String> {
    let places =
        { figure.curve.iter() }.flat_map(|curve| samples(study, results, &curve.of, &curve.at));
    let estimates: Vec<_> = { places.filter_map(|place| place.estimate) }
        .filter(|estimate| estimate.runs > 1)
        .collect();
    let runs = |has_bar: bool| {
        let these = estimates
            .iter()
            .filter(|it| it.half_width.is_some() == has_bar);
        let (least, most) = these.fold((usize::MAX, 0), |(least, most), it| {
            (least.min(it.runs), most.max(it.runs))
        });
        match (least, most) {
            (_, 0) => None,
            (least, most) if least == most => Some(format!("{most} runs")),
            (least, most) => Some(format!("{least} to {most} runs")),
        }
    };
    let equal = estimates
        .iter()
        .filter(|it| it.half_width.is_none())
        .count();
    let bars = runs(true).map(|runs| format!("bars: 95 % interval of the mean of {runs}"));
    let none = runs(false).map(|runs| {
        let points = estimates.len();
        format!("no bar where all {runs} are equal: {equal} of {points} points")
    });
    bars.into_iter().chain(none).collect()
}

/// The error bar of a sample.
fn bar(sample: &CurvePoint) -> Option<(f64, f64, f64)> {
    let [low, high] = sample.estimate?.interval()?;
    Some((sample.x, low, high))
}

fn known(sample: &CurvePoint) -> Option<(f64, f64)> {
    sample.y.as_ref().ok().map(|&y| (sample.x, y))
}

fn label(study: &Study, curve: &PublishedCurve) -> String {
    if let Some(label) = &curve.label {
        return label.clone();
    }
    if let Some(derived) = study.curve.get(&curve.of) {
        return derived.title.clone().unwrap_or_else(|| curve.of.clone());
    }
    let name = curve
        .of
        .split_once('.')
        .map_or(curve.of.as_str(), |(sweep, _)| sweep);
    let title = study.sweep.get(name).and_then(|sweep| sweep.title.clone());
    title.unwrap_or_else(|| name.to_owned())
}

/// The id and position of a published value in the figure.
fn place(study: &Study, mark: &PublishedMark) -> Option<(String, f64, f64)> {
    let mut rows = study.published.iter().filter(|row| row.id == mark.id);
    let row = rows.nth(mark.nth)?;
    let y = row.value.or(row.at_least).or(row.at_most)?;
    Some((row.id.clone(), mark.x, y))
}

/// The labels of the scales: as given, or derived from the first curve.
fn labels(study: &Study, figure: &PublishedFigure) -> (String, String) {
    let first = figure
        .curve
        .first()
        .map(|curve| match study.curve.get(&curve.of) {
            Some(derived) => derived.over.of(),
            None => curve.of.as_str(),
        })
        .and_then(|of| of.split_once('.'));
    let sweep = first.and_then(|(sweep, _)| study.sweep.get(sweep));
    let axis = sweep
        .and_then(|sweep| sweep.axis.first())
        .map(crate::study::Axis::shown);
    let metric = first
        .and_then(|(_, metric)| study.metric.get(metric))
        .map(|metric| {
            if metric.unit().is_empty() {
                metric.shown()
            } else {
                format!("{} [{}]", metric.shown(), metric.unit())
            }
        });
    (
        figure.x.label.clone().or(axis).unwrap_or_default(),
        figure.y.label.clone().or(metric).unwrap_or_default(),
    )
}

/// The range of a scale: from the given start or 0, to the given end, or to
/// slightly beyond the largest value if that is larger.
fn range(scale: &FigureScale, seen: impl Iterator<Item = f64>) -> (f64, f64) {
    let (low, high) = seen.fold((0.0_f64, 0.0_f64), |(low, high), v| {
        (low.min(v), high.max(v))
    });
    let from = scale.from.unwrap_or(low);
    let needed = if high > 0.0 { high * 1.08 } else { 1.0 };
    // A value beyond the given end would be drawn at the edge, in the wrong place.
    let to = scale.to.filter(|&to| to >= high).unwrap_or(needed);
    if to > from {
        (from, to)
    } else {
        (from, from + 1.0)
    }
}

#[cfg(test)]
mod tests {
    use super::range;
    use crate::study::FigureScale;

    #[test]
    fn scale_never_hides_measured_points() {
        let scale = |from, to| FigureScale {
            label: None,
            from,
            to,
        };
        let of = |scale: &FigureScale, seen: &[f64]| range(scale, seen.iter().copied());
        assert_eq!(of(&scale(None, Some(8.0)), &[3.0, 4.0]), (0.0, 8.0));
        assert_eq!(of(&scale(None, Some(8.0)), &[3.0, 8.0]), (0.0, 8.0));
        assert_eq!(of(&scale(None, Some(8.0)), &[3.0, 50.0]), (0.0, 54.0));
        assert_eq!(of(&scale(Some(2.0), None), &[100.0]), (2.0, 108.0));
        assert_eq!(of(&scale(None, None), &[-1.0]), (-1.0, 1.0));
        assert_eq!(of(&scale(Some(5.0), None), &[1.0]), (5.0, 6.0));
    }
}
