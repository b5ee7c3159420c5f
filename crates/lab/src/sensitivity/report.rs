//! The report of a sensitivity analysis: the range of each row and what drives it, and
//! which claims hold under all variations.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use npsim_project::atomic_file::write_atomically;
use npsim_project::problem::Problem;
use npsim_report::chart::tornado::{Bar, Tornado};
use serde::Serialize;

use crate::class::RowClass;
use crate::evaluate::is_figure;
use crate::format::{line, shown, shown_figure};
use crate::sensitivity::knobs::{Knob, KnobChange};
use crate::study::Study;
use crate::verdict::{Comparison, FigureValue, Verdict};

/// Name of the format of `sensitivity.json`.
const SCHEMA: &str = "npsim-sensitivity-1";

/// Maximum number of rows in the figure; those that vary most are shown.
const MAX_BARS: usize = 40;

/// The unmodified study and the knobs that are varied.
pub(super) struct Base<'a> {
    pub study: &'a Study,
    pub quick: bool,
    pub knobs: &'a [Knob],
    pub rows: Vec<Comparison>,
    pub refused: Vec<String>,
}

/// An extreme value and its cause.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Extreme {
    /// The value, in the row's unit.
    pub value: f64,
    /// The knob that was moved, and to what; empty if no move went beyond the base
    /// value.
    pub by: String,
}

/// The range of a row.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct RowRange {
    /// The row's id.
    pub id: String,
    /// Its description.
    pub what: String,
    /// Its unit.
    pub unit: String,
    /// Its class.
    pub class: RowClass,
    /// The published value.
    pub published: FigureValue,
    /// The measured value with nothing moved.
    pub measured: Option<FigureValue>,
    /// The verdict with nothing moved.
    pub verdict: Verdict,
    /// The lowest and the highest value with one knob moved; only for rows with a
    /// number.
    pub alone: Option<[Extreme; 2]>,
    /// The lowest and the highest value in the samples.
    pub together: Option<[f64; 2]>,
    /// Moves that change the verdict on their own.
    pub turned_by: Vec<String>,
    /// The number of samples with a different verdict.
    pub turned_together: usize,
    /// The lowest and the highest value that count as reproduced, in the row's unit.
    #[serde(skip)]
    accepted: [Option<f64>; 2],
}

impl RowRange {
    fn new(row: &Comparison) -> Self {
        let measured = number(row);
        let still = |value| Extreme {
            value,
            by: String::new(),
        };
        Self {
            id: row.id.clone(),
            what: row.what.clone(),
            unit: row.unit.clone(),
            class: row.class,
            published: row.published.clone(),
            measured: row.measured.clone(),
            verdict: row.verdict,
            alone: measured.map(|value| [still(value), still(value)]),
            together: None,
            turned_by: Vec::new(),
            turned_together: 0,
            accepted: row.accepted,
        }
    }

    /// Whether it is reproduced under all variations.
    #[must_use]
    pub fn is_robust(&self) -> bool {
        self.verdict.is_hit() && self.turned_by.is_empty() && self.turned_together == 0
    }

    fn percent(&self, value: f64) -> Option<f64> {
        let base = match self.measured {
            Some(FigureValue::Number(base)) if is_figure(value - base, base) => base,
            _ => return None,
        };
        Some((value - base) * 100.0 / base.abs())
    }
}

/// The complete analysis.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct SensitivityReport {
    /// Name of the format.
    pub schema: &'static str,
    /// Version of npsim.
    pub npsim: &'static str,
    /// The study's name.
    pub study: String,
    /// The study's title.
    pub title: String,
    /// Whether it was a quick run.
    pub quick: bool,
    /// The knobs that were varied.
    pub knobs: Vec<Knob>,
    /// The number of samples with all knobs moved together.
    pub samples: usize,
    /// The ranges of the rows.
    pub rows: Vec<RowRange>,
    /// Moves that no chip allows, with the reasons.
    pub refused: Vec<String>,
    /// Faults that stopped runs, with their messages.
    pub faults: Vec<String>,
}

impl SensitivityReport {
    pub(super) fn new(base: Base<'_>) -> Self {
        Self {
            schema: SCHEMA,
            npsim: env!("CARGO_PKG_VERSION"),
            study: base.study.name.clone(),
            title: base.study.title.clone(),
            quick: base.quick,
            knobs: base.knobs.to_vec(),
            samples: 0,
            rows: base.rows.iter().map(RowRange::new).collect(),
            refused: base.refused,
            faults: Vec::new(),
        }
    }

