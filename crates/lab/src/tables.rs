//! Results as tables, for terminals and as CSV.

use std::collections::{BTreeMap, BTreeSet};

use npsim_session::text_table::TextTable;

use crate::counts::ClassCounts;
use crate::format::{line, shown_difference, shown_estimate, shown_figure, shown_measured};
use crate::replicates::{estimate, replicates, single_runs};
use crate::results::{CachedPoint, Results};
use crate::study::Study;
use crate::verdict::{Comparison, FigureValue};

/// Formats published beside measured values for a terminal of this width in columns: two lines per
/// row.
#[must_use]
pub fn comparison(rows: &[Comparison], width: usize) -> String {
    let indent = rows.iter().map(|row| row.id.chars().count()).max();
    let indent = indent.unwrap_or(0) + 2;
    let lines = rows.iter().map(|row| {
        let room = width.saturating_sub(indent);
        let what = shortened(&shown_what(row), room);
        let verdict = format!("{}, {}", row.verdict.name(), row.class.name());
        let taken = "published    here    ".len() + verdict.chars().count();
        let mut here = measured_or_reason(row);
        let mut published = shown_figure(&row.published);
        // Words are cut if numbers and the verdict would not fit otherwise.
        let room = room.saturating_sub(taken);
        let (long, short) = (here.chars().count(), published.chars().count());
        if long + short > room {
            let part = room / 2;
            published = shortened(&published, part.max(room.saturating_sub(long)));
            here = shortened(&here, room.saturating_sub(published.chars().count()));
        }
        format!(
            "{:indent$}{what}\n{:indent$}published {published}   here {here}   {verdict}",
            row.id, ""
        )
    });
    lines.collect::<Vec<_>>().join("\n")
}

/// Formats published beside measured values for a terminal of this width in columns, with
/// differences, tolerances and uncut words.
#[must_use]
pub fn wide_comparison(rows: &[Comparison], width: usize) -> String {
    let heads = [
        "id",
        "what",
        "published",
        "here",
        "off by",
        "within",
        "verdict",
    ];
    let mut table = TextTable::with_numbers(&heads, 4..6);
    for row in rows {
        table.add_row([
            row.id.clone(),
            shown_what(row),
            shown_figure(&row.published),
            measured_or_reason(row),
            shown_difference(row),
            row.tolerance.clone().unwrap_or_default(),
            format!("{}, {}", row.verdict.name(), row.class.name()),
        ]);
    }
    table.fitted(width)
}

/// The description of a row, with its unit.
fn shown_what(row: &Comparison) -> String {
    match &*row.unit {
        "" => row.what.clone(),
        unit => format!("{} [{unit}]", row.what),
    }
}

/// The measured value of a row, or why there is none.
fn measured_or_reason(row: &Comparison) -> String {
    match (&row.measured, &row.why) {
        (Some(_), _) => shown_measured(row),
        (None, Some(why)) => why.clone(),
        (None, None) => String::new(),
    }
}

/// Cuts a text to the available space.
fn shortened(text: &str, room: usize) -> String {
    if text.chars().count() <= room {
        return text.to_owned();
    }
    let kept: String = text.chars().take(room.saturating_sub(3)).collect();
    format!("{}...", kept.trim_end())
}

/// The summary `9 of 10 reproduced: ...`, which excludes the study's own checks and rows that
/// cannot fail.
#[must_use]
pub fn reproduced(rows: &[Comparison]) -> String {
    ClassCounts::of(rows).shown()
}

/// The reasons why metrics have no value at points that ran, one line per metric and reason;
/// limited to the curves `SWEEP.METRIC` in `asked`, if given. Tables on terminals only have room
/// for `-` there.
#[must_use]
pub fn missing_values(
    study: &Study,
    results: &Results,
    asked: Option<&BTreeSet<String>>,
) -> Vec<String> {
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
            if let Err(why) = results.reading(cached, metric) {
                let place = cached
                    .point
                    .as_phrase(sweep.title.as_deref().unwrap_or(name));
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

/// Formats the values of every point for a terminal of this width in columns; several runs give
/// the mean with half of its 95 % interval.
#[must_use]
pub fn measurements(study: &Study, results: &Results, width: usize) -> String {
    let mut text = Vec::new();
    for (name, sweep) in &study.sweep {
        let mine = replicates(results, name);
        if mine.is_empty() {
            continue;
        }
        let has_runs = mine.iter().any(|runs| runs.len() > 1);
        let metrics = study.metrics_of(sweep);
        let axes = sweep.axis.iter().map(|axis| axis.name().to_owned());
        let heads = metrics.iter().map(|(name, metric)| match metric.unit() {
            "" => (*name).to_owned(),
            unit => format!("{name} [{unit}]"),
        });
        let heads: Vec<_> = std::iter::once("point".to_owned())
            .chain(axes)
            .chain(has_runs.then(|| "runs".to_owned()))
            .chain(heads)
            .collect();
        let heads: Vec<_> = heads.iter().map(String::as_str).collect();
        let mut table = TextTable::new(&heads);
        for runs in mine {
            let [first, .., last] = runs.as_slice() else {
                table.add_row(measured(study, results, &runs, has_runs));
                continue;
            };
            let mut row = measured(study, results, &runs, has_runs);
            if let Some(cell) = row.first_mut() {
                *cell = format!("{}-{}", first.point.number, last.point.number);
            }
            table.add_row(row);
        }
        let title = sweep.title.as_deref().unwrap_or(name);
        let mut part = format!("{title}\n{}", table.fitted(width));
        if has_runs {
            part += "\nmeans of `runs` runs, +- half of the 95 % interval (Student's t)";
        }
        if let Some(why) = single_runs(study, results, name) {
            part.push('\n');
            part += &why;
        }
        text.push(part);
    }
    text.join("\n\n")
}

/// The row of a point, over all its runs.
fn measured(
    study: &Study,
    results: &Results,
    runs: &[&CachedPoint],
    has_runs: bool,
) -> Vec<String> {
    let Some(first) = runs.first() else {
        return Vec::new();
    };
    let sweep = study.sweep.get(&first.point.sweep);
    let metrics = sweep.into_iter().flat_map(|sweep| study.metrics_of(sweep));
    let places = first.point.coordinates.iter().map(|c| c.label.clone());
    let values = metrics.map(|(metric, _)| {
        let estimate = estimate(results, runs, metric);
        estimate.map_or_else(|_| "-".into(), |it| shown_estimate(&it))
    });
    std::iter::once(first.point.number.to_string())
        .chain(places)
        .chain(has_runs.then(|| runs.len().to_string()))
        .chain(values)
        .collect()
}

/// The text of `rows.csv`.
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
            match &row.why {
                None if row.equal_runs => "all runs are equal: no interval".to_owned(),
                why => why.clone().unwrap_or_default(),
            },
        ]);
    }
    text
}

