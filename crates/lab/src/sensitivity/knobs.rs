//! The knobs of a study: its chosen constants, and the assumed or calibrated parameters of its
//! chips.

use std::collections::{BTreeMap, BTreeSet};

use npsim_profile::{Foundation, ParameterValue, Profile};
use npsim_project::problem::{Problem, Problems};
use npsim_project::{Overrides, Project, Setting};
use serde::Serialize;

use crate::campaign::Campaign;
use crate::points::points;
use crate::rounding::close;
use crate::study::{ModelChoice, SettingValue, SubjectKind};

/// The share by which knobs are moved.
pub const RELATIVE_CHANGE: f64 = 0.2;

/// Parameters that are not varied: they define what the chip is rather than how fast it is, and
/// with other values the systems of a study would not fit on it.
const SHAPE: &[(&str, &str)] = &[
    ("sram", "channel_bytes"),
    ("dram", "channel_bytes"),
    ("dram", "banks"),
    ("dram", "refresh_banks"),
    ("dram", "bank_interleave"),
    ("dram", "burst_bytes"),
    ("clock", "bus_cycle"),
];

/// Latencies defined as another latency of the same memory plus a fixed difference. Where a
/// profile derives them in this way, they move with that latency.
const FOLLOWERS: &[(&str, &[&str])] = &[
    (
        "sram.read",
        &[
            "sram.atomic",
            "sram.dequeue",
            "sram.ring_get",
            "sram.ring_put",
            "sram.csr",
            "gpp.sram_access",
        ],
    ),
    (
        "dram.read",
        &["dram.rbuf_rd", "dram.tbuf_wr", "gpp.dram_access"],
    ),
];

/// A change of a knob.
#[derive(Clone, Debug, PartialEq)]
pub enum KnobChange {
    /// Multiplies a number by this factor, changing it by at least one.
    Scale(f64),
    /// Sets a constant to one of its alternative values.
    Set(SettingValue),
    /// Leaves the knob unchanged.
    Unchanged,
}

/// A constant or parameter that can be varied.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Knob {
    /// The name of a constant, or `CHIP GROUP.NAME` for a parameter.
    pub name: String,
    /// Its description.
    pub what: String,
    /// Its value with the unit.
    pub value: String,
    /// Why it may be varied: `chosen`, `assumed` or `calibrated`.
    pub kind: &'static str,
    #[serde(skip)]
    of: KnobTarget,
}

#[derive(Clone, Debug, PartialEq)]
enum KnobTarget {
    Constant(Box<ModelChoice>),
    Parameter { chip: String, key: String },
}

impl Knob {
    /// The moves to try one at a time.
    #[must_use]
    pub fn moves(&self) -> Vec<KnobChange> {
        match &self.of {
            KnobTarget::Constant(chosen) if !chosen.instead.is_empty() => chosen
                .instead
                .iter()
                .cloned()
                .map(KnobChange::Set)
                .collect(),
            _ => vec![
                KnobChange::Scale(1.0 - RELATIVE_CHANGE),
                KnobChange::Scale(1.0 + RELATIVE_CHANGE),
            ],
        }
    }

    /// Describes a move: `-20 %`, `32`.
    #[must_use]
    pub fn moved(&self, to: &KnobChange) -> String {
        match to {
            KnobChange::Scale(times) => format!("{:+.0} %", (times - 1.0) * 100.0),
            KnobChange::Set(value) => value.text(),
            KnobChange::Unchanged => "as it is".into(),
        }
    }

    /// Alternative values to try instead of scaling its own.
    pub(super) fn instead(&self) -> &[SettingValue] {
        match &self.of {
            KnobTarget::Constant(chosen) => &chosen.instead,
            KnobTarget::Parameter { .. } => &[],
        }
    }
}

/// All knobs of a study, and the chips of its sweeps.
#[derive(Debug)]
pub struct Knobs {
    all: Vec<Knob>,
    /// The project of each sweep's first point.
    projects: BTreeMap<String, Project>,
}

