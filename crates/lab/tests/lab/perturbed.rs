//! Every shipped router on chips whose parts are slightly faster or slower than in the profiles:
//! code that works only with the timing of one chip stops with a fault.

use std::path::Path;
use std::sync::atomic::AtomicBool;

use npsim_lab::campaign::Campaign;
use npsim_lab::places::SearchPath;
use npsim_lab::points::{Point, points};
use npsim_lab::study::Study;
use npsim_profile::{Foundation, Parameter, Profile};
use npsim_project::{Overrides, Project, Setting};

use crate::root;

/// Projects below `microcode` that forward packets.
fn routers() -> Vec<String> {
    let mut found = Vec::new();
    for folder in ["forward", "router", "quick-start", "xcp", "rcp", "ordering"] {
        let path = root().join("microcode").join(folder);
        for entry in std::fs::read_dir(path).expect("a folder") {
            let name = entry.expect("an entry").file_name();
            let name = name.to_string_lossy();
            if name.ends_with(".toml") && !name.ends_with(".part.toml") {
                found.push(format!("microcode/{folder}/{name}"));
            }
        }
    }
    found.sort();
    found
}

/// A study with a sweep for each system, at full line rate.
fn study(systems: &[String], measure: &str) -> Study {
    let mut text = format!(
        "name = \"perturbed\"\ntitle = \"t\"\n[window]\nmeasure = \"{measure}\"\n[metric.rate]\nmeasure = \"egress-rate\"\n"
    );
    for (number, system) in systems.iter().enumerate() {
        let every = match system.split('/').nth(1) {
            Some("quick-start") => ", \"load.special.options\" = \"50%\"",
            Some("xcp") => ", \"me.processing.define.XCP_EVERY_PACKET\" = 1",
            Some("rcp") => ", \"me.processing.define.RCP_EVERY_PACKET\" = 1",
            _ => "",
        };
        text = format!(
            "{text}[sweep.s{number:03}]\nsystem = \"{system}\"\nset = {{ \"load.rate\" = \"90%\"{every} }}\n"
        );
    }
    Study::parse("perturbed", &text).expect("a study")
}

/// The time parameters of a chip that were not read in a source.
fn times(profile: &Profile) -> Vec<(&Parameter, u64)> {
    let is_time = |p: &&Parameter| p.unit.contains("cycles") || p.unit.contains("clocks");
    let all = profile.parameters().filter(is_time);
    all.filter(|p| p.foundation != Foundation::Source && p.group != "clock")
        .filter_map(|p| Some((p, p.value.number()?)))
        .collect()
}

/// Sets the values that the chip can have; the others stay.
fn set(profile: &Profile, changes: &[(&Parameter, u64)]) -> Vec<Setting> {
    let mut changed = profile.clone();
    let mut settings = Vec::new();
    for (p, value) in changes {
        if let Ok(next) = changed.with(p.group, p.name, *value) {
            changed = next;
            let path = format!("profile.{}.{}", p.group, p.name);
            settings.push(Setting::new(&path, &value.to_string()).expect("a setting"));
        }
    }
    settings
}

/// Pseudo-random numbers that are the same in every run.
fn mix_bits(number: u64) -> u64 {
    let number = (number ^ (number >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let number = (number ^ (number >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    number ^ (number >> 31)
}

/// Each number is changed by up to a fifth in either direction, and by at least one.
fn perturb_all(profile: &Profile, seed: u64) -> Vec<Setting> {
    let changes: Vec<_> = times(profile)
        .into_iter()
        .zip(1..)
        .map(|((p, before), number)| {
            let word = mix_bits(seed << 32 | number);
            let most = (before / 5).max(1);
            let by = word % (most + 1);
            let up = word >> 32 & 1 == 1;
            let value = if up {
                before + by
            } else {
                before - by.min(before)
            };
            (p, value)
        })
        .collect();
    set(profile, &changes)
}

/// All penalties of microengines one more or one less.
fn penalties(profile: &Profile, up: bool) -> Vec<Setting> {
    let changes: Vec<_> = times(profile)
        .into_iter()
        .filter(|(p, _)| p.name.ends_with("_penalty"))
        .map(|(p, before)| (p, if up { before + 1 } else { before - 1 }))
        .collect();
    assert!(changes.len() >= 7, "{changes:?}");
    set(profile, &changes)
}

/// Runs a sweep's point with additional settings; returns the faults that stopped runs.
fn faults(study: &Study, variants: impl Fn(&Profile) -> Vec<Vec<Setting>>) -> (usize, Vec<String>) {
    let root = root();
    let places = SearchPath::new(None, Some(root.as_path()));
    let folder = tempfile::tempdir().expect("a folder");
    let campaign = Campaign {
        study,
        quick: false,
        places: &places,
        results: folder.path(),
        jobs: 2,
        observe: &[],
    };
    let mut all: Vec<Point> = Vec::new();
    for point in points(study, false).expect("points") {
        let overrides = Overrides {
            set: point.settings.clone(),
            ..Overrides::default()
        };
        let path: &Path = &places
            .find(&study.sweep[&point.sweep].system)
            .expect("a system");
        let project = Project::load(path, &overrides, &npsim_protocols::registry());
        let project = project.unwrap_or_else(|problems| panic!("{problems}"));
        for settings in variants(&project.profile) {
            let mut point = point.clone();
            point.number = all.len() + 1;
            point.settings.extend(settings);
            all.push(point);
        }
    }
    let results = campaign
        .run(all, &AtomicBool::new(false), &())
        .unwrap_or_else(|problems| panic!("{problems}"));
    let stopped = results.faults().map(|(cached, fault)| {
        let system = &study.sweep[&cached.point.sweep].system;
        let settings = cached.point.shown_settings().join(" ");
        format!("{system}: {fault}\n  {settings}")
    });
    (results.points.len(), stopped.collect())
}

#[test]
fn no_router_relies_on_branch_latency() {
    let systems = routers();
    assert!(systems.len() > 30, "{systems:?}");
    let (runs, stopped) = faults(&study(&systems, "60us"), |profile| {
        [false, true].map(|up| penalties(profile, up)).to_vec()
    });
    assert_eq!(runs, 2 * systems.len());
    assert!(stopped.is_empty(), "{}", stopped.join("\n"));
}

#[test]
fn no_router_relies_on_uncertain_latencies() {
    let systems = routers();
    let (_, stopped) = faults(&study(&systems, "50us"), |profile| {
        (1..=2).map(|seed| perturb_all(profile, seed)).collect()
    });
    assert!(stopped.is_empty(), "{}", stopped.join("\n"));
}

#[test]
fn standard_router_tolerates_each_latency_change_alone() {
    let systems = ["microcode/router/npsim.toml".to_owned()];
    let (runs, stopped) = faults(&study(&systems, "50us"), |profile| {
        let alone = times(profile).into_iter().flat_map(|(p, before)| {
            let by = (before / 5).max(1);
            [before.saturating_sub(by), before + by].map(|value| set(profile, &[(p, value)]))
        });
        alone.filter(|settings| !settings.is_empty()).collect()
    });
    assert!(runs > 100, "{runs}");
    assert!(stopped.is_empty(), "{}", stopped.join("\n"));
}
