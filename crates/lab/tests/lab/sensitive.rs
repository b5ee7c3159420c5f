//! The parameters on which a comparison depends, on the forwarder; and that values listed as chosen in studies equal
//! those of their systems.

use std::collections::BTreeMap;
use std::sync::atomic::AtomicBool;

use npsim_lab::campaign::Campaign;
use npsim_lab::places::SearchPath;
use npsim_lab::points::points;
use npsim_lab::sensitivity::report::SensitivityReport;
use npsim_lab::sensitivity::{SensitivityOptions, SensitivityPlan};
use npsim_lab::studies;
use npsim_lab::study::{SettingValue, Study, SubjectKind};
use npsim_project::{Overrides, Project, Setting};

use crate::root;

const STUDY: &str = r#"
name = "hangs"
title = "What the forwarder depends on"
[window]
warm_up = "20us"
measure = "60us"
[metric.egress]
measure = "egress-rate"
[metric.latency]
measure = "latency"
[sweep.forward]
system = "microcode/forward"
set = { "load.size" = 64 }
metrics = ["egress", "latency"]
[[sweep.forward.axis]]
name = "rate"
key = "load.rate"
values = ["0.5Mpps", "2Mpps"]
[[published]]
id = "T-1"
what = "what comes leaves"
stated = "it follows the load"
source = "none"
evidence = "text"
shape = { is = "follows", of = "forward.egress", within = 0.1 }
[[published]]
id = "T-2"
what = "latency of half a million"
unit = "us"
value = 3.664
tolerance = "0.5%"
source = "none"
evidence = "text"
measured = { is = "at", of = "forward.latency", x = 0.5 }
[[published]]
id = "T-3"
what = "the same, read back"
unit = "us"
value = 9
tolerance = "1%"
source = "none"
evidence = "text"
arithmetic = "for the sake of it"
measured = { is = "at", of = "forward.latency", x = 0.5 }
[[chosen]]
name = "POLL_GAP"
what = "pause between two looks"
unit = "steps"
value = 6
set = ["me.transmit.define.POLL_GAP"]
rows = ["T-2"]
why = "to try"
"#;

fn run_sensitivity(only: &[&str], samples: usize) -> (usize, SensitivityReport) {
    let study = Study::parse("s", STUDY).expect("a study");
    let folder = tempfile::tempdir().expect("a folder");
    let root = root();
    let places = SearchPath::new(None, Some(root.as_path()));
    let campaign = Campaign {
        study: &study,
        quick: false,
        places: &places,
        results: folder.path(),
        jobs: 2,
        observe: &[],
    };
    let question = SensitivityOptions {
        ids: Vec::new(),
        only: only.iter().map(|&name| name.to_owned()).collect(),
        samples,
    };
    let run = || {
        let plan = SensitivityPlan::new(&campaign, &question)
            .unwrap_or_else(|problems| panic!("{problems}"));
        let points = plan.points().to_vec();
        let results = campaign.run(points, &AtomicBool::new(false), &());
        let results = results.expect("runs");
        let report = plan.report(&campaign, &question, &results);
        (results, report.expect("a report"))
    };
    let (results, report) = run();
    // The second time, there is nothing to do, and the result is the same.
    let (again, same) = run();
    assert_eq!((again.ran, &same), (0, &report));
    report.write(folder.path()).expect("files");
    for name in [
        "sensitivity.json",
        "sensitivity.csv",
        "sensitivity.md",
        "tornado.svg",
    ] {
        assert!(folder.path().join(name).is_file(), "{name}");
    }
    (results.ran, report)
}

#[test]
fn sensitivity_report_shows_what_drives_a_row() {
    let (ran, report) = run_sensitivity(&["sram.read", "hash.one"], 3);
    // Two unchanged points, the same two with each of two parameters moved both ways, and three
    // samples.
    assert_eq!(ran, 2 + 8 + 6);
    let [follows, latency, read_back] = report.rows.as_slice() else {
        panic!("{:?}", report.rows);
    };
    assert!(follows.is_robust(), "{follows:?}");
    let [low, high] = latency.alone.as_ref().expect("a number");
    assert_eq!(low.by, "ixp2400 sram.read -20 %");
    assert_eq!(high.by, "ixp2400 sram.read +20 %");
    assert!(low.value < 3.7 && high.value > 3.8, "{latency:?}");
    assert_eq!(latency.turned_by.len(), 2, "{latency:?}");
    assert!(!latency.is_robust());
    let [least, most] = latency.together.expect("samples");
    assert!(least < most && least >= low.value && most <= high.value);
    assert!(read_back.alone.is_some(), "it is in the files");
    assert!(!report.markdown().contains("read back"), "and not counted");
    assert!(
        report
            .summary()
            .starts_with("2 of 2 rows are reproduced; 1 of them")
    );
    assert!(report.tornado().contains("T-2 latency"));
    assert!(report.faults.is_empty() && report.refused.is_empty());
}