impl Knobs {
    /// Collects the knobs of these sweeps.
    ///
    /// # Errors
    /// Returns an error if a system cannot be read.
    pub fn of(campaign: &Campaign<'_>, sweeps: &BTreeSet<&str>) -> Result<Self, Problems> {
        let study = campaign.study;
        let mut projects = BTreeMap::new();
        for point in points(study, campaign.quick)? {
            let Some(sweep) = study.sweep.get(&point.sweep) else {
                continue;
            };
            if sweep.kind() != SubjectKind::Chip
                || !sweeps.contains(point.sweep.as_str())
                || projects.contains_key(&point.sweep)
            {
                continue;
            }
            let overrides = Overrides {
                set: point.settings.clone(),
                ..Overrides::default()
            };
            let file = campaign.places.find(&sweep.system)?;
            let project = Project::load(&file, &overrides, &npsim_protocols::registry())?;
            projects.insert(point.sweep, project);
        }
        let numbers = study.chosen.iter().filter(|chosen| !chosen.set.is_empty());
        let present = |chosen: &&ModelChoice| projects.keys().any(|sweep| chosen.is_in(sweep));
        let mut all: Vec<Knob> = numbers.filter(present).map(of_constant).collect();
        let mut seen = BTreeSet::new();
        for project in projects.values() {
            all.extend(of_profile(&project.profile, &mut seen));
        }
        Ok(Self { all, projects })
    }

    /// Returns the knobs with these names; all if there are none. A parameter may also be named
    /// without its chip.
    ///
    /// # Errors
    /// Returns an error if a name is unknown.
    pub fn chosen(&self, names: &[String]) -> Result<Vec<Knob>, Problems> {
        let fits = |knob: &Knob, name: &str| {
            knob.name == name || knob.name.rsplit(' ').next() == Some(name)
        };
        for name in names {
            if !self.all.iter().any(|knob| fits(knob, name)) {
                let known: Vec<&str> = self.all.iter().map(|knob| knob.name.as_str()).collect();
                return Err(unknown(name, &known).into());
            }
        }
        let wanted = |knob: &&Knob| names.is_empty() || names.iter().any(|name| fits(knob, name));
        Ok(self.all.iter().filter(wanted).cloned().collect())
    }

    /// Returns the settings that apply these moves to a sweep's points; empty if they do not
    /// affect them.
    ///
    /// # Errors
    /// Returns a description of the problem if no chip can have these parameters.
    pub(super) fn settings(
        &self,
        sweep: &str,
        moves: &[(&Knob, &KnobChange)],
    ) -> Result<Vec<Setting>, String> {
        let Some(project) = self.projects.get(sweep) else {
            return Ok(Vec::new());
        };
        let mut settings = Vec::new();
        let mut numbers: BTreeMap<String, u64> = BTreeMap::new();
        for (knob, to) in moves {
            match &knob.of {
                KnobTarget::Constant(chosen) => {
                    if let Some(value) = constant(chosen, to).filter(|_| chosen.is_in(sweep)) {
                        for path in &chosen.set {
                            settings.push(Setting::new(path, &value)?);
                        }
                    }
                }
                KnobTarget::Parameter { chip, key } if chip == project.profile.name() => {
                    move_parameter(&project.profile, key, to, &mut numbers);
                }
                KnobTarget::Parameter { .. } => {}
            }
        }
        check(&project.profile, &numbers)?;
        for (key, value) in numbers {
            settings.push(Setting::new(&format!("profile.{key}"), &value.to_string())?);
        }
        Ok(settings)
    }
}

fn of_constant(chosen: &ModelChoice) -> Knob {
    Knob {
        name: chosen.name.clone(),
        what: chosen.what.clone(),
        value: chosen.shown().value,
        kind: "chosen",
        of: KnobTarget::Constant(Box::new(chosen.clone())),
    }
}

/// The knobs of a chip's parameters, except those already `seen`.
fn of_profile(profile: &Profile, seen: &mut BTreeSet<String>) -> Vec<Knob> {
    let loose = |of: Foundation| matches!(of, Foundation::Assumed | Foundation::Calibrated);
    let is_positive = |value: ParameterValue| value.number().is_some_and(|number| number > 0);
    let parameters = profile.parameters().filter(|p| {
        loose(p.foundation) && is_positive(p.value) && !SHAPE.contains(&(p.group, p.name))
    });
    let mut knobs = Vec::new();
    for p in parameters {
        let key = format!("{}.{}", p.group, p.name);
        let name = format!("{} {key}", profile.name());
        if seen.insert(name.clone()) {
            knobs.push(Knob {
                name,
                what: p.meaning.to_owned(),
                value: format!("{} {}", p.value, p.unit),
                kind: p.foundation.name(),
                of: KnobTarget::Parameter {
                    chip: profile.name().to_owned(),
                    key,
                },
            });
        }
    }
    knobs
}

