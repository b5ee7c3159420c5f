//! Studies as they are typed: which systems run under which loads, what is
//! measured, and what was published about it.
//!
//! `docs/src/experiments.md` describes the file. [`Study::parse`] reads it and
//! checks that every name in it means something.

mod checking;
mod chosen;
pub(crate) mod windows;

pub use checking::place_of;
pub use chosen::{Chosen, ChosenShown};

use std::collections::BTreeMap;
use std::path::Path;

use npsim_project::files::{Disk, Files as _};
use npsim_project::misfit;
use npsim_project::problem::Problem;
use serde::{Deserialize, Serialize};

use crate::derived::Derived;
use crate::expression::{Measured, Shape};
use crate::metric::Metric;
use crate::tolerance::Tolerance;

/// The kind of file, for mistakes.
const KIND: misfit::Kind<'_> = misfit::Kind {
    noun: "study's",
    forms: &[(
        &[
            "warm_up",
            "warm_up_most",
            "measure",
            "every",
            "delta",
            "rtt",
        ],
        "a time in quotes, such as \"500us\"",
    )],
};

/// A study or a sweep.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// Its name; the folder of its results.
    pub name: String,
    /// One line.
    pub title: String,
    /// What it asks and how, in paragraphs.
    #[serde(default)]
    pub about: String,
    /// When points are measured.
    #[serde(default)]
    pub window: WindowText,
    /// The same for a quick run.
    pub quick: Option<WindowText>,
    /// How often points are run whose sweep asks for it.
    #[serde(default)]
    pub replication: Replication,
    /// What is measured, by name.
    pub metric: BTreeMap<String, Metric>,
    /// What is run, by name.
    pub sweep: BTreeMap<String, Sweep>,
    /// Curves that are computed from measured ones, by name.
    #[serde(default)]
    pub curve: BTreeMap<String, Derived>,
    /// Tables in their order.
    #[serde(default)]
    pub table: Vec<Table>,
    /// Figures in their order.
    #[serde(default)]
    pub figure: Vec<Figure>,
    /// Published values and shapes in their order.
    #[serde(default)]
    pub published: Vec<Published>,
    /// Constants that were chosen with published values in view.
    #[serde(default)]
    pub chosen: Vec<Chosen>,
}

/// When a point is measured.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindowText {
    /// Time before anything is counted, such as `500us`, or `detected`; none if left
    /// out.
    pub warm_up: Option<String>,
    /// Of a warm-up that is detected: the longest that it may be.
    pub warm_up_most: Option<String>,
    /// Time during which is counted; until the traffic is handled if left out.
    pub measure: Option<String>,
}

/// How often a point is run, with other seeds and other moments at which frames begin
/// to come, so that a mean has an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replication {
    /// How often.
    pub runs: usize,
    /// In a quick run; once if left out.
    #[serde(default = "once")]
    pub quick: usize,
}

const fn once() -> usize {
    1
}

impl Default for Replication {
    fn default() -> Self {
        Self { runs: 1, quick: 1 }
    }
}

/// The places of a sweep whose points are run several times.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(
    untagged,
    expecting = "a list of places on the first axis, or `true` for all"
)]
pub enum Replicated {
    /// All of them, or none.
    All(bool),
    /// Those at these places of the first axis.
    At(Vec<f64>),
}

impl WindowText {
    /// Whether the warm-up is what the run shows it to be.
    #[must_use]
    pub fn is_detected(&self) -> bool {
        self.warm_up.as_deref() == Some(DETECTED)
    }
}

/// The word for a warm-up that is not given.
pub(crate) const DETECTED: &str = "detected";

/// A system and its axes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    /// For people; its name if left out.
    pub title: Option<String>,
    /// The project: file, folder or source, below the study's folder or the root.
    #[serde(default)]
    pub system: String,
    /// Instead of a system: the Petri net of a router; settings are its parameters.
    #[serde(default)]
    pub net: bool,
    /// Instead of a system: the fluid model of XCP; settings are its parameters.
    #[serde(default)]
    pub fluid: bool,
    /// Instead of a system: a network file, found as systems are; settings are its keys.
    #[serde(default)]
    pub network: String,
    /// Settings over the project, as for `npsim run --set`.
    #[serde(default)]
    pub set: BTreeMap<String, SettingValue>,
    /// A capture as traffic, instead of the project's load.
    pub trace: Option<TraceText>,
    /// When its points are measured, if not as the study's.
    pub window: Option<WindowText>,
    /// The same for a quick run; as in `window` if left out.
    pub quick: Option<WindowText>,
    /// Begins the microengines' pseudo-random numbers.
    pub seed: Option<u64>,
    /// Checks that do not stop a run.
    #[serde(default)]
    pub allow: Vec<String>,
    /// What is another chip in it, where that is what it asks: its points are not those
    /// of the chip that all others run on.
    pub other_chip: Option<String>,
    /// Names of metrics; all of them if left out.
    #[serde(default)]
    pub metrics: Vec<String>,
    /// Which points are run as often as the study's `replication` says; none if left out.
    pub replicate: Option<Replicated>,
    /// What changes from point to point; the first one is the abscissa.
    #[serde(default)]
    pub axis: Vec<Axis>,
}

