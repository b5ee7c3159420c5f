//! Studies as written in files: which systems run under which loads, what is measured, and what was
//! published about it.
//!
//! `docs/src/experiments.md` describes the file. [`Study::parse`] reads it, and `checking` verifies that
//! every name in it has a meaning.

mod axis;
mod chosen;
mod published;

pub use crate::setting_value::SettingValue;
pub use axis::{Axis, AxisLevel, AxisStep};
pub use chosen::{ChosenConstant, ModelChoice};
pub use published::{
    Confidence, FigureScale, Published, PublishedCell, PublishedCurve, PublishedFigure,
    PublishedMark, Table, TableRow,
};

use std::collections::{BTreeMap, BTreeSet};

use npsim_project::problem::Problem;
use serde::Deserialize;

use crate::expression::Derived;
use crate::metric::Metric;
use crate::rounding::close;
use crate::windows::{self, picoseconds};

/// A study.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// The name, also of the folder of its results.
    pub name: String,
    /// The title, one line.
    pub title: String,
    /// What it investigates and how, in paragraphs.
    #[serde(default)]
    pub about: String,
    /// The chips that it is about, by name, with the fingerprints of their parameters when it was made;
    /// the chips shipped with npsim if absent.
    #[serde(default)]
    pub chips: BTreeMap<String, String>,
    /// The measurement window of the points.
    #[serde(default)]
    pub window: WindowText,
    /// The measurement window in a quick run.
    pub quick: Option<WindowText>,
    /// The number of runs per point, for sweeps that request several.
    #[serde(default)]
    pub replication: Replication,
    /// The metrics, by name.
    pub metric: BTreeMap<String, Metric>,
    /// The sweeps, by name.
    pub sweep: BTreeMap<String, Sweep>,
    /// Curves computed from measured ones, by name.
    #[serde(default)]
    pub curve: BTreeMap<String, Derived>,
    /// Tables, in order.
    #[serde(default)]
    pub table: Vec<Table>,
    /// Figures, in order.
    #[serde(default)]
    pub figure: Vec<PublishedFigure>,
    /// Published values and shapes, in order.
    #[serde(default)]
    pub published: Vec<Published>,
    /// Constants that were chosen with published values in view.
    #[serde(default)]
    pub chosen: Vec<ModelChoice>,
    /// Settings that override those of its points and so change the study: `KEY` and `VALUE`.
    #[serde(skip)]
    pub overrides: Vec<(String, String)>,
    /// Systems used instead of its own, which also changes the study: its own and its replacement.
    #[serde(skip)]
    pub replaced: Vec<(String, String)>,
}

impl Study {
    /// Replaces systems throughout the study; each pair is the study's own system and its replacement.
    ///
    /// # Errors
    /// Returns an error if no sweep has such a system or if it is replaced twice.
    pub fn replace_systems(&mut self, replaced: &[(String, String)]) -> Result<(), Problem> {
        let systems: BTreeSet<_> = { self.sweep.values() }
            .map(|it| it.system.clone())
            .filter(|it| !it.is_empty())
            .collect();
        let mut others = BTreeMap::new();
        for (own, other) in replaced {
            if !systems.contains(own) {
                let problem = Problem::new(format!(
                    "no sweep of the study `{}` has the system `{own}`",
                    self.name
                ));
                let all = systems.into_iter().collect::<Vec<_>>().join(", ");
                return Err(problem.help(match all.as_str() {
                    "" => "it has no system: its sweeps are of networks".to_owned(),
                    all => format!("its systems are {all}"),
                }));
            }
            if others.insert(own.as_str(), other).is_some() {
                return Err(Problem::new(format!(
                    "the system `{own}` is replaced twice"
                )));
            }
        }
        for sweep in self.sweep.values_mut() {
            if let Some(other) = others.get(sweep.system.as_str()) {
                sweep.system.clone_from(other);
            }
        }
        self.replaced = replaced.to_vec();
        Ok(())
    }

    /// The changes to the study, as given by the user: `KEY=VALUE`, or `SYSTEM=OTHER`.
    pub fn changes(&self) -> impl Iterator<Item = String> {
        let all = self.replaced.iter().chain(&self.overrides);
        all.map(|(key, value)| format!("{key}={value}"))
    }
}

/// The measurement window of a point.
#[derive(Clone, Debug, Default, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct WindowText {
    /// Time before counting begins, such as `500us`, or `detected`; none if absent.
    pub warm_up: Option<String>,
    /// The longest permitted warm-up if it is detected.
    pub warm_up_most: Option<String>,
    /// Duration of the measurement; until the traffic is handled if absent.
    pub measure: Option<String>,
}

/// The number of runs of a point. They have other seeds and other moments at which frames begin to
/// arrive, so that a mean has an interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Replication {
    /// The number of runs.
    pub runs: usize,
    /// The number in a quick run; once if absent.
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
    /// All points, or none.
    All(bool),
    /// The points at these places of the first axis.
    At(Vec<f64>),
}

impl WindowText {
    /// Whether the warm-up is detected from the run.
    #[must_use]
    pub fn is_detected(&self) -> bool {
        self.warm_up.as_deref() == Some(DETECTED)
    }
}

/// The value of `warm_up` that requests detection.
pub(crate) const DETECTED: &str = "detected";

