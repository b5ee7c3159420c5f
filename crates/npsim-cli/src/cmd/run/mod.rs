//! `npsim run`: runs microcode on a chip, with or without traffic.

mod arguments;
pub mod observers;
pub mod outputs;
pub mod progress;
pub mod report;
pub mod results;
pub mod routers;
pub mod source;
pub mod system;

use std::ops::ControlFlow;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::Ordering;
use std::time::{Duration, Instant};

use npsim::checkpoint::{Checkpoint, inputs};
use npsim::memory_dump;
use npsim::observe::packets::Flows;
use npsim::observe::set::ObserverSet;
use npsim::problem::Problem;
use npsim::project::Project;
use npsim::quantity::Time;
use npsim::session::{Plan, RunStatus, Session};
use npsim::simulation::Ending;
use npsim::traffic::TrafficSource;
use npsim::xscale::Processor;
use npsim_chip::Cycle;
use npsim_chip::watch::Watcher;

use super::continued_outputs::OutputContinuation;
use super::interrupt::interrupt_flag;
use super::saved_command::run_or_resume;
use super::saver::{Saver, refuse_earlier_end};
use crate::output;
pub use arguments::Arguments;
use progress::RunProgress;
use results::Ended;

/// The default interval between checkpoints: 10 ms of simulated time.
const CHECKPOINT_EVERY: Time = Time::Picoseconds(10_000_000_000);

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    run_or_resume(arguments, execute)
}

