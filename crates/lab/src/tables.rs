//! Results as tables: for a terminal, as CSV, and as JSON.

use std::collections::{BTreeMap, BTreeSet};

use npsim_session::text_table::TextTable;
use serde::Serialize;

use crate::campaign::{Keyed, Results};
use crate::class::{Class, Counts};
use crate::curves::reading;
use crate::grid::{Grid, grids};
use crate::points::Coordinate;
use crate::profiles::{self, Used};
use crate::study::{Chosen, ChosenShown, Study};
use crate::verdict::{Figure, Row};

/// Name of the format of `results.json`.
pub const SCHEMA: &str = "npsim-results-2";

/// A number as tables show it: at most four digits that say something.
#[must_use]
pub fn shown(number: f64) -> String {
    let size = number.abs();
    let digits = match size {
        s if s >= 1000.0 || s == 0.0 => 0,
        s if s >= 100.0 => 1,
        s if s >= 10.0 => 2,
        s if s >= 0.1 => 3,
        _ => 5,
    };
    let text = format!("{number:.digits$}");
    if text.contains('.') {
        text.trim_end_matches('0').trim_end_matches('.').to_owned()
    } else {
        text
    }
}

/// A number or words as tables show them.
#[must_use]
pub(crate) fn shown_figure(figure: &Figure) -> String {
    match figure {
        Figure::Number(number) => shown(*number),
        Figure::Words(words) => words.clone(),
    }
}

/// The difference of a row as tables show it: `-2.1%`.
#[must_use]
pub(crate) fn shown_difference(row: &Row) -> String {
    match (row.difference_percent, row.difference) {
        (Some(percent), _) => format!("{percent:+.1}%"),
        (None, Some(difference)) => format!("{difference:+.3}"),
        _ => String::new(),
    }
}

/// Published beside measured, for a terminal of so many columns.
#[must_use]
pub fn comparison(rows: &[Row], width: usize) -> String {
    // Few columns, for each that has no place stands far below: units go with what they are of,
    // and who reads a verdict reads the class with it.
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
pub fn reproduced(rows: &[Row]) -> String {
    Counts::of(rows).shown()
}

/// What was measured of a row as tables show it: `0.279 +- 0.012` of several runs.
#[must_use]
pub(crate) fn shown_measured(row: &Row) -> String {
    let Some(figure) = &row.measured else {
        return String::new();
    };
    let measured = shown_figure(figure);
    match row.interval {
        Some([low, high]) => format!("{measured} +- {}", shown((high - low) / 2.0)),
        None => measured,
    }
}

/// The class of a row, and what was chosen or fitted: `chosen in view: LOCK_GAP`.
#[must_use]
pub(crate) fn shown_class(row: &Row) -> String {
    let class = row.class.name();
    let by = match row.class {
        Class::Calibrated => row.calibrated.clone(),
        Class::Chosen => Some(row.chosen.join(", ")),
        Class::Arithmetic => row.arithmetic.clone(),
        Class::Predicted | Class::OwnCheck => None,
    };
    by.map_or_else(|| class.to_owned(), |by| format!("{class}: {by}"))
}

/// Why metrics have no value at points that ran, a line for each metric and reason;
/// with `asked` only for these curves, `SWEEP.METRIC`. Tables for a terminal have no
/// room for more than `-` there.
#[must_use]
pub fn gaps(study: &Study, results: &Results, asked: Option<&BTreeSet<String>>) -> Vec<String> {
    let mut found: BTreeMap<(&str, String), Vec<String>> = BTreeMap::new();
    for keyed in &results.points {
        let ran = results.outcome(keyed).is_some_and(|o| o.fault.is_none());
        let name = &keyed.point.sweep;
        let Some(sweep) = study.sweep.get(name).filter(|_| ran) else {
            continue;
        };
        for metric in study.metrics_of(sweep).into_keys() {
            if asked.is_some_and(|asked| !asked.contains(&format!("{name}.{metric}"))) {
                continue;
            }
            if let Err(why) = reading(results, keyed, metric) {
                let place = keyed.point.placed(sweep.title.as_deref().unwrap_or(name));
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
        let mine: Vec<&Keyed> = results
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
        for keyed in mine {
            let places = keyed.point.coordinates.iter().map(|c| c.label.clone());
            let values = metrics
                .keys()
                .map(|metric| reading(results, keyed, metric).map_or_else(|_| "-".into(), shown));
            table.add_row(
                std::iter::once(keyed.point.number.to_string())
                    .chain(places)
                    .chain(values),
            );
        }
        let title = sweep.title.as_deref().unwrap_or(name);
        text.push(format!("{title}\n{}", table.fitted(width)));
    }
    text.join("\n\n")
}

/// `results.json`.
#[derive(Clone, Debug, Serialize)]
pub struct Document<'a> {
    /// Name and version of the format.
    pub schema: &'static str,
    /// Version of npsim.
    pub npsim: &'static str,
    /// The study.
    pub study: &'a str,
    /// Its title.
    pub title: &'a str,
    /// Whether it was a quick run.
    pub quick: bool,
    /// Published beside measured.
    pub rows: &'a [Row],
    /// How many rows of each class were reproduced.
    pub reproduced: Counts,
    /// The constants that were chosen with rows in view.
    pub chosen: Vec<ChosenShown<'a>>,
    /// Tables with their cells.
    pub tables: Vec<Grid>,
    /// Whether all points of a chip ran on one profile, in words.
    pub profile: String,
    /// The same as yes or no.
    pub one_profile: bool,
    /// The chips that the points ran on.
    pub profiles: Vec<Used>,
    /// What each metric is.
    pub metrics: Vec<About>,
    /// What every point came to.
    pub points: Vec<Line<'a>>,
}

/// A metric in `results.json`.
#[derive(Clone, Debug, Serialize)]
pub struct About {
    /// Its name in the study.
    pub name: String,
    /// What it is called.
    pub title: String,
    /// Its unit.
    pub unit: &'static str,
    /// What exactly is measured.
    pub definition: String,
}

/// A point in `results.json`.
#[derive(Clone, Debug, Serialize)]
pub struct Line<'a> {
    /// Its number.
    pub point: usize,
    /// Its sweep.
    pub sweep: &'a str,
    /// Its key.
    pub key: &'a str,
    /// Its place on each axis.
    pub at: &'a [Coordinate],
    /// Which of several runs of the place it is, from 0.
    pub run: usize,
    /// Settings over the project, the capture and the seed.
    pub settings: Vec<String>,
    /// What stopped it.
    pub fault: Option<&'a str>,
    /// What was measured.
    pub metrics: serde_json::Value,
}

/// The metrics of a study.
#[must_use]
pub fn about(study: &Study) -> Vec<About> {
    study
        .metric
        .iter()
        .map(|(name, metric)| About {
            name: name.clone(),
            title: metric.shown(),
            unit: metric.unit(),
            definition: metric.definition(),
        })
        .collect()
}

/// `results.json` of a study.
#[must_use]
pub fn document<'a>(
    study: &'a Study,
    results: &'a Results,
    rows: &'a [Row],
    quick: bool,
) -> Document<'a> {
    let points = results.points.iter().map(|keyed| {
        let outcome = results.outcome(keyed);
        Line {
            point: keyed.point.number,
            sweep: &keyed.point.sweep,
            key: &keyed.key,
            at: &keyed.point.coordinates,
            run: keyed.point.run,
            settings: keyed.point.shown_settings(),
            fault: outcome.and_then(|outcome| outcome.fault.as_deref()),
            metrics: outcome
                .and_then(|outcome| serde_json::to_value(&outcome.metrics).ok())
                .unwrap_or_default(),
        }
    });
    let used = profiles::used(results);
    Document {
        schema: SCHEMA,
        npsim: env!("CARGO_PKG_VERSION"),
        study: &study.name,
        title: &study.title,
        quick,
        rows,
        reproduced: Counts::of(rows),
        chosen: study.chosen.iter().map(Chosen::shown).collect(),
        tables: grids(study, results),
        profile: profiles::shown(&used),
        one_profile: profiles::is_one(&used),
        profiles: used,
        metrics: about(study),
        points: points.collect(),
    }
}