/// A system and the axes that it is run over.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sweep {
    /// The title in reports; its name if absent.
    pub title: Option<String>,
    /// The project: a file, folder or source, relative to the study's folder or the root.
    #[serde(default)]
    pub system: String,
    /// Whether to run the Petri net of a router instead of a system; settings are its parameters.
    #[serde(default)]
    pub net: bool,
    /// Whether to run the fluid model of XCP instead of a system; settings are its parameters.
    #[serde(default)]
    pub fluid: bool,
    /// A network file to run instead of a system, found as systems are; settings are its keys.
    #[serde(default)]
    pub network: String,
    /// Settings that override the project's, as for `npsim run --set`.
    #[serde(default)]
    pub set: BTreeMap<String, SettingValue>,
    /// A capture as traffic, instead of the project's load.
    pub trace: Option<TraceText>,
    /// The measurement window of its points, if it differs from the study's.
    pub window: Option<WindowText>,
    /// The measurement window in a quick run; as in `window` if absent.
    pub quick: Option<WindowText>,
    /// Seed of the microengines' pseudo-random numbers.
    pub seed: Option<u64>,
    /// Checks that do not stop a run.
    #[serde(default)]
    pub allow: Vec<String>,
    /// How its chip differs, if the sweep deliberately uses a chip other than the one that all other
    /// points run on.
    pub other_chip: Option<String>,
    /// Names of metrics; all if absent.
    #[serde(default)]
    pub metrics: Vec<String>,
    /// The points that run as often as the study's `replication` says; none if absent.
    pub replicate: Option<Replicated>,
    /// Why a single run of a point is enough, if no other points of the study show how much runs vary.
    pub single: Option<String>,
    /// What changes from point to point; the first axis is the abscissa.
    #[serde(default)]
    pub axis: Vec<Axis>,
}

/// A capture and how it is replayed.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TraceText {
    /// The capture, relative to the study's folder or the root.
    pub file: String,
    /// The pace, as for `npsim run --pace`.
    pub pace: Option<String>,
    /// The ports, as for `npsim run --ports`.
    pub ports: Option<String>,
}

/// What a sweep runs.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SubjectKind {
    /// Microcode on a chip.
    Chip,
    /// The Petri net of a router.
    PetriNet,
    /// The fluid model of XCP.
    Fluid,
    /// A network of hosts.
    Network,
}

/// First components of the keys of network files.
const NETWORK_KEYS: [&str; 9] = [
    "name", "until", "from", "scale", "host", "switch", "router", "link", "flow",
];

impl SubjectKind {
    /// Whether a setting applied to all points of a study can affect points of this kind.
    #[must_use]
    pub(crate) fn takes(self, key: &str) -> bool {
        let first = key.split('.').next().unwrap_or(key);
        match key {
            "seed" => return true,
            "hops" => return matches!(self, Self::Chip | Self::PetriNet),
            windows::KEY => return self.has_windows(),
            _ => {}
        }
        match self {
            Self::Network => NETWORK_KEYS.contains(&first),
            // Parameters of models are names without dots.
            Self::Chip => !NETWORK_KEYS.contains(&first) && key.contains('.'),
            Self::PetriNet | Self::Fluid => !NETWORK_KEYS.contains(&first) && !key.contains('.'),
        }
    }

    /// Whether its points are measured in arbitrary windows of time, unlike those of chips.
    #[must_use]
    pub(crate) const fn has_windows(self) -> bool {
        matches!(self, Self::Fluid | Self::Network)
    }
}

impl Study {
    /// The number of runs of a sweep's points at a place of its first axis.
    #[must_use]
    pub fn runs(&self, sweep: &Sweep, x: f64, quick: bool) -> usize {
        let several = match &sweep.replicate {
            None => false,
            Some(Replicated::All(all)) => *all,
            Some(Replicated::At(places)) => places.iter().any(|&place| close(place, x)),
        };
        match (several, quick) {
            (false, _) => 1,
            (true, false) => self.replication.runs,
            (true, true) => self.replication.quick,
        }
    }

    /// The windows that apply to a sweep, highest priority first: the sweep's own before the study's, and
    /// the quick run's before the full run's.
    pub(crate) fn windows<'a>(
        &'a self,
        sweep: &'a Sweep,
        quick: bool,
    ) -> impl Iterator<Item = &'a WindowText> + Clone {
        let windows = [
            sweep.quick.as_ref().filter(|_| quick),
            sweep.window.as_ref(),
            self.quick.as_ref().filter(|_| quick),
            Some(&self.window),
        ];
        windows.into_iter().flatten()
    }

    /// The beginning and the end of a sweep's measurement in picoseconds, for networks and the fluid
    /// model, which take times and detect no warm-up.
    ///
    /// # Errors
    /// Returns an error if the warm-up is to be detected or a time has no unit.
    pub(crate) fn time_window(
        &self,
        sweep: &Sweep,
        quick: bool,
    ) -> Result<(Option<u64>, Option<u64>), String> {
        let mut windows = self.windows(sweep, quick);
        if windows.clone().any(WindowText::is_detected) {
            return Err("the warm-up is given here, not detected".into());
        }
        let time = |text: &String| picoseconds(text);
        let from = windows.clone().find_map(|it| it.warm_up.as_ref());
        let from = from.map(time).transpose()?;
        let length = windows.find_map(|it| it.measure.as_ref());
        let length = length.map(time).transpose()?;
        Ok((
            from,
            length.map(|length| from.unwrap_or(0).saturating_add(length)),
        ))
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
    /// All keys set by the sweep and its axes.
    pub fn keys(&self) -> impl Iterator<Item = &String> {
        let of_axes = self.axis.iter().flat_map(|axis| {
            let steps = axis.step.iter().flat_map(|step| step.set.keys());
            axis.key.iter().chain(steps)
        });
        self.set.keys().chain(of_axes)
    }

    /// The kind of subject that it runs.
    #[must_use]
    pub fn kind(&self) -> SubjectKind {
        if self.net {
            SubjectKind::PetriNet
        } else if self.fluid {
            SubjectKind::Fluid
        } else if self.network.is_empty() {
            SubjectKind::Chip
        } else {
            SubjectKind::Network
        }
    }
}
