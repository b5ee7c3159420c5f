//! `npsim network`: runs hosts that react, in a network of links, queues and routers.

mod arguments;
mod captures;
pub mod chain;
mod drive;
mod outputs;
pub mod recorded;
mod summary;
mod taps;

use std::path::Path;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use npsim::problem::{Problem, Problems};
use npsim::project::Overrides;
use npsim::project::assemble::assemble_project;
use npsim::registry;
use npsim_network::{Network, Simulation, Stopped};
use npsim_network_file::advisories::advisories;
use npsim_network_file::checkpoint::{self, Checkpoint, NetworkProgress, checkpoint_inputs};
use npsim_network_file::chips::systems;
use npsim_network_file::file::NetworkFile;
use npsim_network_file::results::Results;
use npsim_transport::time::SECOND;

use super::format;
use super::interrupt::{INTERRUPTED, interrupt_flag};
use super::run::results::show_fault;
use super::saved_command::run_or_resume;
use super::saver::{Saver, refuse_earlier_end};
use super::value::threads;
use crate::output;
pub use arguments::Arguments;
use arguments::FileTime;
use drive::Driver;
use outputs::Outputs;
use recorded::{Recorded, Recording};

/// The number of samples in a series whose interval is not given.
const SAMPLES: u64 = 1_000;

/// The number of checkpoints of a run whose interval is not given.
const CHECKPOINTS: u64 = 20;

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    run_or_resume(arguments, execute)
}

/// Loads a network or chain from its file, with the changes given by options.
fn load(
    arguments: &Arguments,
    path: &Path,
    recording: Option<&Recording<'_>>,
) -> Result<NetworkFile, Problems> {
    let mut file = match arguments.chain(path) {
        Some(chain) => chain.load(&Overrides {
            set: arguments.set.clone(),
            ..Overrides::default()
        })?,
        None => NetworkFile::load(path, &arguments.set)?,
    };
    if let Some(FileTime(until)) = arguments.until {
        file.until = (until / file.scale).max(1);
        if file.until <= file.from {
            let message = "--until lies before the file's `from`: nothing would be measured";
            return Err(Problem::new(message).into());
        }
    }
    if let Some(seed) = arguments.seed.or_else(|| recording?.seed()) {
        file.reseed(seed);
    }
    Ok(file)
}

/// Runs from the start, or from a checkpoint.
fn execute(arguments: &Arguments, checkpoint: Option<&Checkpoint>) -> anyhow::Result<ExitCode> {
    let Some(path) = &arguments.file else {
        return Err(Problem::new("there is nothing to run")
            .help("name a network's file")
            .into());
    };
    outputs::claim(arguments)?;
    let recording = Recording::of(arguments, path)?;
    let mut file = load(arguments, path, recording.as_ref())?;
    let mut recorded = if let Some(recording) = &recording {
        Some(recording.replay(&mut file, arguments.until.is_some())?)
    } else {
        file.refuse_interfaces()?;
        None
    };
    let mut systems = systems(&file, &registry(), &assemble_project)?;
    if let Some(recording) = &recording {
        recording.plan_changes(&file.topology, &mut systems)?;
    }
    outputs::check(arguments, path, &systems)?;
    let advisories = advisories(&file, &systems);
    let packet_simulation = Simulation::new(file.topology.clone())?;
    let network = Network::on_core(packet_simulation, systems, arguments.core.kind())?;
    let mut network = network.with_threads(threads(arguments.threads));
    let saving = arguments.saving.checkpoint.as_deref();
    if saving.is_some() || checkpoint.is_some() {
        network.check_savable()?;
    }
    let every = { arguments.saving.checkpoint_every }
        .map_or(file.until / CHECKPOINTS, |it| it.0 / file.scale);
    let saver = Saver::new(saving, checkpoint, every.max(1), || {
        let text = std::fs::read(path).map_err(|error| Problem::io("read", path, &error))?;
        checkpoint_inputs(path, &text, &network)
    })?;
    let every = { arguments.every }.map_or(file.until / SAMPLES, |it| it.0 / file.scale);
    let mut run_progress = NetworkProgress::new(&network, every);
    if let Some(checkpoint) = checkpoint {
        refuse_earlier_end(checkpoint, Some(file.until), |time| {
            format!("{} s", time as f64 * file.scale as f64 / SECOND as f64)
        })?;
        run_progress = checkpoint::restore(checkpoint, &mut network)?;
    }
    let sampled = run_progress.sampled.take();
    if let (Some(recorded), Some(path)) = (&mut recorded, &arguments.out) {
        recorded.capture(path)?;
    }
    let outputs = Outputs::open(arguments, &file, &mut network, checkpoint, sampled)?;
    for advisory in advisories {
        output::line(&format!("note: {advisory}"));
    }
    let started = Instant::now();
    let before = Duration::from_nanos(checkpoint.map_or(0, Checkpoint::host_nanoseconds));
    let mut driver = Driver {
        file: &file,
        network,
        recorded,
        outputs,
        run_progress,
        saver,
    };
    let stopped = driver.run(started, &interrupt_flag())?;
    let Driver {
        network,
        recorded,
        outputs,
        run_progress,
        ..
    } = driver;
    let results = Results::of(&file, &network, &run_progress.begin);
    outputs.finish(&network, &results)?;
    recorded.map_or(Ok(()), Recorded::finish)?;
    if !arguments.quiet && arguments.format.is_json() {
        format::json(&results)?;
    } else if !arguments.quiet {
        let host = summary::HostCost {
            took: before + started.elapsed(),
            skipped: network.skipped(),
        };
        let interrupted = matches!(stopped, Some(Stopped::Interrupted));
        output::print_text(&summary::text(
            &results,
            &host,
            interrupted,
            output::width(),
        ))?;
    }
    report_end(stopped, &network, &results)
}

fn report_end(
    stopped: Option<Stopped>,
    network: &Network,
    results: &Results,
) -> anyhow::Result<ExitCode> {
    match stopped {
        None => Ok(ExitCode::SUCCESS),
        Some(Stopped::Interrupted) => Ok(ExitCode::from(INTERRUPTED)),
        Some(Stopped::Frame(problem)) => Err(problem.into()),
        Some(Stopped::Fault(router)) => {
            if let Some((fault, system, state)) = network.fault(router) {
                let result = &results.routers[router];
                output::line(&format!("\nrouter `{}`:", result.name));
                show_fault(fault, &system.programs, &state, result.node.fault.as_ref());
            }
            Ok(ExitCode::from(3))
        }
    }
}
