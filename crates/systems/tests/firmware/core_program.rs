//! A program of the core beside microcode: rings and interrupts both ways, on both cores, and however a run is split.

use std::ops::ControlFlow;
use std::path::Path;

use npsim::engine::ENGINE;
use npsim::links::{Links, Traffic};
use npsim::project::{Overrides, Project};
use npsim::reference::REFERENCE;
use npsim::simulation::{Ending, RunSettings, Simulation};
use npsim::xscale::Processor;
use npsim_chip::core::CoreKind;
use npsim_chip::kernel::observer::NoObserver;
use npsim_inspect::stats::Stats;

use npsim_systems::project::{assembled, load};

const ROUNDS: u32 = 50;

fn project() -> Project {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/firmware/core_program");
    let overrides = Overrides {
        defines: vec![("ROUNDS".into(), ROUNDS.to_string())],
        ..Overrides::default()
    };
    load(&path, &overrides)
}

fn simulation(project: &Project, core: CoreKind) -> Simulation {
    let settings = RunSettings {
        until: Some(400_000),
        ..RunSettings::new(core)
    };
    Simulation::new(project, &assembled(project), settings).unwrap()
}

fn run_to(project: &Project, simulation: &mut Simulation, cycle: Option<u64>) -> Option<Ending> {
    let mut links = Links::idle(project.capacity.hertz);
    let mut keep_running = |_: u64, _: &Traffic| ControlFlow::Continue(());
    match cycle {
        Some(cycle) => simulation.run_to(cycle, &mut links, &mut NoObserver, &mut keep_running),
        None => Some(simulation.run_watched(&mut links, &mut NoObserver, &mut keep_running)),
    }
}

/// A scratch longword of the project.
fn word(project: &Project, simulation: &Simulation, name: &str) -> u32 {
    let memory = project.memories.iter().find(|it| it.name == name).unwrap();
    let scratch = &simulation.chip().units().scratch;
    scratch.read(memory.address).unwrap()
}

fn run_uninterrupted(project: &Project, core: CoreKind) -> (Simulation, Stats) {
    let mut simulation = simulation(project, core);
    let ending = run_to(project, &mut simulation, None).unwrap();
    assert!(!matches!(ending, Ending::Fault(_)), "{ending:?}");
    let stats = simulation.stats();
    (simulation, stats)
}

#[test]
fn core_program_answers_microengines() {
    let project = project();
    let (simulation, stats) = run_uninterrupted(&project, ENGINE);
    assert_eq!(
        word(&project, &simulation, "SUM"),
        (2..=ROUNDS + 1).sum::<u32>()
    );
    let interrupts = word(&project, &simulation, "INTERRUPTS");
    assert!((1..=ROUNDS).contains(&interrupts), "{interrupts}");
    assert_eq!(stats.gpp.interrupts, u64::from(ROUNDS));
    let processor: &Processor = simulation.chip().gpp().task().unwrap();
    assert_eq!(processor.counts().interrupts, u64::from(interrupts));
    let [row] = stats.gpp.rows.of("program") else {
        panic!("{:?}", stats.gpp.rows);
    };
    assert_eq!(
        row.get("instructions"),
        Some(processor.instructions().into())
    );
}

#[test]
fn core_program_runs_identically_on_both_cores() {
    let project = project();
    let (one, fast) = run_uninterrupted(&project, ENGINE);
    let (other, reference) = run_uninterrupted(&project, REFERENCE);
    assert_eq!(fast, reference);
    let state = |it: &Simulation| it.chip().gpp().save_tasks().unwrap();
    assert!(state(&one) == state(&other));
}

#[test]
fn core_program_resumes_from_a_checkpoint() {
    let project = project();
    let (_, expected) = run_uninterrupted(&project, ENGINE);
    for pause in [1, 700, 2_345, 5_000, 9_001] {
        let mut first = simulation(&project, ENGINE);
        assert_eq!(run_to(&project, &mut first, Some(pause)), None);
        let mut second = simulation(&project, ENGINE);
        second.restore(&first.save().unwrap()).unwrap();
        run_to(&project, &mut second, None);
        assert_eq!(second.stats(), expected, "from {pause} on");
    }
}
