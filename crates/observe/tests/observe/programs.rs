//! The profile of a program of the core, however its run is split.

use std::collections::BTreeMap;
use std::ops::ControlFlow;

use npsim_observe::profile::{Collector, ProgramCycleBreakdown};
use npsim_session::simulation::Simulation;

use crate::runs::Run;

/// Cycles in which the program calls, is interrupted, waits and ends.
const END: u64 = 100_000;
/// Cycles after which runs are split: not a multiple of anything.
const STEP: u64 = 797;
/// A function's own time, and the number of its calls.
type Functions = BTreeMap<String, (ProgramCycleBreakdown, u64)>;

fn advance(run: &Run, simulation: &mut Simulation, collector: &mut Collector, pause: u64) {
    let mut progress = |_, _: &_| ControlFlow::Continue(());
    let _ = simulation.run_to(pause, &mut run.links(), collector, &mut progress);
}

/// The functions of a profile at a cycle.
fn functions(collector: Collector, end: u64) -> Functions {
    let profile = collector.finish(end);
    let functions = profile.programs[0].functions().into_iter();
    functions
        .map(|it| (it.function, (it.own, it.calls)))
        .collect()
}

fn whole(run: &Run) -> Functions {
    let mut simulation = run.simulation(Some(END));
    let mut collector = Collector::new(simulation.chip());
    advance(run, &mut simulation, &mut collector, END);
    functions(collector, simulation.now())
}

#[test]
fn stepped_run_gives_the_same_function_profile() {
    for program in ["calls", "thumb"] {
        let (run, _folder) = Run::core_program(program);
        let whole = whole(&run);
        assert!(whole.len() > 10, "{whole:?}");
        let mut simulation = run.simulation(Some(END));
        let mut collector = Collector::new(simulation.chip());
        for pause in (STEP..END).step_by(STEP as usize).chain([END]) {
            advance(&run, &mut simulation, &mut collector, pause);
        }
        let steps = functions(collector, simulation.now());
        assert_eq!(steps, whole, "{program}");
    }
}