    /// Adds the rows evaluated with one knob moved.
    pub(super) fn alone(&mut self, knob: &Knob, to: &KnobChange, rows: &[Comparison]) {
        let by = format!("{} {}", knob.name, knob.moved(to));
        for (range, row) in self.rows.iter_mut().zip(rows) {
            if row.verdict != range.verdict {
                range.turned_by.push(by.clone());
            }
            let (Some(value), Some([low, high])) = (number(row), &mut range.alone) else {
                continue;
            };
            let reached = Extreme {
                value,
                by: by.clone(),
            };
            if value < low.value {
                *low = reached;
            } else if value > high.value {
                *high = reached;
            }
        }
    }

    /// Adds the rows of one sample, with all knobs moved.
    pub(super) fn together(&mut self, rows: &[Comparison]) {
        self.samples += 1;
        for (range, row) in self.rows.iter_mut().zip(rows) {
            range.turned_together += usize::from(row.verdict != range.verdict);
            if let Some(value) = number(row) {
                let [low, high] = range.together.unwrap_or([value, value]);
                range.together = Some([low.min(value), high.max(value)]);
            }
        }
    }

    fn counted(&self) -> impl Iterator<Item = &RowRange> {
        let not = [RowClass::Arithmetic, RowClass::OwnCheck];
        self.rows
            .iter()
            .filter(move |row| !not.contains(&row.class))
    }

    /// The summary: `31 of 60 rows are reproduced; ...`, and how many of them remain so
    /// under the variations.
    #[must_use]
    pub fn summary(&self) -> String {
        let rows = self.counted().count();
        let hits = self.counted().filter(|row| row.verdict.is_hit()).count();
        let surviving = self.counted().filter(|row| row.is_robust()).count();
        let alone = self
            .counted()
            .filter(|row| row.verdict.is_hit() && row.turned_by.is_empty())
            .count();
        let mut text = format!(
            "{hits} of {rows} rows are reproduced; {alone} of them also with any one of {} things moved",
            self.knobs.len()
        );
        if self.samples > 0 {
            text = format!(
                "{text}, {surviving} also with all of them moved in {} samples",
                self.samples
            );
        }
        text
    }

    /// The table, in Markdown, for a terminal or a documentation page.
    #[must_use]
    pub fn markdown(&self) -> String {
        let mut text = format!(
            "{}.\n\n| id | what | here | one at a time | driven by | all together | reproduced |\n| --- | --- | ---: | ---: | --- | ---: | --- |\n",
            self.summary()
        );
        for row in self.counted() {
            let here = row.measured.as_ref().map_or("-".into(), shown_figure);
            let here = if row.alone.is_some() {
                format!("{here} {}", row.unit)
            } else {
                row.verdict.name().to_owned()
            };
            let span = |low: f64, high: f64| format!("{} to {}", shown(low), shown(high));
            let (alone, by) = match &row.alone {
                Some([low, high]) => {
                    let by: Vec<_> = [low, high]
                        .into_iter()
                        .filter(|extreme| !extreme.by.is_empty())
                        .map(|extreme| extreme.by.clone())
                        .collect();
                    (span(low.value, high.value), by.join("; "))
                }
                None => (String::new(), String::new()),
            };
            let together = row.together.map_or(String::new(), |[a, b]| span(a, b));
            let cells = [
                row.id.clone(),
                row.what.clone(),
                here.trim().to_owned(),
                alone,
                by,
                together,
                self.verdict_summary(row),
            ];
            let cells = cells.map(|cell| cell.replace('|', "\\|"));
            text = text + "| " + &cells.join(" | ") + " |\n";
        }
        text
    }

    /// Whether a row without a number holds, and what changes that.
    fn verdict_summary(&self, row: &RowRange) -> String {
        let always = if row.verdict.is_hit() {
            "always"
        } else {
            "never"
        };
        let now = row.verdict.name();
        let mut turned: Vec<String> = Vec::new();
        if !row.turned_by.is_empty() {
            let shown: Vec<_> = row.turned_by.iter().take(4).cloned().collect();
            let more = row.turned_by.len() - shown.len();
            let more = if more > 0 {
                format!(" and {more} more")
            } else {
                String::new()
            };
            turned.push(format!("{}{more}", shown.join(", ")));
        }
        if row.turned_together > 0 {
            turned.push(format!(
                "{} of {} samples",
                row.turned_together, self.samples
            ));
        }
        if turned.is_empty() {
            return always.to_owned();
        }
        format!("{now}; not with {}", turned.join("; "))
    }

