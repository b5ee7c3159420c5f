//! The descriptions of files in docs/src must match the files that the program reads and writes.

use std::collections::BTreeSet;
use std::path::Path;

use npsim::engine::ENGINE;
use npsim::links::Traffic;
use npsim::project::{Overrides, Project};
use npsim::report::{NodeReport, Report};
use npsim::simulation::Ending;
use npsim_chip::chip::Chip;
use npsim_chip::kernel::check::{Check, Fault};
use npsim_chip::kernel::fault_injection::Stall;
use npsim_chip::kernel::port_io::MediaDrop;
use npsim_inspect::stats::{
    BusStats, CheckStats, ContextStats, CounterStats, DropStats, HoldStats, LockStats,
    MicroengineStats, OperationStats, PortStats, Stats, TaskStats, UnitStats,
};
use npsim_net::Ratio;
use npsim_net::load::{Amount, Load, LoadRate};
use serde_json::Value;

/// A report in which every list has an entry and every option a value.
fn full_report() -> Report {
    let operations = || vec![OperationStats::default()];
    let drop = DropStats {
        reason: "x".into(),
        frames: 1,
    };
    let mut chip = Stats {
        mhz: 600,
        microengines: vec![MicroengineStats {
            contexts: vec![ContextStats::default()],
            ..Default::default()
        }],
        units: vec![UnitStats {
            commands: operations(),
            own: idle_stats("slow_path").units.remove(0).own,
            ..Default::default()
        }],
        buses: vec![BusStats::default()],
        ports: vec![PortStats::default()],
        counters: vec![CounterStats {
            name: "N".into(),
            value: 1,
            drop: true,
            text: "t".into(),
        }],
        locks: vec![LockStats {
            held_at_end: Some(HoldStats::default()),
            ..LockStats::default()
        }],
        checks_passed_over: vec![CheckStats::default()],
        ..Stats::default()
    };
    chip.media.commands = operations();
    chip.media.drops = vec![drop.clone()];
    chip.gpp.reasons = vec![drop];
    chip.gpp.tasks = vec![TaskStats::default()];
    chip.gpp.rows = idle_stats("slow_path").gpp.rows;
    chip.devices = idle_stats("feedback").devices;
    let mut traffic = Traffic {
        latencies: [600].into_iter().collect(),
        ..Traffic::default()
    };
    traffic.drops.insert((0, MediaDrop::ReceiveFifoFull), 1);
    let fault = Fault {
        check: Some(Check::Deadlock),
        cycle: 1,
        me: Some(0),
        context: Some(0),
        pc: Some(0),
        message: "m".into(),
        notes: vec!["n".into()],
        help: None,
        also: Vec::new(),
    };
    let ending = Ending::Fault(Box::new(fault));
    let node = NodeReport::new(Some(&ending), Some("a.uc:1".into()), &traffic, chip);
    let mut report = Report::over("p".into(), vec![node]);
    report.disturbances.stalls = vec![Stall {
        me: 0,
        context: 3,
        from: 1,
        until: 2,
    }];
    report.load = Some(Load {
        rate: Some(LoadRate::Total(Amount::Line(Ratio::ONE))),
        ..Load::default()
    });
    report
}

/// The statistics of a chip on which nothing has happened.
fn idle_stats(project: &str) -> Stats {
    let file = format!("../systems/tests/firmware/{project}.toml");
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join(file);
    let project = Project::load(&path, &Overrides::default(), &npsim::registry()).unwrap();
    // Rows that stay open are also counted.
    let profile = project.profile.with("dram", "rows", "open").unwrap();
    let chip = Chip::new(ENGINE, profile, &project.boot, Vec::new());
    Stats::collect(&chip.unwrap())
}

fn collect_keys(value: &Value, found: &mut BTreeSet<String>) {
    match value {
        Value::Object(fields) => {
            for (key, value) in fields {
                found.insert(key.clone());
                collect_keys(value, found);
            }
        }
        Value::Array(values) => values.iter().for_each(|value| collect_keys(value, found)),
        _ => {}
    }
}

#[test]
fn every_stats_key_is_documented() {
    let text = include_str!("../../../../docs/src/stats.md");
    let words: BTreeSet<&str> = text
        .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .collect();
    let json = npsim::stats_file::to_json(&full_report()).unwrap();
    let mut found = BTreeSet::new();
    collect_keys(&serde_json::from_str(&json).unwrap(), &mut found);
    let missing: Vec<_> = found
        .iter()
        .filter(|key| !words.contains(key.as_str()))
        .collect();
    assert!(
        missing.is_empty(),
        "docs/src/stats.md does not name {missing:?}"
    );
    assert!(found.len() > 80, "only {} keys", found.len());
}

#[test]
fn documented_example_project_loads() {
    let text = include_str!("../../../../docs/src/project.md");
    let example = text
        .split("```toml\n")
        .nth(1)
        .and_then(|rest| rest.split("```").next())
        .unwrap();
    let dir = tempfile::tempdir().unwrap();
    let (own, library) = (dir.path().join("forward"), dir.path().join("lib"));
    for folder in [&own, &library] {
        std::fs::create_dir(folder).unwrap();
    }
    for (name, contents) in [
        ("npsim.toml", example),
        ("rx.uc", "nop\n"),
        ("tx.uc", "nop\n"),
    ] {
        std::fs::write(own.join(name), contents).unwrap();
    }
    let project = Project::load(&own, &Overrides::default(), &npsim::registry()).unwrap();
    assert_eq!(
        (
            project.programs.len(),
            project.boot.rings.len(),
            project.boot.tasks.len()
        ),
        (4, 2, 2)
    );
    let described: BTreeSet<&str> = text
        .split(|c: char| !(c.is_ascii_alphanumeric() || c == '_'))
        .collect();
    for (name, _) in &project.programs[0].defines {
        let from_docs = described.contains(name.as_str())
            || [
                "TX_RING",
                "EXCEPTION_RING",
                "FREE_BUFFERS",
                "PORT_TABLE",
                "PORT0_",
                "PORT1_",
                "CHECKSUM",
            ]
            .iter()
            .any(|owner| name.starts_with(owner));
        assert!(from_docs, "docs/src/project.md does not name {name}");
    }
}
