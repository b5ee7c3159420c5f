//! The results of a campaign: its points, with the outcome of each.

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
    /// Its key.
    pub key: String,
    /// The chip that it runs on, if any.
    pub chip: Option<PointChip>,
    /// Cycles that all its routers simulate unless the run ends early.
    pub cycles: Cycle,
    /// Key of its run, if other points can be measured in the same run: the same network in other
    /// windows.
    pub run: Option<String>,
}

impl CachedPoint {
    /// The name of the run that it is measured in: points with the same name share a run.
    #[must_use]
    pub fn run_name(&self) -> &str {
        self.run.as_deref().unwrap_or(&self.key)
    }
}

/// The results of a campaign.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Results {
    /// The requested points, by number.
    pub points: Vec<CachedPoint>,
    /// Their outcomes, by key.
    pub outcomes: BTreeMap<String, PointOutcome>,
    /// How many ran in this campaign.
    pub ran: usize,
    /// Whether the campaign was interrupted.
    pub interrupted: bool,
}

impl Results {
    /// The results of a campaign that was interrupted before its points were known.
    pub(crate) fn interrupted_early() -> Self {
        Self {
            interrupted: true,
            ..Self::default()
        }
    }

    /// The outcome of a point.
    #[must_use]
    pub fn outcome(&self, cached: &CachedPoint) -> Option<&PointOutcome> {
        self.outcomes.get(&cached.key)
    }

    /// Returns the value of a metric at a point, or why there is none.
    ///
    /// # Errors
    /// Returns an error if the point did not run or nothing could be measured.
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

    /// Points that had not settled by the end of their longest warm-up.
    pub fn unsettled(&self) -> impl Iterator<Item = &CachedPoint> {
        let settled = |cached: &&CachedPoint| self.outcome(cached).and_then(|o| o.settled);
        self.points
            .iter()
            .filter(move |cached| settled(cached) == Some(false))
    }

    /// Points that a fault stopped, with its message.
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
    /// The chip's name.
    pub chip: String,
    /// Fingerprint of its parameters, without those of the board.
    pub profile: String,
    /// Parameters changed by settings, as `group.name=value`.
    pub changed: Vec<String>,
    /// The reason for the changes, if the sweep deliberately uses another chip.
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

    /// Adds the reason `why` settings change the chip, if they do.
    #[must_use]
    pub(crate) fn meant(self, why: Option<&String>) -> Self {
        let meant = why.filter(|_| !self.changed.is_empty()).cloned();
        Self { meant, ..self }
    }

    /// Whether it is a chip that the study is about, with the parameters that it had when the
    /// study was made, and unchanged by settings.
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
    fn frozen_chip_matches_name_and_fingerprint_of_the_study() {
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
        // A shipped chip is not automatically the study's chip.
        assert!(!chip("ixp2400", &shipped).is_frozen(&own));
    }
}