/// `rows.csv`.
#[must_use]
pub(crate) fn rows_csv(rows: &[Row]) -> String {
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
    let exact = |figure: &Figure| match figure {
        Figure::Number(number) => number.to_string(),
        Figure::Words(words) => words.clone(),
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
    for keyed in &results.points {
        let Some(sweep) = study.sweep.get(&keyed.point.sweep) else {
            continue;
        };
        let mut place = vec![keyed.point.sweep.clone(), keyed.point.number.to_string()];
        for number in 0..axes {
            match keyed.point.coordinates.get(number) {
                Some(c) => place.extend([c.axis.clone(), c.label.clone(), c.x.to_string()]),
                None => place.extend([String::new(), String::new(), String::new()]),
            }
        }
        for (name, metric) in study.metrics_of(sweep) {
            let (value, why) = match reading(results, keyed, name) {
                Ok(value) => (value.to_string(), String::new()),
                Err(why) => (String::new(), why),
            };
            let run = keyed.point.run.to_string();
            let rest = [name.to_owned(), metric.unit().to_owned(), value, why, run];
            text += &line(place.iter().cloned().chain(rest));
        }
    }
    text
}

/// A line of CSV (RFC 4180).
pub(crate) fn line(fields: impl IntoIterator<Item = String>) -> String {
    let quoted: Vec<_> = fields
        .into_iter()
        .map(|field| {
            if field.contains([',', '"', '\n', '\r']) {
                format!("\"{}\"", field.replace('"', "\"\""))
            } else {
                field
            }
        })
        .collect();
    quoted.join(",") + "\n"
}

#[cfg(test)]
mod tests {
    use super::{line, shown};

    #[test]
    fn numbers_have_the_digits_that_say_something() {
        for (number, text) in [
            (4.0, "4"),
            (3.9375, "3.938"),
            (12.2, "12.2"),
            (123.456, "123.5"),
            (15000.4, "15000"),
            (0.0123, "0.0123"),
            (-0.5, "-0.5"),
            (0.0, "0"),
        ] {
            assert_eq!(shown(number), text);
        }
    }

    #[test]
    fn commas_and_quotes_are_kept() {
        let fields = ["a", "b,c", "d\"e"].map(String::from);
        assert_eq!(line(fields), "a,\"b,c\",\"d\"\"e\"\n");
    }
}
