//! What a campaign came to: its points, with the outcome of each.

use std::collections::BTreeMap;

use npsim_chip::Cycle;
use npsim_profile::Profile;
use npsim_project::Project;
use serde::Serialize;

use crate::points::Point;
use crate::store::PointOutcome;
use crate::study::Study;

/// A point with its key.
#[derive(Clone, Debug, PartialEq)]
pub struct CachedPoint {
    /// The point.
    pub point: Point,
    /// The key.
    pub key: String,
    /// The chip that it runs on; a Petri net runs on none.
    pub chip: Option<PointChip>,
    /// Cycles that it simulates, of all routers, if it does not end early.
    pub cycles: Cycle,
    /// Names its run, if it can be measured in one run with others: in a network, in another
    /// window.
    pub run: Option<String>,
}

impl CachedPoint {
    /// Names the run that it is measured in: points with one name share a run.
    #[must_use]
    pub fn run_name(&self) -> &str {
        self.run.as_deref().unwrap_or(&self.key)
    }
}

/// What a campaign came to.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// Points that were asked for, by number.
    pub points: Vec<CachedPoint>,
    /// What they came to, by key.
    pub outcomes: BTreeMap<String, PointOutcome>,
    /// How many were run now.
    pub ran: usize,
    /// Whether the campaign was interrupted.
    pub interrupted: bool,
}

impl Results {
    /// The results of a campaign that was interrupted before its points were known.
    pub(crate) fn broken_off() -> Self {
        Self {
            interrupted: true,
            ..Self::default()
        }
    }

    /// What a point came to.
    #[must_use]
    pub fn outcome(&self, cached: &CachedPoint) -> Option<&PointOutcome> {
        self.outcomes.get(&cached.key)
    }

    /// The value of a metric at a point, or why there is none.
    ///
    /// # Errors
    /// It was not run, or nothing could be measured.
    pub fn reading(&self, cached: &CachedPoint, metric: &str) -> Result<f64, String> {
        let Some(outcome) = self.outcome(cached) else {
            return Err("the point was not run".into());
        };
        let Some(reading) = outcome.metrics.get(metric) else {
            return Err("it was not measured".into());
        };
        reading.value.ok_or_else(|| {
            let why = reading.why.clone();
            why.unwrap_or_else(|| "nothing was measured".into())
        })
    }

    /// Points that had not settled when their longest warm-up was over.
    pub fn unsettled(&self) -> impl Iterator<Item = &CachedPoint> {
        let settled = |cached: &&CachedPoint| self.outcome(cached).and_then(|o| o.settled);
        self.points
            .iter()
            .filter(move |cached| settled(cached) == Some(false))
    }

    /// Points that were stopped by a fault.
    pub fn faults(&self) -> impl Iterator<Item = (&CachedPoint, &str)> {
        self.points.iter().filter_map(|cached| {
            let fault = self.outcome(cached)?.fault.as_deref()?;
            Some((cached, fault))
        })
    }
}

/// The chip of a point.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct PointChip {
    /// The name.
    pub chip: String,
    /// Fingerprint of its numbers, without those of the board.
    pub profile: String,
    /// Parameters that settings changed, as `group.name=value`.
    pub changed: Vec<String>,
    /// Why they did, where it is another chip that a sweep asks about.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub meant: Option<String>,
}

impl PointChip {
    /// The chip of a project.
    #[must_use]
    pub fn of(project: &Project) -> Self {
        let changes = project.profile_changes.iter();
        Self {
            chip: project.profile.name().to_owned(),
            profile: project.profile.chip_fingerprint(),
            changed: changes
                .map(|change| format!("{}={}", change.parameter, change.to))
                .collect(),
            meant: None,
        }
    }

    /// The comparison with the reason `why` settings change it, if they do and are meant to.
    #[must_use]
    pub(crate) fn meant(self, why: Option<&String>) -> Self {
        let meant = why.filter(|_| !self.changed.is_empty()).cloned();
        Self { meant, ..self }
    }

    /// Whether it is one that the study is about, with the numbers that it had when the study was
    /// made, and no setting changed one.
    #[must_use]
    pub(crate) fn is_frozen(&self, study: &Study) -> bool {
        let same = if study.chips.is_empty() {
            let shipped = Profile::load(&self.chip);
            shipped.is_ok_and(|profile| profile.chip_fingerprint() == self.profile)
        } else {
            study.chips.get(&self.chip) == Some(&self.profile)
        };
        same && self.changed.is_empty()
    }

    pub(crate) fn shown(&self) -> String {
        let name = format!("{} {}", self.chip, self.profile);
        if let Some(meant) = &self.meant {
            format!("besides, as another chip, {name} ({meant})")
        } else if self.changed.is_empty() {
            name
        } else {
            format!("{name} with {}", self.changed.join(", "))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{PointChip, Profile, Study};

    #[test]
    fn a_frozen_chip_has_the_name_and_the_numbers_of_the_study() {
        let chip = |name: &str, profile: &str| PointChip {
            chip: name.into(),
            profile: profile.into(),
            ..PointChip::default()
        };
        let text = "name = \"s\"\ntitle = \"t\"\n[metric.m]\nmeasure = \"egress-rate\"\n[sweep.a]\nsystem = \"x\"\n";
        let any = Study::parse("s", text).unwrap();
        let shipped = Profile::load("ixp2400").unwrap().chip_fingerprint();
        assert!(chip("ixp2400", &shipped).is_frozen(&any));
        assert!(!chip("ixp2400", "0123456789abcdef").is_frozen(&any));
        assert!(!chip("mine", "0123456789abcdef").is_frozen(&any));
        let text = text.replace("[metric.m]", "[chips]\nmine = \"0123\"\n[metric.m]");
        let own = Study::parse("s", &text).unwrap();
        assert!(chip("mine", "0123").is_frozen(&own));
        // A chip that comes with npsim is not therefore the study's.
        assert!(!chip("ixp2400", &shipped).is_frozen(&own));
    }
}
