//! `npsim network`: hosts that react, in a network of links, queues and routers.

mod captures;
mod report;
mod summary;

use std::io::{BufWriter, Write as _};
use std::num::NonZero;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;
use std::str::FromStr;
use std::sync::atomic::Ordering;
use std::thread;
use std::time::Instant;

use clap::{ArgGroup, Args};
use npsim::problem::Problem;
use npsim::project::Setting;
use npsim::project::assemble::assemble_project;
use npsim::quantity;
use npsim::whole_file::WholeFile;
use npsim_network::chips::systems;
use npsim_network::file::NetworkFile;
use npsim_network::remarks::remarks;
use npsim_network::results::Results;
use npsim_network::series::{Sampler, Series};
use npsim_network::{Network, Simulation, Stopped};

use super::interrupt::{INTERRUPTED, interrupt_flag};
use super::run::progress::Progress;
use super::run::results::show_fault;
use super::value;
use crate::output;
use captures::Captures;
use report::Report;

/// Samples of a series whose distance is not given.
const SAMPLES: u64 = 1_000;
/// Steps of a run between which Ctrl-C is looked at, and the bar moved.
const STEPS: u64 = 1_000;

const EXAMPLES: &str = "\
Examples:
  npsim network traces/networks/dumbbell.toml    a line for each flow and each watched link
  npsim network dumbbell.toml --seed 2 --until 60s
  npsim network dumbbell.toml --set link.bottleneck.queue.limit=0.5bdp --set flow.tcp.step=15s
  npsim network dumbbell.toml --series dumbbell.csv --every 100ms
  npsim network dumbbell.toml --capture bottleneck=bottleneck.pcap
  npsim network dumbbell.toml --stats - --quiet | jq .jain

Exit codes: 0 done; 1 a mistake in what was given; 3 the microcode of a router went wrong;
130 ended by Ctrl-C, with what had happened until then.";

/// Run a network of hosts, links and routers
///
/// FILE says which hosts there are, how they are joined, and what they send to each other by
/// which rules (TCP, XCP, RCP, Quick-Start...); docs/src/networks.md describes it. Times and
/// rates in what is printed and written are those of the file, whatever its scale.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
#[command(group = ArgGroup::new("sampled").args(["series", "report"]).multiple(true))]
pub struct Arguments {
    /// The network's file
    file: PathBuf,
    /// End the run here instead of where the file says, such as `60s`
    #[arg(long, value_name = "TIME", value_parser = value::parser::<Moment>())]
    until: Option<Moment>,
    /// Change one key of the file, such as `router.r1.xcp.capacity=12Mbps`, `host.s.count=8` or
    /// `link.bottleneck.queue.kind=red`; may be repeated
    #[arg(long, value_name = "KEY=VALUE", value_parser = value::parser::<Setting>())]
    set: Vec<Setting>,
    /// Draw what is random from another seed than the file's
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
    /// Write all results as JSON; `-` is standard output, in place of the summary
    #[arg(long, value_name = "FILE")]
    stats: Option<PathBuf>,
    /// Write windows, rates and queues over time as CSV
    #[arg(long, value_name = "FILE")]
    series: Option<PathBuf>,
    /// Write the run as one page, DIR/index.html, with queues, windows and rates over time
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
    /// Time from one sample of series and report to the next; a thousandth of the run if left out
    #[arg(long, value_name = "TIME", requires = "sampled", value_parser = value::parser::<Moment>())]
    every: Option<Moment>,
    /// Write what a link carries, both ways, with made-up Ethernet addresses; FILE ends in .pcap,
    /// or in .pcapng for an interface at each end of each link of this file and for drops and
    /// losses with comments; may be given several times
    #[arg(long, value_name = "LINK=FILE", value_parser = value::parser::<LinkCapture>())]
    capture: Vec<LinkCapture>,
    /// How many routers that are chips run at a time; the results are the same with any number
    /// [default: one for each core]
    #[arg(long, value_name = "T", value_parser = clap::value_parser!(u16).range(1..=1024))]
    threads: Option<u16>,
    /// Print no summary
    #[arg(short, long)]
    quiet: bool,
}

/// A time of the file, in picoseconds.
#[derive(Clone, Copy, Debug)]
pub struct Moment(u64);

impl FromStr for Moment {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.parse()? {
            quantity::Time::Picoseconds(time) if time > 0 => Ok(Self(time)),
            _ => Err(format!(
                "`{text}` is no time of a network; write for example `60s`"
            )),
        }
    }
}

/// `LINK=FILE`.
#[derive(Clone, Debug)]
pub struct LinkCapture {
    link: String,
    file: PathBuf,
}