/// Runs from the start, or from a checkpoint.
fn execute(arguments: &Arguments, checkpoint: Option<&Checkpoint>) -> anyhow::Result<ExitCode> {
    let Some(target) = &arguments.target else {
        return Err(Problem::new("there is nothing to run")
            .help("name a project file, its folder, or a source")
            .into());
    };
    outputs::claim(arguments)?;
    let project = Arc::new(arguments.system.project(target)?);
    let load = source::load(&arguments.system, &project)?;
    if arguments.explain {
        output::show(&(project.explain() + "\n"))?;
        if arguments.system.trace.is_none() && load.is_none() && arguments.system.until.is_none() {
            return Ok(ExitCode::SUCCESS);
        }
    }
    let Some(programs) = arguments.system.programs(&project)? else {
        return Ok(ExitCode::from(1));
    };
    outputs::check(arguments, &project, &programs)?;
    let dumps = arguments
        .dump
        .iter()
        .map(|request| Ok((memory_dump::find(&project, &request.name)?, &request.file)))
        .collect::<Result<Vec<_>, Problem>>()?;
    if arguments.uart.is_some() && project.boot.task::<Processor>().is_none() {
        return Err(
            Problem::new("`--uart` needs a program on the core, and the core runs none")
                .help("give the core one in the project: `[gpp] program = \"FILE.elf\"`")
                .into(),
        );
    }
    let source = TrafficSource::open(source::traffic(&arguments.system, load), &project)?;
    outputs::check_times(arguments.out.as_deref(), source.survey())?;
    let hertz = project.capacity.hertz;
    let open_end = arguments.system.limits().is_unbounded(&source);
    let settings = arguments.system.settings(hertz, &source);
    let until = settings.until;
    let hops = arguments.chain.hops();
    if hops > 1 && !source.has_traffic() {
        return Err(Problem::new("nothing comes in at the first router")
            .help("give it traffic with `--trace IN.pcap` or `--load 0.5`, or leave `--hops` out")
            .into());
    }
    let plan = Plan {
        project: Arc::clone(&project),
        programs: programs.into(),
        settings,
        mark: None,
        nodes: hops,
        threads: arguments.chain.threads(),
    };
    let flows = Flows::default();
    let mut ends = source.ends()?;
    ends.entry = arguments.observers.flow_tap(&flows);
    let mut session = Session::new(&plan, ends)?;
    let saving = arguments.saving.checkpoint.as_deref();
    let every = checkpoint_interval(arguments, hertz)?;
    let mut saver = Saver::new(saving, checkpoint, every, || {
        let mut inputs = inputs::of_session(&session)?;
        inputs.extend(source::inputs(&arguments.system, &source)?);
        Ok(inputs)
    })?;
    let continuation = OutputContinuation::of(checkpoint, saving)?;
    if let Some(sink) = outputs::capture(arguments, &project, continuation)? {
        session.capture_to(sink);
    }
    if let Some(checkpoint) = checkpoint {
        refuse_earlier_end(checkpoint, until, |cycle| format!("cycle {cycle}"))?;
        checkpoint.restore(&mut session)?;
    }
    let mut observers = observer_sets(arguments, &project, &session, &flows)?;
    let started = Instant::now();
    let mut progress = RunProgress::new(started, source.arrivals_end(), until);
    let stop = interrupt_flag();
    let mut each = |cycle| {
        progress.at(cycle);
        if stop.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    if let Some(saver) = &mut saver {
        saver.save(session.now(), |origin, host| {
            Checkpoint::take(origin, &mut session, host)
        })?;
    }
    let ending = run_to_end(&mut session, &mut observers, &mut each, saver);
    let before = Duration::from_nanos(checkpoint.map_or(0, Checkpoint::host_nanoseconds));
    let host_seconds = (before + started.elapsed()).as_secs_f64();
    progress.finish();
    match (session.finish(), &arguments.out) {
        (Ok(()), _) => {}
        (Err(error), Some(path)) => return Err(Problem::io("write", path, &error).into()),
        (Err(error), None) => return Err(error.into()),
    }
    Ended {
        arguments,
        source: &source,
        session,
        ending,
        observers,
        dumps,
        host_seconds,
        open_end,
    }
    .report()
}

/// The interval between checkpoints, in cycles.
fn checkpoint_interval(arguments: &Arguments, hertz: u64) -> anyhow::Result<Cycle> {
    let every = arguments.saving.checkpoint_every;
    let every = every.unwrap_or(CHECKPOINT_EVERY).cycles(hertz);
    if every == 0 {
        return Err(Problem::new(
            "`--checkpoint-every` is less than a cycle, so the run would never go on",
        )
        .help("give a longer time, such as `--checkpoint-every 1ms`")
        .into());
    }
    Ok(every)
}

/// The observers requested by the options, a set for each node.
fn observer_sets(
    arguments: &Arguments,
    project: &Project,
    session: &Session,
    flows: &Flows,
) -> Result<Vec<ObserverSet>, Problem> {
    let routers = arguments.chain.all().zip(session.nodes());
    routers
        .map(|(router, node)| {
            let mut wanted = arguments.observers.wanted(router, flows);
            if arguments.report.is_some() {
                wanted = wanted.and_report();
            }
            wanted.open(project, node.chip())
        })
        .collect()
}

/// Runs to the end, saving the run at the saver's intervals.
///
/// In a chain, a router that has reached `--until` holds back the routers behind it: the run is
/// then stalled, and its state is the last from which it could be resumed with a later `--until`.
/// It is therefore saved there for the last time, before the others are released to run to their
/// own ends (`Session::release_waiting`), from where the run could not be resumed that way.
fn run_to_end<P: Watcher + Send>(
    session: &mut Session,
    observers: &mut [P],
    each: &mut (dyn FnMut(Cycle) -> ControlFlow<()> + Send),
    mut saver: Option<Saver>,
) -> Ending {
    let try_save = |saver: &mut Option<Saver>, session: &mut Session| {
        if let Some(saver) = saver {
            saver.try_save(session.now(), |origin, host| {
                Checkpoint::take(origin, session, host)
            });
        }
    };
    loop {
        let pause = saver.as_ref().map_or(Cycle::MAX, Saver::next);
        match session.run_to_resumable(pause, observers, each) {
            RunStatus::Paused => try_save(&mut saver, session),
            RunStatus::Stalled => {
                // The last state from which a later `--until` can resume the run.
                try_save(&mut saver, session);
                saver = None;
                session.release_waiting();
            }
            RunStatus::Ended(ending) => {
                // Both can be resumed: the former with a later `--until`, the latter as if it had
                // not been interrupted.
                if matches!(ending, Ending::Reached | Ending::Interrupted) {
                    try_save(&mut saver, session);
                }
                return ending;
            }
        }
    }
}
