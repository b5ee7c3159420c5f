//! Whether all points of a study ran on the same chip: published values that are
//! met by a chip that changes from figure to figure say nothing.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::class::RowClass;
use crate::results::{PointChip, Results};
use crate::study::Confidence;
use crate::verdict::{Comparison, FigureValue, Verdict};

/// The id of the row that says so.
pub const ROW: &str = "profiles";

/// A chip with how many points ran on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Used {
    /// The chip.
    #[serde(flatten)]
    pub chip: PointChip,
    /// How many points.
    pub points: usize,
}

/// The chips that the points ran on, in the order of their names.
#[must_use]
pub fn used(results: &Results) -> Vec<Used> {
    let mut points: BTreeMap<&PointChip, usize> = BTreeMap::new();
    for cached in &results.points {
        if let Some(chip) = &cached.chip {
            *points.entry(chip).or_default() += 1;
        }
    }
    let used = points.into_iter().map(|(chip, points)| Used {
        chip: chip.clone(),
        points,
    });
    used.collect()
}

/// Whether every chip has one profile, and settings changed none but where a sweep asks
/// about another chip.
#[must_use]
pub fn is_one(used: &[Used]) -> bool {
    let same: Vec<&PointChip> = { used.iter().map(|used| &used.chip) }
        .filter(|chip| chip.meant.is_none())
        .collect();
    let unchanged = same.iter().all(|chip| chip.changed.is_empty());
    let once = same
        .windows(2)
        .all(|pair| matches!(pair, [a, b] if a.chip != b.chip));
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
pub fn row(results: &Results) -> Comparison {
    let used = used(results);
    Comparison {
        id: ROW.into(),
        what: "all points of a chip ran on the same profile, and no setting changed it".into(),
        unit: String::new(),
        published: FigureValue::Words("one profile for each chip".into()),
        measured: Some(FigureValue::Words(shown(&used))),
        interval: None,
        runs: 1,
        tolerance: None,
        accepted: [None, None],
        class: RowClass::OwnCheck,
        chosen: Vec::new(),
        arithmetic: None,
        verdict: if is_one(&used) {
            Verdict::Hit
        } else {
            Verdict::Miss
        },
        calibrated: None,
        difference: None,
        difference_percent: None,
        stated: None,
        evidence: Confidence::Derived,
        source: "the study's own check".into(),
        why: None,
        own_check: true,
    }
}

#[cfg(test)]
mod tests {
    use super::{Used, is_one, shown};
    use crate::results::PointChip;

    fn used(chip: &str, profile: &str, changed: &[&str]) -> Used {
        Used {
            chip: PointChip {
                chip: chip.into(),
                profile: profile.into(),
                changed: changed.iter().map(|&text| text.into()).collect(),
                meant: None,
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
        let mut changed = [used("a", "1", &["sram.read=1"])];
        changed[0].chip.meant = Some("to see".into());
        assert!(is_one(&[one, changed[0].clone()]));
        assert!(shown(&changed).contains("another chip, a 1 (to see)"));
        changed[0].chip.meant = None;
        assert!(!is_one(&changed));
        assert_eq!(shown(&changed), "not one profile: a 1 with sram.read=1");
    }
}
