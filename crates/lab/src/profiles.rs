//! Whether all points of a study ran on the same chip: published values that are
//! met by a chip that changes from figure to figure say nothing.

use std::collections::BTreeMap;

use npsim_project::Project;
use serde::Serialize;

use crate::campaign::Results;
use crate::study::Evidence;
use crate::verdict::{Figure, Row, Verdict};

/// The id of the row that says so.
pub const ROW: &str = "profiles";

/// The chip of a point.
#[derive(Clone, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize)]
pub struct Chip {
    /// Its name.
    pub chip: String,
    /// Fingerprint of its numbers, without those of the board.
    pub profile: String,
    /// Parameters that settings changed, as `group.name=value`.
    pub changed: Vec<String>,
}

/// A chip with how many points ran on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Used {
    /// The chip.
    #[serde(flatten)]
    pub chip: Chip,
    /// How many points.
    pub points: usize,
}

impl Chip {
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
        }
    }

    fn shown(&self) -> String {
        let name = format!("{} {}", self.chip, self.profile);
        if self.changed.is_empty() {
            name
        } else {
            format!("{name} with {}", self.changed.join(", "))
        }
    }
}

/// The chips that the points ran on, in the order of their names.
#[must_use]
pub fn used(results: &Results) -> Vec<Used> {
    let mut points: BTreeMap<&Chip, usize> = BTreeMap::new();
    for keyed in &results.points {
        *points.entry(&keyed.chip).or_default() += 1;
    }
    let used = points.into_iter().map(|(chip, points)| Used {
        chip: chip.clone(),
        points,
    });
    used.collect()
}

/// Whether every chip has one profile, and settings changed none.
#[must_use]
pub fn is_one(used: &[Used]) -> bool {
    let unchanged = used.iter().all(|used| used.chip.changed.is_empty());
    let once = used
        .windows(2)
        .all(|pair| matches!(pair, [a, b] if a.chip.chip != b.chip.chip));
    unchanged && once
}

/// `one profile: ixp2400 0123456789abcdef`.
#[must_use]
pub fn shown(used: &[Used]) -> String {
    let list: Vec<_> = used.iter().map(|used| used.chip.shown()).collect();
    let begin = match (is_one(used), used.len()) {
        (true, 0 | 1) => "one profile",
        (true, _) => "one profile for each chip",
        (false, _) => "not one profile",
    };
    format!("{begin}: {}", list.join("; "))
}

/// The row that says whether all points of a chip ran on one profile; it is about
/// the study itself, not about what was published.
#[must_use]
pub fn row(results: &Results) -> Row {
    let used = used(results);
    Row {
        id: ROW.into(),
        what: "all points of a chip ran on the same profile, and no setting changed it".into(),
        unit: String::new(),
        published: Figure::Words("one profile for each chip".into()),
        measured: Some(Figure::Words(shown(&used))),
        tolerance: None,
        verdict: if is_one(&used) {
            Verdict::Hit
        } else {
            Verdict::Miss
        },
        calibrated: None,
        difference: None,
        difference_percent: None,
        stated: None,
        evidence: Evidence::Derived,
        source: "the study's own check".into(),
        why: None,
        own_check: true,
    }
}

#[cfg(test)]
mod tests {
    use super::{Chip, Used, is_one, shown};

    fn used(chip: &str, profile: &str, changed: &[&str]) -> Used {
        Used {
            chip: Chip {
                chip: chip.into(),
                profile: profile.into(),
                changed: changed.iter().map(|&text| text.into()).collect(),
            },
            points: 1,
        }
    }

    #[test]
    fn one_profile_for_each_chip() {
        let one = used("a", "1", &[]);
        assert_eq!(shown(std::slice::from_ref(&one)), "one profile: a 1");
        assert!(is_one(&[one.clone(), used("b", "2", &[])]));
        assert!(!is_one(&[one.clone(), used("a", "2", &[])]));
        let changed = [used("a", "1", &["sram.read=1"])];
        assert!(!is_one(&changed));
        assert_eq!(shown(&changed), "not one profile: a 1 with sram.read=1");
    }
}
