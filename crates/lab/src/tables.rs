//! Results as tables: for a terminal and as CSV.

use std::collections::{BTreeMap, BTreeSet};

use npsim_session::text_table::TextTable;

use crate::counts::ClassCounts;
use crate::curves::reading;
use crate::format::{line, shown, shown_difference, shown_figure, shown_measured};
use crate::results::{CachedPoint, Results};
use crate::study::Study;
use crate::verdict::{Comparison, FigureValue};

/// Published beside measured, for a terminal of so many columns.
#[must_use]
pub fn comparison(rows: &[Comparison], width: usize) -> String {
    // Few columns, for each that has no place stands far below: units go with what they are of,
    // and a verdict is read with its class.
    let heads = [
        "id",
        "what",
        "published",
        "measured",
        "off by",
        "within",
        "verdict",
    ];
    let mut table = TextTable::with_numbers(&heads, 4..6);
    for row in rows {
        let measured = match (&row.measured, &row.why) {
            (Some(_), _) => shown_measured(row),
            (None, Some(why)) => why.clone(),
            (None, None) => String::new(),
        };
        let what = match &*row.unit {
            "" => row.what.clone(),
            unit => format!("{} [{unit}]", row.what),
        };
        table.add_row([
            row.id.clone(),
            what,
            shown_figure(&row.published),
            measured,
            shown_difference(row),
            row.tolerance.clone().unwrap_or_default(),
            format!("{}, {}", row.verdict.name(), row.class.name()),
        ]);
    }
    table.fitted(width)
}

/// `9 of 10 reproduced: ...`, without the study's own checks and what cannot fail.
#[must_use]
pub fn reproduced(rows: &[Comparison]) -> String {
    ClassCounts::of(rows).shown()
}

/// Why metrics have no value at points that ran, a line for each metric and reason;
/// with `asked` only for these curves, `SWEEP.METRIC`. Tables for a terminal have no
/// room for more than `-` there.
#[must_use]
pub fn gaps(study: &Study, results: &Results, asked: Option<&BTreeSet<String>>) -> Vec<String> {
    let mut found: BTreeMap<(&str, String), Vec<String>> = BTreeMap::new();
    for cached in &results.points {
        let ran = results.outcome(cached).is_some_and(|o| o.fault.is_none());
        let name = &cached.point.sweep;
        let Some(sweep) = study.sweep.get(name).filter(|_| ran) else {
            continue;
        };
        for metric in study.metrics_of(sweep).into_keys() {
            if asked.is_some_and(|asked| !asked.contains(&format!("{name}.{metric}"))) {
                continue;
            }
            if let Err(why) = reading(results, cached, metric) {
                let place = cached.point.placed(sweep.title.as_deref().unwrap_or(name));
                found.entry((metric, why)).or_default().push(place);
            }
        }
    }
    let told = found.into_iter().map(|((metric, why), places)| {
        let place = match places.as_slice() {
            [one] => one.clone(),
            [first, ..] => format!("at {} points, first {first}", places.len()),
            [] => String::new(),
        };
        format!("`{metric}` has no value {place}: {why}")
    });
    told.collect()
}

/// What every point came to, for a terminal of so many columns.
#[must_use]
pub fn measurements(study: &Study, results: &Results, width: usize) -> String {
    let mut text = Vec::new();
    for (name, sweep) in &study.sweep {
        let mine: Vec<&CachedPoint> = results
            .points
            .iter()
            .filter(|k| &k.point.sweep == name)
            .collect();
        if mine.is_empty() {
            continue;
        }
        let metrics = study.metrics_of(sweep);
        let axes = sweep.axis.iter().map(|axis| axis.name().to_owned());
        let heads = metrics.iter().map(|(name, metric)| match metric.unit() {
            "" => (*name).to_owned(),
            unit => format!("{name} [{unit}]"),
        });
        let heads: Vec<_> = std::iter::once("point".to_owned())
            .chain(axes)
            .chain(heads)
            .collect();
        let heads: Vec<_> = heads.iter().map(String::as_str).collect();
        let mut table = TextTable::new(&heads);
        for cached in mine {
            let places = cached.point.coordinates.iter().map(|c| c.label.clone());
            let values = metrics
                .keys()
                .map(|metric| reading(results, cached, metric).map_or_else(|_| "-".into(), shown));
            table.add_row(
                std::iter::once(cached.point.number.to_string())
                    .chain(places)
                    .chain(values),
            );
        }
        let title = sweep.title.as_deref().unwrap_or(name);
        text.push(format!("{title}\n{}", table.fitted(width)));
    }
    text.join("\n\n")
}

