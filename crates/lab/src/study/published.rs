//! What was published, and the tables and figures that show it beside what was measured.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::expression::{Measured, Shape};
use crate::setting_value::SettingValue;
use crate::tolerance::Tolerance;

/// How sure a published value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// Stated in the text or a table.
    Text,
    /// Read off a figure.
    Curve,
    /// Computed from what is stated.
    Derived,
}

impl Confidence {
    /// The word in files.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Curve => "curve",
            Self::Derived => "derived",
        }
    }
}

/// A published value or shape, and how to measure the same.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// The number in the list of published values; several may share one.
    pub id: String,
    /// What it is, in words.
    pub what: String,
    /// The unit.
    #[serde(default)]
    pub unit: String,
    /// The value.
    pub value: Option<f64>,
    /// How far off is a hit: `5%`, or a number in the unit.
    pub tolerance: Option<Tolerance>,
    /// Instead of a value: what is published as a lower bound.
    pub at_least: Option<f64>,
    /// Instead of a value: what is published as an upper bound.
    pub at_most: Option<f64>,
    /// What the source says, in few words.
    pub stated: Option<String>,
    /// Where it is published.
    pub source: String,
    /// How sure it is.
    pub evidence: Confidence,
    /// The parameter that was fitted to this value, if one was.
    pub calibrated: Option<String>,
    /// Why it cannot fail, if it cannot: it is shown and not counted.
    pub arithmetic: Option<String>,
    /// The measured counterpart of the value or bound.
    pub measured: Option<Measured>,
    /// The shape that curves must have.
    pub shape: Option<Shape>,
}

/// A table of measured values beside published ones.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Table {
    /// The files' name without ending.
    pub name: String,
    /// The title.
    pub title: String,
    /// The unit of its cells.
    #[serde(default)]
    pub unit: String,
    /// What stands above the labels of the rows.
    #[serde(default)]
    pub corner: String,
    /// What stands above each column.
    pub columns: Vec<String>,
    /// The rows.
    pub row: Vec<TableRow>,
    /// What is to be said below it.
    #[serde(default)]
    pub note: String,
}

/// A row of a table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableRow {
    /// What it is about.
    pub label: String,
    /// One cell a column.
    pub cell: Vec<PublishedCell>,
}

/// A cell of a table.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(
    untagged,
    expecting = "a text, { id = \"H-30\", nth = 0 } for a published value, or { measured = ... }"
)]
pub enum PublishedCell {
    /// A text.
    Text(String),
    /// A value that was published, and what was measured of it.
    Published {
        /// Which one.
        id: String,
        /// Which of those that share the id, from 0.
        #[serde(default)]
        nth: usize,
    },
    /// A value that was measured only.
    Measured {
        /// Which one.
        measured: Measured,
    },
}

/// A figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedFigure {
    /// The file's name without ending.
    pub name: String,
    /// The title.
    pub title: String,
    /// The abscissa.
    #[serde(default)]
    pub x: FigureScale,
    /// The ordinate.
    #[serde(default)]
    pub y: FigureScale,
    /// What is drawn.
    pub curve: Vec<PublishedCurve>,
    /// Published values that are marked.
    #[serde(default)]
    pub mark: Vec<PublishedMark>,
    /// Whether the line y = x is drawn.
    #[serde(default)]
    pub diagonal: bool,
}

/// A scale of a figure.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FigureScale {
    /// What it shows; taken from the first curve if left out.
    pub label: Option<String>,
    /// The begin; 0 if left out.
    pub from: Option<f64>,
    /// The end; what the curves need if left out, or if they need more.
    pub to: Option<f64>,
}

/// A curve of a figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedCurve {
    /// `SWEEP.METRIC`.
    pub of: String,
    /// Values of the other axes.
    #[serde(default, rename = "where")]
    pub at: BTreeMap<String, SettingValue>,
    /// The name in the legend; the sweep's title if left out.
    pub label: Option<String>,
}

/// A published value in a figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedMark {
    /// Which one.
    pub id: String,
    /// Where on the abscissa.
    pub x: f64,
    /// Which of those that share the id, from 0.
    #[serde(default)]
    pub nth: usize,
}