    /// The tornado figure of the rows that have a number.
    #[must_use]
    pub fn tornado(&self) -> String {
        let mut bars: Vec<(f64, Bar)> = Vec::new();
        for row in self.counted() {
            let Some([low, high]) = &row.alone else {
                continue;
            };
            let (Some(left), Some(right)) = (row.percent(low.value), row.percent(high.value))
            else {
                continue;
            };
            let together = row
                .together
                .and_then(|[a, b]| row.percent(a).zip(row.percent(b)))
                .map(|(a, b)| [a, b]);
            bars.push((
                right - left,
                Bar {
                    label: shortened(&format!("{} {}", row.id, row.what)),
                    alone: [(left, low.by.clone()), (right, high.by.clone())],
                    together,
                    accepted: row.accepted.map(|bound| bound.and_then(|b| row.percent(b))),
                },
            ));
        }
        bars.sort_by(|a, b| b.0.total_cmp(&a.0));
        bars.truncate(MAX_BARS);
        Tornado {
            title: format!("{}: what moves by a fifth move its rows by", self.study),
            axis: "change in percent".into(),
            bars: bars.into_iter().map(|(_, bar)| bar).collect(),
        }
        .draw()
    }

    fn csv(&self) -> String {
        let head = [
            "id",
            "what",
            "unit",
            "class",
            "measured",
            "verdict",
            "low",
            "low_by",
            "high",
            "high_by",
            "low_together",
            "high_together",
            "turned_by",
            "turned_together",
        ];
        let mut text = line(head.map(str::to_owned));
        let number = |value: Option<f64>| value.map(|v| v.to_string()).unwrap_or_default();
        for row in &self.rows {
            let [low, high] = match &row.alone {
                Some([low, high]) => [Some(low), Some(high)],
                None => [None, None],
            };
            let by = |of: Option<&Extreme>| of.map(|e| e.by.clone()).unwrap_or_default();
            text += &line([
                row.id.clone(),
                row.what.clone(),
                row.unit.clone(),
                row.class.name().to_owned(),
                row.measured.as_ref().map(shown_figure).unwrap_or_default(),
                row.verdict.name().to_owned(),
                number(low.map(|e| e.value)),
                by(low),
                number(high.map(|e| e.value)),
                by(high),
                number(row.together.map(|[low, _]| low)),
                number(row.together.map(|[_, high]| high)),
                row.turned_by.join("; "),
                row.turned_together.to_string(),
            ]);
        }
        text
    }

    /// Writes `sensitivity.json`, `sensitivity.csv`, `sensitivity.md` and `tornado.svg`;
    /// returns the path of the table.
    ///
    /// # Errors
    /// Returns an error if a file cannot be written.
    pub fn write(&self, folder: &Path) -> Result<PathBuf, Problem> {
        let put = |name: &str, text: &str| {
            let path = folder.join(name);
            write_atomically(&path, text.as_bytes())
                .map_err(|error| Problem::io("write", &path, &error))
        };
        let json =
            serde_json::to_string_pretty(self).map_err(|error| Problem::new(error.to_string()))?;
        put("sensitivity.json", &(json + "\n"))?;
        put("sensitivity.csv", &self.csv())?;
        put("tornado.svg", &self.tornado())?;
        put("sensitivity.md", &self.markdown())?;
        Ok(folder.join("sensitivity.md"))
    }

    /// The distinct faults that stopped runs.
    #[must_use]
    pub fn distinct_faults(&self) -> BTreeSet<&str> {
        self.faults.iter().map(String::as_str).collect()
    }
}

fn number(row: &Comparison) -> Option<f64> {
    match row.measured {
        Some(FigureValue::Number(number)) => Some(number),
        _ => None,
    }
}

/// A label, cut to the available space.
fn shortened(text: &str) -> String {
    const ROOM: usize = 52;
    if text.chars().count() <= ROOM {
        return text.to_owned();
    }
    text.chars().take(ROOM - 1).collect::<String>() + "…"
}