#[test]
fn unknown_parameter_names_are_refused() {
    let study = Study::parse("s", STUDY).expect("a study");
    let folder = tempfile::tempdir().expect("a folder");
    let root = root();
    let places = SearchPath::new(None, Some(root.as_path()));
    let campaign = Campaign {
        study: &study,
        quick: false,
        places: &places,
        results: folder.path(),
        jobs: 1,
        observe: &[],
    };
    let question = |only: &[&str]| SensitivityOptions {
        ids: Vec::new(),
        only: only.iter().map(|&name| name.to_owned()).collect(),
        samples: 0,
    };
    let message = SensitivityPlan::new(&campaign, &question(&["POLL_GAPS"])).unwrap_err();
    assert!(message.to_string().contains("`POLL_GAP`"), "{message}");
    let all = SensitivityPlan::new(&campaign, &question(&[]))
        .unwrap_or_else(|problems| panic!("{problems}"));
    let names: Vec<&str> = all.knobs().iter().map(|knob| knob.name.as_str()).collect();
    for name in [
        "POLL_GAP",
        "ixp2400 sram.read",
        "ixp2400 microengine.wake_latency",
    ] {
        assert!(names.contains(&name), "{name} of {names:?}");
    }
    // Values read in a source and derived values stay.
    for name in ["ixp2400 scratch.bytes", "ixp2400 sram.atomic"] {
        assert!(!names.contains(&name), "{name}");
    }
}

/// Values that a study lists as chosen equal those of its systems, and their settings have an
/// effect: with the listed value, the programs equal the shipped ones word for word; with another
/// value, they do not.
#[test]
fn chosen_constants_match_their_systems() {
    let root = root();
    let places = SearchPath::new(None, Some(root.as_path()));
    // A system with several constants is assembled once as shipped.
    let mut all_shipped = BTreeMap::new();
    for study in studies::all().expect("studies") {
        let mut all = points(&study, true).expect("points");
        all.retain(|point| point.kind == SubjectKind::Chip);
        for chosen in study.chosen.iter().filter(|chosen| !chosen.set.is_empty()) {
            let mut moved: BTreeMap<&str, bool> = BTreeMap::new();
            for point in &all {
                let sweep = point.sweep.as_str();
                let system = &study.sweep[sweep].system;
                if !chosen.is_in(sweep) || *moved.entry(sweep).or_default() {
                    continue;
                }
                let words = |value: Option<&SettingValue>| {
                    let mut set = point.settings.clone();
                    for path in chosen.set.iter().filter(|_| value.is_some()) {
                        let text = value.map(SettingValue::text).unwrap_or_default();
                        set.push(Setting::new(path, &text).expect("a setting"));
                    }
                    let overrides = Overrides {
                        set,
                        ..Overrides::default()
                    };
                    let path = places.find(system).expect("a system");
                    let registry = npsim_protocols::registry();
                    let project = Project::load(&path, &overrides, &registry)
                        .unwrap_or_else(|problems| panic!("{system}: {problems}"));
                    let (programs, _) = npsim_project::assemble::assemble_project(&project);
                    let programs = programs.unwrap_or_else(|| panic!("{system} {}", chosen.name));
                    let words = programs.iter().map(|p| p.image.words.clone());
                    words.collect::<Vec<_>>()
                };
                let shipped = { all_shipped.entry((system.clone(), point.settings.clone())) }
                    .or_insert_with(|| words(None));
                let name = format!("{} {} in {sweep}", study.name, chosen.name);
                assert!(
                    words(chosen.value.as_ref()) == *shipped,
                    "{name} is another"
                );
                let other = match (&chosen.value, chosen.instead.first()) {
                    (_, Some(other)) => other.clone(),
                    (Some(SettingValue::Integer(value)), None) => SettingValue::Integer(value - 3),
                    (value, None) => panic!("{name}: {value:?}"),
                };
                moved.insert(sweep, words(Some(&other)) != *shipped);
            }
            assert!(!moved.is_empty(), "{} is in no system", chosen.name);
            let still: Vec<_> = moved.into_iter().filter(|(_, moved)| !moved).collect();
            assert!(
                still.is_empty(),
                "{} {} moves nothing in {still:?}",
                study.name,
                chosen.name
            );
        }
    }
}
