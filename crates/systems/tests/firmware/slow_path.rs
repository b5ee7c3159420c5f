//! The slow path beside microcode: its tasks find what the contexts did, they end with the last
//! context, and a saved run continues identically.

use std::ops::ControlFlow;
use std::path::Path;

use npsim::engine::ENGINE;
use npsim::links::{Links, Traffic};
use npsim::observe::series::Series;
use npsim::project::{Overrides, Project};
use npsim::report::{NodeReport, Report};
use npsim::simulation::{Ending, RunSettings, Simulation};
use npsim::stats_file::to_json;
use npsim::summary::summary;
use npsim_chip::kernel::observer::NoObserver;
use npsim_chip::watch::Watcher;
use npsim_inspect::stats::Stats;
use npsim_observe::timeline::Recorder;

use npsim_systems::project::{assembled, load};

const ROUNDS: u32 = 400;

fn project() -> Project {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/firmware/slow_path.toml");
    let overrides = Overrides {
        defines: vec![("ROUNDS".into(), ROUNDS.to_string())],
        ..Overrides::default()
    };
    load(&path, &overrides)
}

fn simulation(project: &Project, until: Option<u64>) -> Simulation {
    let settings = RunSettings {
        until,
        ..RunSettings::new(ENGINE)
    };
    Simulation::new(project, &assembled(project), settings).unwrap()
}

fn run(project: &Project, simulation: &mut Simulation, probe: &mut dyn Watcher) -> Ending {
    let mut links = Links::idle(project.capacity.hertz);
    simulation.run_watched(&mut links, probe, &mut |_, _| ControlFlow::Continue(()))
}

#[test]
fn tasks_end_with_the_last_context_and_count_everything() {
    let project = project();
    let mut simulation = simulation(&project, None);
    assert_eq!(
        run(&project, &mut simulation, &mut NoObserver),
        Ending::NoEvents
    );
    let stats = simulation.stats();
    // The first updates occur while the contexts count.
    let only = |kind| {
        let [row] = stats.gpp.rows.of(kind) else {
            panic!("{:?}", stats.gpp.rows);
        };
        move |name: &str| i64::try_from(row.get(name).unwrap()).unwrap()
    };
    let rcp = only("rcp");
    assert!(rcp("updates") > 3 && rcp("bytes") > 0);
    assert!(rcp("bytes") <= i64::from(8 * 100 * ROUNDS));
    let quick_start = only("quick-start");
    assert_eq!(
        (quick_start("capacity"), quick_start("threshold")),
        (25_000, 22_500)
    );
    // All grants are in windows that are over, or in the last one or two.
    let units = i64::from(2 * 8 * ROUNDS);
    let total = quick_start("grants_total");
    assert!(quick_start("windows") > 3 && units - total - quick_start("granted") >= 0);
    assert!(total > units / 2, "{total}");
    let intervals = only("xcp")("intervals");
    assert!(intervals > 1, "{intervals}");
    let [lock] = &stats.locks[..] else {
        panic!("{:?}", stats.locks);
    };
    // Contexts take it once a round, the core once an interval.
    assert_eq!(
        lock.acquired,
        u64::from(8 * ROUNDS) + intervals.unsigned_abs()
    );
    assert_eq!(lock.released, lock.acquired);
    // The core computes while it holds the lock.
    assert!(lock.held_longest >= 1800, "{lock:?}");
    let names: Vec<_> = stats
        .gpp
        .tasks
        .iter()
        .map(|task| task.name.as_str())
        .collect();
    assert_eq!(names, ["quick-start", "xcp", "rcp"]);
    assert_eq!(
        stats.gpp.busy,
        stats
            .gpp
            .tasks
            .iter()
            .map(|task| task.counts.busy)
            .sum::<u64>()
    );
    assert!(stats.gpp.tasks.iter().any(|task| task.counts.waits > 0));
}

#[test]
fn task_results_are_shown_and_reproducible() {
    let project = project();
    let report = |until| {
        let mut simulation = simulation(&project, Some(until));
        let ending = run(&project, &mut simulation, &mut NoObserver);
        let stats = simulation.stats();
        let node = NodeReport::new(Some(&ending), None, &Traffic::default(), stats);
        Report::over("p".to_owned(), vec![node])
    };
    let first = report(240_000);
    assert_eq!(to_json(&first).unwrap(), to_json(&report(240_000)).unwrap());
    let text = summary(&first, Some(1.0), 100);
    for line in [
        "quick-start  limit ",
        "xcp          input ",
        "rcp          rate ",
    ] {
        assert!(
            text.lines().any(|it| it.starts_with(line)),
            "{line} in\n{text}"
        );
    }
    assert!(text.contains("lock         XCP_LOCK  taken "), "{text}");
}

#[test]
fn restored_run_ends_identically() {
    let project = project();
    let links = || Links::idle(project.capacity.hertz);
    let end = 300_000;
    let mut whole = simulation(&project, Some(end));
    run(&project, &mut whole, &mut NoObserver);
    let expected: Stats = whole.stats();
    for pause in [59_990, 60_700, 120_350, 121_900, 200_001] {
        let mut first = simulation(&project, Some(end));
        let paused = first.run_to(pause, &mut links(), &mut NoObserver, &mut |_, _| {
            ControlFlow::Continue(())
        });
        assert_eq!(paused, None);
        let mut second = simulation(&project, Some(end));
        second.restore(&first.save().unwrap()).unwrap();
        assert_eq!(second.stats(), first.stats());
        run(&project, &mut second, &mut NoObserver);
        assert_eq!(second.stats(), expected, "from {pause} on");
    }
}

#[test]
fn timeline_names_tasks_levels_and_locks() {
    let project = project();
    let mut simulation = simulation(&project, Some(200_000));
    let window = (55_000, 200_000);
    let mut recorder = Recorder::new(Vec::new(), "p", simulation.chip(), window)
        .with_ring_names(Series::new(&project).places());
    run(&project, &mut simulation, &mut recorder);
    let bytes = recorder.finish(simulation.now()).unwrap();
    let text = String::from_utf8(bytes).unwrap();
    for name in [
        "\"name\":\"task quick-start\"",
        "\"name\":\"task rcp\"",
        "\"name\":\"XCP_LOCK\"",
        "\"name\":\"publish limit and phase\"",
        "\"name\":\"quick-start: limit (40 kbit/s)\"",
        "\"name\":\"xcp: positive feedback (byte/s)\"",
        "\"name\":\"rcp: rate (byte/s)\"",
        "\"name\":\"held by the general-purpose core\"",
        "\"name\":\"handed over\"",
    ] {
        assert!(text.contains(name), "{name}");
    }
    let json: serde_json::Value = serde_json::from_str(&text).unwrap();
    assert!(
        json["traceEvents"]
            .as_array()
            .is_some_and(|all| all.len() > 1000)
    );
}
