//! Checks that all points of a study ran on the same chip, and on the one that the study is
//! about. Published values matched by a chip that changes from figure to figure prove nothing,
//! and those matched by another chip reproduce nothing.

use std::collections::BTreeMap;

use serde::Serialize;

use crate::class::RowClass;
use crate::results::{PointChip, Results};
use crate::study::{Confidence, Study};
use crate::verdict::{Comparison, FigureValue, Verdict};

/// The id of the row with the result of this check.
pub const ROW_ID: &str = "profiles";

/// A chip and the number of points that ran on it.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct ProfileUse {
    /// The chip.
    #[serde(flatten)]
    pub chip: PointChip,
    /// Whether it is a chip that the study is about, with unchanged parameters.
    pub frozen: bool,
    /// The number of points.
    pub points: usize,
}

/// The chips that the points ran on, ordered by name.
#[must_use]
pub fn used(study: &Study, results: &Results) -> Vec<ProfileUse> {
    let mut points: BTreeMap<PointChip, usize> = BTreeMap::new();
    for cached in &results.points {
        let Some(chip) = &cached.chip else { continue };
        let mut chip = chip.clone();
        if chip.meant.is_none() && !chip.is_frozen(study) {
            let sweep = study.sweep.get(&cached.point.sweep);
            chip.meant = sweep.and_then(|sweep| sweep.other_chip.clone());
        }
        *points.entry(chip).or_default() += 1;
    }
    let used = points.into_iter().map(|(chip, points)| ProfileUse {
        frozen: chip.is_frozen(study),
        chip,
        points,
    });
    used.collect()
}

/// The chips of sweeps that do not deliberately use another chip.
fn own(used: &[ProfileUse]) -> impl Iterator<Item = &ProfileUse> {
    used.iter().filter(|used| used.chip.meant.is_none())
}

/// Whether every chip has a single profile.
fn is_single(used: &[ProfileUse]) -> bool {
    let same: Vec<&PointChip> = own(used).map(|used| &used.chip).collect();
    let pairs = &mut same.windows(2);
    pairs.all(|pair| matches!(pair, [a, b] if a.chip != b.chip))
}

/// Whether every chip has a single profile, that of the study, except where a sweep
/// deliberately uses another chip.
#[must_use]
pub fn is_single_profile(used: &[ProfileUse]) -> bool {
    is_single(used) && own(used).all(|used| used.frozen)
}

/// The result in words: `one profile: ixp2400 0123456789abcdef`.
#[must_use]
pub fn shown(used: &[ProfileUse]) -> String {
    if used.is_empty() {
        return "no point ran on a chip".to_owned();
    }
    let list: Vec<_> = used.iter().map(|used| used.chip.shown()).collect();
    let begin = match (is_single(used), is_single_profile(used), used.len()) {
        (true, true, 1) => "one profile",
        (true, true, _) => "one profile for each chip",
        (true, false, _) => "not the chip of the study",
        (false, ..) => "not one profile",
    };
    format!("{begin}: {}", list.join("; "))
}

/// The row on whether all points of a chip ran on one profile, that of the study. It is about
/// the study itself, not about a published value.
#[must_use]
pub fn row(study: &Study, results: &Results) -> Comparison {
    let used = used(study, results);
    Comparison {
        id: ROW_ID.into(),
        what: "all points of a chip ran on the profile of the study, and no setting changed it"
            .into(),
        unit: String::new(),
        published: FigureValue::Words("one profile for each chip".into()),
        measured: Some(FigureValue::Words(shown(&used))),
        interval: None,
        runs: 1,
        equal_runs: false,
        tolerance: None,
        accepted: [None, None],
        class: RowClass::OwnCheck,
        chosen: Vec::new(),
        arithmetic: None,
        verdict: if is_single_profile(&used) {
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
    use super::{ProfileUse, is_single_profile, shown};
    use crate::results::PointChip;

    fn used(chip: &str, profile: &str, changed: &[&str]) -> ProfileUse {
        ProfileUse {
            chip: PointChip {
                chip: chip.into(),
                profile: profile.into(),
                changed: changed.iter().map(|&text| text.into()).collect(),
                meant: None,
            },
            frozen: changed.is_empty(),
            points: 1,
        }
    }

    #[test]
    fn profiles_are_compared_per_chip() {
        let one = used("a", "1", &[]);
        assert_eq!(shown(std::slice::from_ref(&one)), "one profile: a 1");
        assert!(is_single_profile(&[one.clone(), used("b", "2", &[])]));
        assert!(!is_single_profile(&[one.clone(), used("a", "2", &[])]));
        let mut changed = [used("a", "1", &["sram.read=1"])];
        changed[0].chip.meant = Some("to see".into());
        assert!(is_single_profile(&[one, changed[0].clone()]));
        assert!(shown(&changed).contains("another chip, a 1 (to see)"));
        changed[0].chip.meant = None;
        assert!(!is_single_profile(&changed));
        assert_eq!(
            shown(&changed),
            "not the chip of the study: a 1 with sram.read=1"
        );
    }
}
