//! `npsim run`: microcode on a chip, with or without traffic.

mod arguments;
mod checkpoints;
mod hops;
mod observers;
mod outputs;
mod progress;
mod report;
mod results;
mod resume;
mod saver;
mod source;

use std::ops::ControlFlow;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use npsim::assemble::assemble_project_with;
use npsim::checkpoint::{Checkpoint, inputs};
use npsim::links::{Links, Traffic};
use npsim::memory_dump;
use npsim::problem::Problem;
use npsim::project::Project;
use npsim::remarks;
use npsim::simulation::{Ending, Settings, Simulation};
use npsim_chip::Cycle;
use npsim_chip::kernel::observer::Observer;

use super::interrupt::interrupt_flag;
use crate::output;
pub use arguments::Arguments;
use progress::Progress;
use results::Ended;
use saver::Saver;
use source::Source;

/// Simulated milliseconds after which a run without --trace and --until is given
/// up: what rests at all without traffic rests long before.
const PATIENCE_MS: u64 = 100;

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let Some(path) = arguments.saving.resume() else {
        return execute(arguments, None);
    };
    let (arguments, checkpoint) = resume::resumed(arguments, path)?;
    execute(&arguments, Some(&checkpoint)).inspect_err(|_| resume::tell_folder(&checkpoint))
}

/// Runs from the start, or from where a checkpoint stands.
fn execute(arguments: &Arguments, checkpoint: Option<&Checkpoint>) -> anyhow::Result<ExitCode> {
    let Some(target) = &arguments.target else {
        return Err(Problem::new("there is nothing to run")
            .help("name a project file, its folder, or a source")
            .into());
    };
    hops::refuse(arguments)?;
    let mut overrides = arguments.source.overrides(arguments.me.clone());
    overrides.stalls.clone_from(&arguments.stall);
    let project = Project::load(target, &overrides, &npsim::registry())?;
    if let Some(remark) = remarks::of_ports(&project, arguments.source.board()) {
        output::line(&format!("note: {remark}"));
    }
    let load = source::load(arguments, &project)?;
    if arguments.explain {
        output::print(&(project.explain() + "\n"))?;
        if arguments.trace.is_none() && load.is_none() && arguments.until.is_none() {
            return Ok(ExitCode::SUCCESS);
        }
    }
    let (programs, messages) = assemble_project_with(&project, &arguments.messages.lints());
    arguments.messages.show(&messages);
    let Some(programs) = programs else {
        return Ok(ExitCode::from(1));
    };
    outputs::keep_inputs(arguments, &project, &programs)?;
    let dumps = arguments
        .dump
        .iter()
        .map(|request| Ok((memory_dump::find(&project, &request.name)?, &request.file)))
        .collect::<Result<Vec<_>, Problem>>()?;
    let source = Source::open(arguments, &project, load)?;
    let hertz = project.capacity.hertz;
    let open_end = !source.comes() && arguments.until.is_none();
    let until = match arguments.until {
        Some(time) => Some(time.cycles(hertz)),
        None => open_end.then(|| hertz / 1000 * PATIENCE_MS),
    };
    let settings = Settings {
        until,
        drain: source.comes().then(|| arguments.drain.cycles(hertz)),
        allow: arguments.allow.clone(),
        seed: arguments.seed,
        core: arguments.core.0,
    };
    if arguments.chain.hops() > 1 {
        return hops::run(arguments, &project, &programs, &source, settings);
    }
    let mut simulation = Simulation::new(&project, &programs, settings.clone())?;
    let mut inputs = Vec::new();
    if arguments.saving.checkpoint().is_some() {
        inputs = inputs::of_simulation(&project, &programs, &simulation)?;
        inputs.extend(source.inputs(arguments)?);
    }
    let mut saver = Saver::new(arguments, checkpoint, hertz, inputs)?;
    let mut links = source.links(saver::sink(arguments, checkpoint)?)?;
    if let Some(checkpoint) = checkpoint {
        saver::restore(checkpoint, &mut simulation, &mut links, until)?;
    }
    let started = Instant::now();
    let mut progress = Progress::new(started, source.arrivals_end(), until);
    let stop = interrupt_flag();
    let mut wanted = arguments.observers.wanted();
    if arguments.report.is_some() {
        wanted = wanted.and_report();
    }
    let mut observers = wanted.open(&project, simulation.chip())?;
    let mut each = |cycle, _: &Traffic| {
        progress.at(cycle);
        if stop.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    if let Some(saver) = &mut saver {
        saver.save(&simulation, &mut links)?;
    }
    let ending = to_the_end(
        &mut simulation,
        &mut links,
        &mut observers,
        &mut each,
        saver,
    );
    let before = Duration::from_nanos(checkpoint.map_or(0, Checkpoint::host_nanoseconds));
    let host_seconds = (before + started.elapsed()).as_secs_f64();
    progress.finish();
    let unread = links.input_failure().map(ToString::to_string);
    let traffic = match (links.finish(simulation.now()), &arguments.out) {
        (Ok(traffic), _) => traffic,
        (Err(error), Some(path)) => return Err(Problem::io("write", path, &error).into()),
        (Err(error), None) => return Err(error.into()),
    };
    Ended {
        arguments,
        project: &project,
        programs: &programs,
        source: &source,
        simulation,
        ending,
        traffic,
        unread,
        observers,
        dumps,
        host_seconds,
        open_end,
    }
    .tell()
}

/// Runs on, and saves the run where the saver says.
fn to_the_end(
    simulation: &mut Simulation,
    links: &mut Links<'_>,
    observer: &mut dyn Observer,
    each: &mut dyn FnMut(Cycle, &Traffic) -> ControlFlow<()>,
    mut saver: Option<Saver>,
) -> Ending {
    let ending = loop {
        let pause = saver.as_ref().map_or(Cycle::MAX, Saver::next);
        if let Some(ending) = simulation.run_to(pause, links, observer, each) {
            break ending;
        }
        if let Some(saver) = &mut saver {
            saver.try_save(simulation, links);
        }
    };
    // Both could go on: with a later `--until`, or as if nothing had been.
    if matches!(ending, Ending::Reached | Ending::Interrupted)
        && let Some(saver) = &mut saver
    {
        saver.try_save(simulation, links);
    }
    ending
}