impl FromStr for LinkCapture {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        match text.split_once('=') {
            Some((link, file)) if !link.is_empty() && !file.is_empty() => Ok(Self {
                link: link.to_owned(),
                file: file.into(),
            }),
            _ => Err(format!(
                "`{text}` is not LINK=FILE, such as `bottleneck=out.pcap`"
            )),
        }
    }
}

fn threads(arguments: &Arguments) -> usize {
    let cores = || thread::available_parallelism().map_or(1, NonZero::get);
    arguments.threads.map_or_else(cores, usize::from)
}

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let mut file = NetworkFile::load(&arguments.file, &arguments.set)?;
    if let Some(Moment(until)) = arguments.until {
        file.until = (until / file.scale).max(1);
        if file.until <= file.from {
            let message = "--until lies before the file's `from`: nothing would be measured";
            return Err(Problem::new(message).into());
        }
    }
    if let Some(seed) = arguments.seed {
        file.reseed(seed);
    }
    let systems = systems(&file, &npsim::registry(), &assemble_project)?;
    let mut captures = Captures::create(&file, &arguments.capture)?;
    let mut series = match &arguments.series {
        None => None,
        Some(path) => {
            let out =
                WholeFile::create(path).map_err(|error| Problem::io("write", path, &error))?;
            Some(Series::new(BufWriter::new(out))?)
        }
    };
    let mut report = match &arguments.report {
        None => None,
        Some(folder) => Some(Report::create(folder)?),
    };
    let stats = match &arguments.stats {
        Some(path) if path.as_os_str() != "-" => Some((
            path,
            WholeFile::create(path).map_err(|error| Problem::io("write", path, &error))?,
        )),
        _ => None,
    };
    let every = arguments
        .every
        .map_or(file.until / SAMPLES, |it| it.0 / file.scale);
    let every = every.max(1);
    for remark in remarks(&file, &systems) {
        output::line(&format!("note: {remark}"));
    }
    let outside = Simulation::new(file.topology.clone())?;
    let mut network = Network::new(outside, systems)?.with_threads(threads(arguments));
    let started = Instant::now();
    let mut progress = Progress::new(started, 0, Some(file.until));
    let stop = interrupt_flag();
    let step = (file.until / STEPS).max(1);
    let mut begin = network.outside().census();
    let sampled = series.is_some() || report.is_some();
    let mut sampler = Sampler::new(file.scale);
    let mut sample = |network: &Network| {
        sampler.sample(network.outside(), &mut |sample| {
            if let Some(report) = &mut report {
                report.tracks.add(sample);
            }
            match &mut series {
                Some(series) => series.write(sample),
                None => Ok(()),
            }
        })
    };
    if sampled {
        sample(&network)?;
    }
    let ask = || {
        if stop.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let mut stopped = None;
    while network.outside().now() < file.until {
        let now = network.outside().now();
        let multiple = |of: u64| (now / of + 1).saturating_mul(of);
        let mut next = multiple(step).min(file.until);
        if sampled {
            next = next.min(multiple(every));
        }
        if now < file.from {
            next = next.min(file.from);
        }
        let ran = network.run_to(next, &mut captures, &ask);
        captures.check()?;
        if let Err(why) = ran {
            stopped = Some(why);
            break;
        }
        if next == file.from {
            network.outside_mut().forget_longest_queues();
            begin = network.outside().census();
        }
        if sampled && next.is_multiple_of(every) {
            sample(&network)?;
        }
        progress.at(next);
        if ask().is_break() {
            stopped = Some(Stopped::Interrupted);
            break;
        }
    }
    if stopped.is_none() {
        stopped = network.end(&mut captures, &ask).err();
    }
    progress.finish();
    let interrupted = matches!(stopped, Some(Stopped::Interrupted));
    let results = Results::of(&file, &network, &begin);
    captures.finish()?;
    if let Some(series) = series {
        let out = series.finish()?.into_inner();
        out.map_err(std::io::IntoInnerError::into_error)?.commit()?;
    }
    if let Some(report) = report {
        report.finish(&results)?;
    }
    let json = serde_json::to_string_pretty(&results)? + "\n";
    if let Some((path, mut out)) = stats {
        let written = out.write_all(json.as_bytes());
        written
            .and_then(|()| out.commit())
            .map_err(|error| Problem::io("write", path, &error))?;
    } else if arguments.stats.is_some() {
        output::print(&json)?;
    }
    let to_output = arguments
        .stats
        .as_ref()
        .is_some_and(|path| path.as_os_str() == "-");
    if !arguments.quiet && !to_output {
        let host = summary::Host {
            took: started.elapsed(),
            skipped: network.skipped(),
        };
        output::print(&summary::text(&results, &host, interrupted))?;
    }
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