/// Names of the columns with a point's place on the axes of its sweep, enough for the sweep with
/// the most axes. [`axis_fields`] has the values.
fn axis_heads(study: &Study) -> Vec<String> {
    let axes = study.sweep.values().map(|sweep| sweep.axis.len()).max();
    let heads = (1..=axes.unwrap_or(0))
        .flat_map(|number| ["axis", "label", "x"].map(|head| format!("{head}{number}")));
    heads.collect()
}

fn axis_fields(heads: &[String], cached: &CachedPoint) -> Vec<String> {
    let places = cached.point.coordinates.iter();
    let places = places.flat_map(|c| [c.axis.clone(), c.label.clone(), c.x.to_string()]);
    let mut fields: Vec<String> = places.collect();
    fields.resize(heads.len(), String::new());
    fields
}

/// The text of `points.csv`: one line per metric of every run of a point.
#[must_use]
pub(crate) fn points_csv(study: &Study, results: &Results) -> String {
    let axes = axis_heads(study);
    let own = ["metric", "unit", "value", "why", "run", "seed"].map(String::from);
    let mut text = line(
        ["sweep", "point"]
            .map(String::from)
            .into_iter()
            .chain(axes.clone())
            .chain(own),
    );
    for cached in &results.points {
        let Some(sweep) = study.sweep.get(&cached.point.sweep) else {
            continue;
        };
        let mut place = vec![cached.point.sweep.clone(), cached.point.number.to_string()];
        place.extend(axis_fields(&axes, cached));
        for (name, metric) in study.metrics_of(sweep) {
            let (value, why) = match results.reading(cached, name) {
                Ok(value) => (value.to_string(), String::new()),
                Err(why) => (String::new(), why),
            };
            let run = cached.point.run.to_string();
            let seed = cached.point.seed.map(|seed| seed.to_string());
            let rest = [
                name.to_owned(),
                metric.unit().to_owned(),
                value,
                why,
                run,
                seed.unwrap_or_default(),
            ];
            text += &line(place.iter().cloned().chain(rest));
        }
    }
    text
}

/// The text of `means.csv`: one line per metric of every point, over all its runs.
#[must_use]
pub(crate) fn means_csv(study: &Study, results: &Results) -> String {
    let axes = axis_heads(study);
    let own = ["metric", "unit", "mean", "low", "high", "runs", "why"].map(String::from);
    let mut text = line(
        std::iter::once("sweep".to_owned())
            .chain(axes.clone())
            .chain(own),
    );
    for (name, sweep) in &study.sweep {
        for runs in replicates(results, name) {
            let Some(first) = runs.first() else { continue };
            for (metric, about) in study.metrics_of(sweep) {
                let estimate = estimate(results, &runs, metric);
                let number = |number: Option<f64>| number.map(|n| n.to_string());
                let (mean, interval, why) = match &estimate {
                    Ok(it) if it.has_equal_runs() => (
                        Some(it.mean),
                        None,
                        "all runs are equal: no interval".to_owned(),
                    ),
                    Ok(it) => (Some(it.mean), it.interval(), String::new()),
                    Err(why) => (None, None, why.clone()),
                };
                let mut fields = vec![name.clone()];
                fields.extend(axis_fields(&axes, first));
                fields.extend([
                    metric.to_owned(),
                    about.unit().to_owned(),
                    number(mean).unwrap_or_default(),
                    number(interval.map(|[low, _]| low)).unwrap_or_default(),
                    number(interval.map(|[_, high]| high)).unwrap_or_default(),
                    runs.len().to_string(),
                    why,
                ]);
                text += &line(fields);
            }
        }
    }
    text
}
