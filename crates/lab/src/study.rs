//! Studies as they are typed: which systems run under which loads, what is
//! measured, and what was published about it.
//!
//! `docs/src/experiments.md` describes the file. [`Study::parse`] reads it and
//! `checking` that every name in it means something.

mod axis;
mod chosen;
mod published;

pub use crate::setting_value::SettingValue;
pub use axis::{Axis, AxisLevel, AxisStep};
pub use chosen::{ChosenShown, ModelChoice};
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

/// A study or a sweep.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Study {
    /// The name; the folder of its results.
    pub name: String,
    /// One line.
    pub title: String,
    /// What it asks and how, in paragraphs.
    #[serde(default)]
    pub about: String,
    /// The chips that it is about, by name, with the fingerprints of their numbers as they were when
    /// it was made; the chips that come with npsim if left out.
    #[serde(default)]
    pub chips: BTreeMap<String, String>,
    /// When points are measured.
    #[serde(default)]
    pub window: WindowText,
    /// When points of a quick run are measured.
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
    pub figure: Vec<PublishedFigure>,
    /// Published values and shapes in their order.
    #[serde(default)]
    pub published: Vec<Published>,
    /// Constants that were chosen with published values in view.
    #[serde(default)]
    pub chosen: Vec<ModelChoice>,
    /// Settings over those of its points, which make it another study than it was: `KEY` and `VALUE`.
    #[serde(skip)]
    pub overrides: Vec<(String, String)>,
    /// Systems in the places of its own, which make it another study than it was: its own, and the other.
    #[serde(skip)]
    pub replaced: Vec<(String, String)>,
}

impl Study {
    /// Runs other systems wherever the study has one of its own: its own, and the other.
    ///
    /// # Errors
    /// No sweep has that system, or it is replaced twice.
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

    /// What makes it another study than it was, as it was given: `KEY=VALUE`, or `SYSTEM=OTHER`.
    pub fn changes(&self) -> impl Iterator<Item = String> {
        let all = self.replaced.iter().chain(&self.overrides);
        all.map(|(key, value)| format!("{key}={value}"))
    }
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
    /// All points, or none.
    All(bool),
    /// The points at these places of the first axis.
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
    /// When its points of a quick run are measured; as in `window` if left out.
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
    /// Why a point that is run once says enough, where no other points of the study show how far
    /// runs lie apart.
    pub single: Option<String>,
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

/// First parts of the keys of network files.
const NETWORK_KEYS: [&str; 9] = [
    "name", "until", "from", "scale", "host", "switch", "router", "link", "flow",
];

impl SubjectKind {
    /// Whether a setting over all points of a study can be one of these.
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
            // The parameters of models are names without dots.
            Self::Chip => !NETWORK_KEYS.contains(&first) && key.contains('.'),
            Self::PetriNet | Self::Fluid => !NETWORK_KEYS.contains(&first) && !key.contains('.'),
        }
    }

    /// Whether its points are measured in windows of any place: it is no chip's.
    #[must_use]
    pub(crate) const fn has_windows(self) -> bool {
        matches!(self, Self::Fluid | Self::Network)
    }
}

impl Study {
    /// How often a sweep's points at a place of its first axis are run.
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

    /// The windows that hold for a sweep, the one that is asked first in front: a sweep's own before
    /// the study's, and a quick run's before the whole one's.
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

    /// When the points of a sweep begin and end to be measured, in picoseconds, where that is given
    /// in time and not detected: of networks and the fluid model.
    ///
    /// # Errors
    /// The warm-up is to be detected, or a time has no unit.
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
