//! `npsim run --hops`: routers of one project, one behind the other.

use std::num::NonZero;
use std::process::ExitCode;
use std::thread;
use std::time::Instant;

use clap::Args;
use npsim::assemble::Program;
use npsim::chain::report::{ChainReport, worst};
use npsim::chain::{Chain, ChainError, Ends, Hop, MOST_HOPS, Plan};
use npsim::problem::Problem;
use npsim::project::Project;
use npsim::remarks;
use npsim::simulation::{Ending, Settings};
use npsim_chip::kernel::check::Fault;
use npsim_net::egress::PcapSink;

use super::Arguments;
use super::progress::Progress;
use super::results;
use super::source::Source;
use crate::cmd::interrupt::{INTERRUPTED, interrupt_flag};
use crate::output;

/// The options of a chain.
#[derive(Clone, Debug, Args)]
#[command(next_help_heading = "A chain of routers")]
pub struct HopsOptions {
    /// Put N routers one behind the other: what leaves one by a port comes in at the same port of the next (docs/src/hops.md)
    ///
    /// All are of this project. Traffic comes in at the first one, --out has what
    /// leaves the last one, --stats counts each of them. The project's [chain] says
    /// how long a link takes.
    #[arg(long, value_name = "N", default_value = "1", hide_default_value = true, value_parser = clap::value_parser!(u16).range(1..=MOST_HOPS as i64))]
    hops: u16,
    /// How many routers run at a time; the results are the same with any number [default: one for each core]
    #[arg(long, value_name = "T", requires = "hops", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
}

impl HopsOptions {
    /// How many routers there are.
    pub fn hops(&self) -> usize {
        usize::from(self.hops)
    }

    fn threads(&self) -> usize {
        self.threads.map_or_else(
            || thread::available_parallelism().map_or(1, NonZero::get),
            usize::from,
        )
    }
}

/// Refuses what is about one chip where there are several.
pub fn refuse(arguments: &Arguments) -> Result<(), Problem> {
    let hops = arguments.chain.hops();
    if hops == 1 {
        return Ok(());
    }
    let saved = arguments.saving.checkpoint().map(|_| "--checkpoint");
    let page = arguments.report.as_ref().map(|_| "--report");
    let dump = (!arguments.dump.is_empty()).then_some("--dump");
    let given = saved.or(page).or(dump).or(arguments.observers.given());
    given.map_or(Ok(()), |option| {
        Err(Problem::new(format!(
            "`{option}` is about one chip, and `--hops {hops}` makes {hops} of them"
        ))
        .help("leave one of the two out; `--stats` has the counts of every router"))
    })
}

/// Runs a chain, writes the files and prints the summary.
pub fn run(
    arguments: &Arguments,
    project: &Project,
    programs: &[Program],
    source: &Source<'_>,
    settings: Settings,
) -> anyhow::Result<ExitCode> {
    if !source.comes() {
        return Err(Problem::new("nothing comes in at the first router")
            .help("give it traffic with `--trace IN.pcap` or `--load 0.5`, or leave `--hops` out")
            .into());
    }
    let until = settings.until;
    let chain = Chain::new(&Plan {
        project,
        programs,
        settings,
        mark: None,
        hops: arguments.chain.hops(),
        threads: arguments.chain.threads(),
    })?;
    let sink = { arguments.out.as_deref() }
        .map(|path| PcapSink::create(path).map_err(|error| Problem::io("write", path, &error)))
        .transpose()?;
    let (frames, origin_ns) = source.frames()?;
    let ends = Ends {
        frames,
        origin_ns,
        sink,
        entry: None,
        exit: None,
    };
    let started = Instant::now();
    let mut progress = Progress::new(started, source.arrivals_end(), until);
    let stop = interrupt_flag();
    let hops = chain
        .run(ends, &stop, &mut |cycle| progress.at(cycle))
        .map_err(|error| match (error, &arguments.out) {
            (ChainError::Capture(error), Some(path)) => Problem::io("write", path, &error),
            (error, _) => {
                Problem::new(error.to_string()).help("give it fewer routers with `--hops`")
            }
        })?;
    progress.finish();
    let host_seconds = started.elapsed().as_secs_f64();
    let load = source.load.as_ref();
    let report = ChainReport::new(project, programs, arguments.seed, load, &hops);
    // A file that cannot be written must not hide a fault: it is told last.
    let written = match &arguments.stats {
        Some(path) => npsim::stats_file::write(path, &report)
            .map_err(|error| Problem::io("write", path, &error)),
        None => Ok(()),
    };
    results::tell_capture(source);
    if !arguments.quiet {
        output::print(&npsim::chain::summary::summary(&report, host_seconds))?;
        results::notes(remarks(arguments, &report).into_iter());
    }
    if let Some((hop, Ending::Fault(fault))) = worst(&hops) {
        show_fault(hop, fault, programs, &hops);
        return results::after_fault(written, Ok(()));
    }
    written?;
    if let Some(reason) = hops.into_iter().find_map(|hop| hop.unread) {
        return Err(results::changed(reason).into());
    }
    if report.ending == Ending::Interrupted.name() {
        return Ok(ExitCode::from(INTERRUPTED));
    }
    Ok(ExitCode::SUCCESS)
}

/// What may explain the results.
fn remarks(arguments: &Arguments, report: &ChainReport) -> Vec<String> {
    let mut lines = Vec::new();
    for router in &report.routers {
        let held = remarks::of_held_locks(&router.run);
        let held = held.into_iter();
        lines.extend(held.map(|line| format!("router {}: {line}", router.hop)));
    }
    let first = report.routers.first().map(|router| &router.run);
    lines.extend(first.and_then(|first| results::slow_arrivals(arguments, first)));
    lines
}

/// Shows the fault of the first router that has one, and which others have one.
fn show_fault(hop: usize, fault: &Fault, programs: &[Program], hops: &[Hop]) {
    output::line(&format!("\nrouter {hop}:"));
    let state = hops.get(hop - 1).map(|hop| hop.state_report.as_slice());
    results::show_fault(fault, programs, state.unwrap_or_default());
    for (other, behind) in (1..).zip(hops).skip(hop) {
        if let Ending::Fault(fault) = &behind.ending {
            output::line(&format!(
                "note: router {other} was stopped too, at cycle {}",
                fault.cycle
            ));
        }
    }
}
