//! Published values, and the tables and figures that show them beside measured ones.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::expression::{Measured, Shape};
use crate::setting_value::SettingValue;
use crate::tolerance::Tolerance;

/// How reliable a published value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Confidence {
    /// Stated in the text or a table.
    Text,
    /// Read off a figure.
    Curve,
    /// Computed from stated values.
    Derived,
}

impl Confidence {
    /// The name in studies.
    #[must_use]
    pub const fn name(self) -> &'static str {
        match self {
            Self::Text => "text",
            Self::Curve => "curve",
            Self::Derived => "derived",
        }
    }
}

/// A published value or shape, and how to measure its counterpart.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Published {
    /// The id in the list of published values; several rows may share one.
    pub id: String,
    /// A description.
    pub what: String,
    /// The unit.
    #[serde(default)]
    pub unit: String,
    /// The value.
    pub value: Option<f64>,
    /// The tolerance for a hit: `5%`, or a number in the unit.
    pub tolerance: Option<Tolerance>,
    /// A published lower bound, instead of a value.
    pub at_least: Option<f64>,
    /// A published upper bound, instead of a value.
    pub at_most: Option<f64>,
    /// The source's statement, in few words.
    pub stated: Option<String>,
    /// The publication and the place in it.
    pub source: String,
    /// How reliable it is.
    pub evidence: Confidence,
    /// The parameter that was fitted to this value, if any.
    pub calibrated: Option<String>,
    /// Why it cannot fail, if so; it is then shown but not counted.
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
    /// The file name, without extension.
    pub name: String,
    /// The title.
    pub title: String,
    /// The unit of its cells.
    #[serde(default)]
    pub unit: String,
    /// The heading of the column of row labels.
    #[serde(default)]
    pub corner: String,
    /// The column headings.
    pub columns: Vec<String>,
    /// The rows.
    pub row: Vec<TableRow>,
    /// The note below the table.
    #[serde(default)]
    pub note: String,
}

/// A row of a table.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TableRow {
    /// The row's label.
    pub label: String,
    /// One cell per column.
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
    /// A published value and its measured counterpart.
    Published {
        /// The id of the value.
        id: String,
        /// Its index among the values that share the id, from 0.
        #[serde(default)]
        nth: usize,
    },
    /// A value that was only measured.
    Measured {
        /// How it is computed.
        measured: Measured,
    },
}

/// A figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedFigure {
    /// The file name, without extension.
    pub name: String,
    /// The title.
    pub title: String,
    /// The abscissa.
    #[serde(default)]
    pub x: FigureScale,
    /// The ordinate.
    #[serde(default)]
    pub y: FigureScale,
    /// The curves.
    pub curve: Vec<PublishedCurve>,
    /// Published values to mark.
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
    /// The label; taken from the first curve if absent.
    pub label: Option<String>,
    /// The beginning; 0 if absent.
    pub from: Option<f64>,
    /// The end; extended to fit the curves if absent or too small.
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
    /// The name in the legend; the sweep's title if absent.
    pub label: Option<String>,
}

/// A published value marked in a figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PublishedMark {
    /// The id of the value.
    pub id: String,
    /// Its position on the abscissa.
    pub x: f64,
    /// Its index among the values that share the id, from 0.
    #[serde(default)]
    pub nth: usize,
}