/// A capture and how it is played.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceText {
    /// The capture, below the study's folder or the root.
    pub file: String,
    /// As for `npsim run --pace`.
    pub pace: Option<String>,
    /// As for `npsim run --ports`.
    pub ports: Option<String>,
}

/// The value of a setting, as TOML lets it be typed.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(untagged, expecting = "a string, a number or a boolean")]
pub enum SettingValue {
    /// `true`.
    Bool(bool),
    /// `4`.
    Integer(i64),
    /// `0.33`.
    Float(f64),
    /// `"4-7"`.
    Text(String),
}

impl SettingValue {
    /// As `--set` gets it.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Bool(value) => value.to_string(),
            Self::Integer(value) => value.to_string(),
            Self::Float(value) => value.to_string(),
            Self::Text(value) => value.clone(),
        }
    }
}

/// What changes from point to point.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Axis {
    /// Its name in tables and in `where`; the key if left out.
    pub name: Option<String>,
    /// Its label in figures; its name if left out.
    pub label: Option<String>,
    /// Its unit.
    #[serde(default)]
    pub unit: String,
    /// The setting whose values are taken in turn.
    pub key: Option<String>,
    /// Its values.
    #[serde(default)]
    pub values: Vec<SettingValue>,
    /// Where the values lie on the axis; their own leading numbers if left out.
    #[serde(default)]
    pub x: Vec<f64>,
    /// Instead of `key` and `values`: several settings at once.
    #[serde(default)]
    pub step: Vec<Step>,
    /// Instead of `key` and `values`, of networks and the fluid model: windows of this length, one after the
    /// other; those of a network are measured in one run.
    pub every: Option<String>,
    /// Where the first of these windows begins; at 0 if left out.
    pub from: Option<String>,
    /// Where the last of these windows ends.
    pub until: Option<String>,
    /// The places that a quick run takes; all of them if left out.
    #[serde(default)]
    pub quick: Vec<f64>,
}

/// Settings that change together.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Step {
    /// Where it lies on the axis.
    pub x: f64,
    /// Its name; the number if left out.
    pub label: Option<String>,
    /// Its settings.
    pub set: BTreeMap<String, SettingValue>,
}

/// What a sweep runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Microcode on a chip.
    Chip,
    /// The Petri net of a router.
    Net,
    /// The fluid model of XCP.
    Fluid,
    /// A network of hosts.
    Network,
}

impl Kind {
    /// Whether its points are measured in windows of any place: it is no chip's.
    #[must_use]
    pub(crate) const fn has_windows(self) -> bool {
        matches!(self, Self::Fluid | Self::Network)
    }
}

/// How sure a published value is.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Evidence {
    /// Stated in the text or a table.
    Text,
    /// Read off a figure.
    Curve,
    /// Computed from what is stated.
    Derived,
}

impl Evidence {
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
    /// Its number in the list of published values; several may share one.
    pub id: String,
    /// What it is, in words.
    pub what: String,
    /// Its unit.
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
    pub evidence: Evidence,
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
    /// Its files' name without ending.
    pub name: String,
    /// Its title.
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
    pub cell: Vec<Cell>,
}

/// A cell of a table.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(
    untagged,
    expecting = "a text, { id = \"H-30\", nth = 0 } for a published value, or { measured = ... }"
)]
pub enum Cell {
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
pub struct Figure {
    /// Its file's name without ending.
    pub name: String,
    /// Its title.
    pub title: String,
    /// The abscissa.
    #[serde(default)]
    pub x: Scale,
    /// The ordinate.
    #[serde(default)]
    pub y: Scale,
    /// What is drawn.
    pub curve: Vec<Curve>,
    /// Published values that are marked.
    #[serde(default)]
    pub mark: Vec<Mark>,
    /// Whether the line y = x is drawn.
    #[serde(default)]
    pub diagonal: bool,
}

/// A scale of a figure.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Scale {
    /// What it shows; taken from the first curve if left out.
    pub label: Option<String>,
    /// Its begin; 0 if left out.
    pub from: Option<f64>,
    /// Its end; what the curves need if left out, or if they need more.
    pub to: Option<f64>,
}

/// A curve of a figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Curve {
    /// `SWEEP.METRIC`.
    pub of: String,
    /// Values of the other axes.
    #[serde(default, rename = "where")]
    pub at: BTreeMap<String, SettingValue>,
    /// Its name in the legend; the sweep's title if left out.
    pub label: Option<String>,
}

/// A published value in a figure.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Mark {
    /// Which one.
    pub id: String,
    /// Where on the abscissa.
    pub x: f64,
    /// Which of those that share the id, from 0.
    #[serde(default)]
    pub nth: usize,
}

