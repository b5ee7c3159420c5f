//! Every point of every study runs on the same chip as the standard router: none of its parameters
//! was changed for a figure.

use std::collections::BTreeMap;

use npsim_lab::points::points;
use npsim_lab::results::PointChip;
use npsim_lab::selection::needs;
use npsim_lab::studies;
use npsim_lab::study::SubjectKind;
use npsim_project::{Overrides, Project};

use crate::root;

/// The standard router on each chip.
const ROUTERS: [&str; 2] = ["microcode/router", "microcode/router/ixp2800.toml"];

fn load(system: &str, overrides: &Overrides) -> Project {
    Project::load(
        &root().join(system),
        overrides,
        &npsim_protocols::registry(),
    )
    .unwrap_or_else(|error| panic!("{system}: {error}"))
}

/// The fingerprint of each chip that runs a router.
fn reference() -> BTreeMap<String, String> {
    let chips = ROUTERS.map(|router| PointChip::of(&load(router, &Overrides::default())));
    let known: BTreeMap<_, _> = { chips.into_iter() }
        .map(|chip| (chip.chip, chip.profile))
        .collect();
    assert_eq!(known.len(), ROUTERS.len());
    known
}

#[test]
fn all_study_points_use_the_reference_chip() {
    let reference = reference();
    let mut seen = BTreeMap::new();
    // A quick look repeats points of the whole study; each chip is made once.
    let mut chips = BTreeMap::new();
    for study in studies::all().unwrap() {
        for quick in [false, true] {
            for point in points(&study, quick).unwrap() {
                let what = format!("{}, point {}, {}", study.name, point.number, point.sweep);
                // Networks of hosts are compared without a chip of their own.
                if matches!(point.kind, SubjectKind::Network | SubjectKind::Fluid) {
                    continue;
                }
                // A point about another chip, or a network of one, is compared with nothing.
                if point.kind != SubjectKind::Chip || study.sweep[&point.sweep].other_chip.is_some()
                {
                    // Except for parameters that are read back, which are not counted.
                    let mut rows = study
                        .published
                        .iter()
                        .filter(|row| row.arithmetic.is_none());
                    assert!(!rows.any(|row| needs(&study, row, &point)), "{what}");
                    continue;
                }
                for setting in &point.settings {
                    let path = setting.path();
                    assert!(!path.starts_with("profile"), "{what}: {path}");
                    assert!(!path.starts_with("chip"), "{what}: {path}");
                }
                let system = &study.sweep[&point.sweep].system;
                let subject = (system.clone(), point.settings.clone());
                let chip = chips.entry(subject).or_insert_with(|| {
                    let overrides = Overrides {
                        set: point.settings.clone(),
                        ..Overrides::default()
                    };
                    PointChip::of(&load(system, &overrides))
                });
                assert_eq!(chip.changed, [""; 0], "{what}");
                assert_eq!(reference.get(&chip.chip), Some(&chip.profile), "{what}");
                *seen.entry(chip.chip.clone()).or_insert(0) += 1;
            }
        }
    }
    assert!(seen.len() == reference.len(), "{seen:?}");
}

/// All shipped projects on one of these chips agree as well.
#[test]
fn all_shipped_projects_use_the_reference_chip() {
    let reference = reference();
    let mut folders = vec![root().join("microcode")];
    let mut projects = 0;
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            let name = path.to_str().unwrap().to_owned();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|end| end == "toml")
                && !path.ends_with("Cargo.toml")
                && !name.ends_with(".part.toml")
            {
                let project =
                    Project::load(&path, &Overrides::default(), &npsim_protocols::registry())
                        .unwrap_or_else(|error| panic!("{name}: {error}"));
                let chip = PointChip::of(&project);
                assert_eq!(chip.changed, [""; 0], "{name}");
                assert_eq!(reference.get(&chip.chip), Some(&chip.profile), "{name}");
                projects += 1;
            }
        }
    }
    assert!(projects > 20, "{projects}");
}

/// A changed parameter would be detected.
#[test]
fn changed_parameter_makes_a_different_chip() {
    let setting = "profile.sram.longword_cycles=4";
    let changed = [setting.parse().unwrap()];
    let overrides = Overrides {
        set: changed.into(),
        ..Overrides::default()
    };
    let file = root().join(ROUTERS[0]);
    let Ok(project) = Project::load(&file, &overrides, &npsim_protocols::registry()) else {
        panic!("`{setting}` leads nowhere");
    };
    let chip = PointChip::of(&project);
    assert_ne!(reference().get(&chip.chip), Some(&chip.profile));
    assert!(!chip.changed.is_empty());
}