/// `rows.csv`.
#[must_use]
pub(crate) fn rows_csv(rows: &[Comparison]) -> String {
    let mut text = line(
        [
            "id",
            "what",
            "unit",
            "published",
            "measured",
            "tolerance",
            "verdict",
            "class",
            "chosen",
            "calibrated",
            "arithmetic",
            "low",
            "high",
            "runs",
            "difference",
            "difference_percent",
            "stated",
            "evidence",
            "source",
            "why",
        ]
        .map(String::from),
    );
    let exact = |figure: &FigureValue| match figure {
        FigureValue::Number(number) => number.to_string(),
        FigureValue::Words(words) => words.clone(),
    };
    let number = |number: Option<f64>| number.map(|n| n.to_string()).unwrap_or_default();
    for row in rows {
        text += &line([
            row.id.clone(),
            row.what.clone(),
            row.unit.clone(),
            exact(&row.published),
            row.measured.as_ref().map(exact).unwrap_or_default(),
            row.tolerance.clone().unwrap_or_default(),
            row.verdict.name().to_owned(),
            row.class.name().to_owned(),
            row.chosen.join(" "),
            row.calibrated.clone().unwrap_or_default(),
            row.arithmetic.clone().unwrap_or_default(),
            number(row.interval.map(|[low, _]| low)),
            number(row.interval.map(|[_, high]| high)),
            row.runs.to_string(),
            number(row.difference),
            number(row.difference_percent),
            row.stated.clone().unwrap_or_default(),
            row.evidence.name().to_owned(),
            row.source.clone(),
            row.why.clone().unwrap_or_default(),
        ]);
    }
    text
}

/// `points.csv`: one line for every metric of every point.
#[must_use]
pub(crate) fn points_csv(study: &Study, results: &Results) -> String {
    let axes = study
        .sweep
        .values()
        .map(|sweep| sweep.axis.len())
        .max()
        .unwrap_or(0);
    let mut head = vec!["sweep".to_owned(), "point".to_owned()];
    for number in 1..=axes {
        head.extend([
            format!("axis{number}"),
            format!("label{number}"),
            format!("x{number}"),
        ]);
    }
    head.extend(["metric", "unit", "value", "why", "run"].map(String::from));
    let mut text = line(head);
    for cached in &results.points {
        let Some(sweep) = study.sweep.get(&cached.point.sweep) else {
            continue;
        };
        let mut place = vec![cached.point.sweep.clone(), cached.point.number.to_string()];
        for number in 0..axes {
            match cached.point.coordinates.get(number) {
                Some(c) => place.extend([c.axis.clone(), c.label.clone(), c.x.to_string()]),
                None => place.extend([String::new(), String::new(), String::new()]),
            }
        }
        for (name, metric) in study.metrics_of(sweep) {
            let (value, why) = match reading(results, cached, name) {
                Ok(value) => (value.to_string(), String::new()),
                Err(why) => (String::new(), why),
            };
            let run = cached.point.run.to_string();
            let rest = [name.to_owned(), metric.unit().to_owned(), value, why, run];
            text += &line(place.iter().cloned().chain(rest));
        }
    }
    text
}