impl Study {
    /// How often a sweep's points at a place of its first axis are run.
    #[must_use]
    pub fn runs(&self, sweep: &Sweep, x: f64, quick: bool) -> usize {
        let several = match &sweep.replicate {
            None => false,
            Some(Replicated::All(all)) => *all,
            Some(Replicated::At(places)) => places.iter().any(|&place| same_place(place, x)),
        };
        match (several, quick) {
            (false, _) => 1,
            (true, false) => self.replication.runs,
            (true, true) => self.replication.quick,
        }
    }

    /// Reads the text of a study; `path` is how it is shown in messages.
    ///
    /// # Errors
    /// It is no TOML, has keys that no study has, or names what is not there.
    pub fn parse(path: &str, text: &str) -> Result<Self, Problem> {
        let study: Self = toml::from_str(text)
            .map_err(|error| misfit::problem(&error, KIND, path, &text.into()))?;
        checking::check(&study).map_err(|problem| Problem {
            message: format!("{path}: {}", problem.message),
            ..problem
        })?;
        Ok(study)
    }

    /// Reads a study's file.
    ///
    /// # Errors
    /// It cannot be read, or as in [`Study::parse`].
    pub fn load(path: &Path) -> Result<Self, Problem> {
        let bytes = Disk
            .read(path)
            .map_err(|error| Problem::io("read", path, &error))?;
        let text = String::from_utf8(bytes)
            .map_err(|_| Problem::new(format!("`{}` is not text", path.display())))?;
        Self::parse(&path.display().to_string(), &text)
    }

    /// The metrics that a sweep measures, by name.
    #[must_use]
    pub(crate) fn metrics_of(&self, sweep: &Sweep) -> BTreeMap<&str, &Metric> {
        self.metric
            .iter()
            .filter(|(name, _)| sweep.metrics.is_empty() || sweep.metrics.contains(name))
            .map(|(name, metric)| (name.as_str(), metric))
            .collect()
    }
}

impl Sweep {
    /// All keys that it sets, of the sweep and of its axes.
    pub fn keys(&self) -> impl Iterator<Item = &String> {
        let of_axes = self.axis.iter().flat_map(|axis| {
            let steps = axis.step.iter().flat_map(|step| step.set.keys());
            axis.key.iter().chain(steps)
        });
        self.set.keys().chain(of_axes)
    }

    /// What it runs.
    #[must_use]
    pub fn kind(&self) -> Kind {
        if self.net {
            Kind::Net
        } else if self.fluid {
            Kind::Fluid
        } else if self.network.is_empty() {
            Kind::Chip
        } else {
            Kind::Network
        }
    }
}

impl Axis {
    /// Its name in tables.
    #[must_use]
    pub fn name(&self) -> &str {
        let other = if self.every.is_some() { "time" } else { "step" };
        let key = self.key.as_deref().unwrap_or(other);
        self.name.as_deref().unwrap_or(key)
    }

    /// Its label in figures, with the unit.
    #[must_use]
    pub fn shown(&self) -> String {
        let label = self.label.as_deref().unwrap_or_else(|| self.name());
        if self.unit.is_empty() {
            label.to_owned()
        } else {
            format!("{label} [{}]", self.unit)
        }
    }

    /// Its places: where they lie, what they are called, what they set.
    #[must_use]
    pub fn places(&self) -> Vec<Place> {
        if self.every.is_some() {
            return windows::of_axis(self).unwrap_or_default();
        }
        if !self.step.is_empty() {
            let steps = self.step.iter().map(|step| Place {
                x: step.x,
                label: step.label.clone().unwrap_or_else(|| step.x.to_string()),
                set: step
                    .set
                    .iter()
                    .map(|(key, value)| (key.clone(), value.text()))
                    .collect(),
            });
            return steps.collect();
        }
        let places = self.values.iter().enumerate().map(|(at, value)| {
            let text = value.text();
            Place {
                x: self
                    .x
                    .get(at)
                    .copied()
                    .or_else(|| leading_number(&text))
                    .unwrap_or(at as f64),
                set: self
                    .key
                    .iter()
                    .map(|key| (key.clone(), text.clone()))
                    .collect(),
                label: text,
            }
        });
        places.collect()
    }
}

/// One place of an axis.
#[derive(Clone, Debug, PartialEq)]
pub struct Place {
    /// Where it lies.
    pub x: f64,
    /// What it is called.
    pub label: String,
    /// What it sets, by path.
    pub set: Vec<(String, String)>,
}

/// The number that a text begins with, as `1.5` in `1.5Mpps`.
fn leading_number(text: &str) -> Option<f64> {
    let digits = text.strip_prefix('-').unwrap_or(text);
    let length = digits
        .find(|c: char| !(c.is_ascii_digit() || c == '.'))
        .unwrap_or(digits.len());
    text[..text.len() - digits.len() + length].parse().ok()
}

/// Whether two places of an axis are the same, whatever digits were typed.
#[must_use]
pub(crate) fn same_place(one: f64, other: f64) -> bool {
    (one - other).abs() <= 1e-9 * one.abs().max(other.abs()).max(1.0)
}