/// The new value of a constant, if it changes.
fn constant(chosen: &ModelChoice, to: &KnobChange) -> Option<String> {
    match (to, &chosen.value) {
        (KnobChange::Scale(times), Some(SettingValue::Integer(value))) => {
            let value = u64::try_from(*value).ok()?;
            Some(scaled(value, *times).to_string()).filter(|_| !is_unchanged(*times))
        }
        (KnobChange::Set(value), _) => Some(value.text()),
        _ => None,
    }
}

fn move_parameter(
    profile: &Profile,
    key: &str,
    to: &KnobChange,
    numbers: &mut BTreeMap<String, u64>,
) {
    let find = |key: &str| {
        let mut all = profile.parameters();
        let found = all.find(|p| key.split_once('.') == Some((p.group, p.name)))?;
        Some((found.value.number()?, found.foundation))
    };
    let (KnobChange::Scale(times), Some((before, _))) = (to, find(key)) else {
        return;
    };
    if is_unchanged(*times) {
        return;
    }
    let after = scaled(before, *times);
    numbers.insert(key.to_owned(), after);
    let followers = FOLLOWERS.iter().find(|(leader, _)| *leader == key);
    for follower in followers.into_iter().flat_map(|(_, all)| *all) {
        if let Some((value, Foundation::Derived)) = find(follower) {
            let value = (value + after).saturating_sub(before);
            numbers.insert((*follower).to_owned(), value);
        }
    }
}

fn is_unchanged(times: f64) -> bool {
    close(times, 1.0)
}

/// A number multiplied by a factor and rounded, differing by at least one.
fn scaled(value: u64, times: f64) -> u64 {
    let moved = (value as f64 * times).round() as u64;
    match moved {
        same if same == value && times > 1.0 => value + 1,
        same if same == value => value.saturating_sub(1),
        moved => moved,
    }
}

/// Whether a chip can have these parameters, independently of the order in which they are set.
fn check(profile: &Profile, numbers: &BTreeMap<String, u64>) -> Result<(), String> {
    let mut changed = profile.clone();
    for (key, value) in numbers {
        let (group, name) = key.split_once('.').unwrap_or_default();
        changed = changed
            .with(group, name, *value)
            .map_err(|error| format!("{key}={value}: {error}"))?;
    }
    Ok(())
}

/// The problem that no knob has this name.
fn unknown(name: &str, known: &[&str]) -> Problem {
    Problem::new(format!("there is nothing to move that is called `{name}`"))
        .help("`--list` shows what can be moved")
        .suggest(name, known.iter().copied())
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use npsim_profile::{Foundation, Profile};

    use super::{FOLLOWERS, KnobChange, SHAPE, move_parameter, scaled};

    #[test]
    fn derived_parameters_follow_their_leader() {
        for chip in Profile::names() {
            let profile = Profile::load(chip).unwrap();
            let find = |key: &str| {
                let mut all = profile.parameters();
                all.find(|p| key.split_once('.') == Some((p.group, p.name)))
                    .unwrap_or_else(|| panic!("{chip} {key}"))
            };
            for (leader, followers) in FOLLOWERS {
                let mut numbers = BTreeMap::new();
                move_parameter(&profile, leader, &KnobChange::Scale(0.8), &mut numbers);
                let number = |key: &str| find(key).value.number().unwrap();
                let less = number(leader) - numbers[*leader];
                for follower in *followers {
                    let derived = find(follower).foundation == Foundation::Derived;
                    // If all latencies were recalled rather than derived, nothing is computed.
                    assert!(derived || chip != "ixp2400", "{follower}");
                    let moved = numbers.get(*follower).map(|to| number(follower) - to);
                    assert_eq!(moved, derived.then_some(less), "{chip} {follower}");
                }
            }
            for (group, name) in SHAPE {
                find(&format!("{group}.{name}"));
            }
        }
    }

    #[test]
    fn a_small_number_moves_by_one() {
        for (value, times, expected) in [
            (144, 0.8, 115),
            (144, 1.2, 173),
            (2, 0.8, 1),
            (2, 1.2, 3),
            (1, 0.8, 0),
            (18, 0.8, 14),
            (18, 1.2, 22),
        ] {
            assert_eq!(scaled(value, times), expected, "{value} {times}");
        }
    }
}
