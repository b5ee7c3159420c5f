//! `npsim run`: microcode on a chip, with or without traffic.

use std::io::IsTerminal;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::Context as _;
use clap::Args;
use clap::builder::TypedValueParser;
use indicatif::{ProgressBar, ProgressStyle};
use npsim::assemble::{Program, assemble_project_with};
use npsim::diagnostics::{render_fault, render_problem};
use npsim::problem::Problem;
use npsim::project::Project;
use npsim::quantity::Time;
use npsim::report::Report;
use npsim::simulation::{Ending, Settings, Simulation};
use npsim::summary::summary;
use npsim::wires::Wires;
use npsim_chip::check::{Check, Fault};
use npsim_net::Ratio;
use npsim_net::capture::Capture;
use npsim_net::egress::PcapSink;
use npsim_net::pace::{Pace, PortAssignment, PortLine, Schedule, schedule};

use super::message_options::MessageOptions;
use super::source_options::SourceOptions;
use crate::output;

const EXAMPLES: &str = "\
Examples:
  npsim run microcode/forward --trace traces/mixed.pcap --out out.pcap --stats out.json
  npsim run microcode/forward --trace traces/mixed.pcap --pace line      as fast as the lines go
  npsim run microcode/forward --trace traces/mixed.pcap --pace 2.5Mpps --ports flow
  npsim run firmware.uc --until 500us --explain       one source without traffic, defaults shown
  npsim run firmware.uc --trace in.pcap --me 0-3      the same source on four microengines
  npsim run firmware.uc --trace in.pcap --allow uninitialised-read

Exit code 3 means that a check stopped the run; what was captured until then is saved.";

/// Run a project, or a single source, on the simulated chip
///
/// TARGET is a project file, the folder of an `npsim.toml`, or one `.uc`. A single
/// source runs in a default project (one microengine, three gigabit ports, 512
/// packet buffers, four rings), which --explain shows and `npsim new` writes out.
///
/// With --trace the frames of a capture arrive at the ports, and the run ends when
/// all of them have arrived and the media interface has been at rest for the drain
/// time. Without it the run goes on until --until, or until nothing can happen.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Project file, its folder, or one `.uc`
    target: PathBuf,
    /// Capture whose frames arrive at the ports (pcap or pcapng, also gzipped)
    #[arg(long, value_name = "IN.pcap")]
    trace: Option<PathBuf>,
    /// Write the frames that leave as a capture
    #[arg(long, value_name = "OUT.pcap")]
    out: Option<PathBuf>,
    /// Write all counts as JSON (docs/src/stats.md); the same inputs give the same bytes
    #[arg(long, value_name = "FILE.json")]
    stats: Option<PathBuf>,
    /// Microengines that run the source: `0`, `0-3`, `0-2,4`
    ///
    /// Only where there is one source; a project with several says in its file
    /// which runs where.
    #[arg(long, value_name = "RANGE")]
    me: Option<String>,
    /// When frames arrive: `trace` (times of the capture), `2x` (twice as fast), `line` (back to back), or a rate such as `200kpps`
    #[arg(long, value_name = "PACE", default_value = "trace", requires = "trace", value_parser = parser::<Pace>())]
    pace: Pace,
    /// Play the capture X times as fast; the same as `--pace Xx`
    #[arg(long, value_name = "X", requires = "trace", conflicts_with = "pace", value_parser = parser::<Ratio>())]
    speed: Option<Ratio>,
    /// How frames are given to ports: `interface` (of the capture), `round-robin`, `flow`, or a port number
    #[arg(long, value_name = "HOW", default_value = "interface", requires = "trace", value_parser = parser::<PortAssignment>())]
    ports: PortAssignment,
    /// Stop at this time: `2ms`, `500us`, or `100000` (cycles)
    #[arg(long, value_name = "TIME", required_unless_present_any = ["trace", "explain"], value_parser = parser::<Time>())]
    until: Option<Time>,
    /// How long the media interface must be at rest after the last frame
    #[arg(long, value_name = "TIME", default_value = "100us", value_parser = parser::<Time>())]
    drain: Time,
    /// Go on where this check would stop the run (`npsim checks` lists them); may be repeated
    #[arg(long, value_name = "CHECK", value_parser = parser::<Check>())]
    allow: Vec<Check>,
    #[command(flatten)]
    source: SourceOptions,
    #[command(flatten)]
    pub messages: MessageOptions,
    /// Print everything the run takes for granted: the default project, memory map, names; without --trace and --until nothing is run
    #[arg(long)]
    explain: bool,
    /// Print no summary
    #[arg(short, long)]
    quiet: bool,
}

/// Reads a value with its `FromStr`, whose message then stands in the usage error.
fn parser<T>() -> impl TypedValueParser<Value = T>
where
    T: std::str::FromStr + Clone + Send + Sync + 'static,
    T::Err: std::fmt::Display,
{
    clap::builder::NonEmptyStringValueParser::new()
        .try_map(|text| text.parse::<T>().map_err(|error| error.to_string()))
}

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let project = Project::load(
        &arguments.target,
        &arguments.source.overrides(arguments.me.clone()),
    )?;
    if arguments.explain {
        output::print(&(project.explain() + "\n"))?;
        if arguments.trace.is_none() && arguments.until.is_none() {
            return Ok(ExitCode::SUCCESS);
        }
    }
    let (programs, messages) = assemble_project_with(&project, &arguments.messages.lints());
    arguments.messages.show(&messages);
    let Some(programs) = programs else {
        return Ok(ExitCode::from(1));
    };
    let capture = match &arguments.trace {
        Some(path) => Capture::open(path)?,
        None => Capture::default(),
    };
    let plan = plan(arguments, &project, &capture)?;
    let hertz = project.capacity.hertz;
    let settings = Settings {
        until: arguments.until.map(|time| time.cycles(hertz)),
        drain: arguments
            .trace
            .is_some()
            .then(|| arguments.drain.cycles(hertz)),
        allow: arguments.allow.clone(),
    };
    let mut simulation = Simulation::new(&project, &programs, settings)?;
    let sink = match &arguments.out {
        Some(path) => {
            Some(PcapSink::create(path).map_err(|error| Problem::io("write", path, &error))?)
        }
        None => None,
    };
    let mut wires = Wires::new(
        &capture.frames,
        &plan,
        capture.first_timestamp_ns,
        hertz,
        sink,
    );
    let started = Instant::now();
    let mut progress = Progress::new(
        started,
        wires.arrivals_end(),
        arguments.until.map(|time| time.cycles(hertz)),
    );
    let ending = simulation.run(&mut wires, &mut |cycle, _| progress.at(cycle));
    let host_seconds = started.elapsed().as_secs_f64();
    progress.finish();
    let traffic = match (wires.finish(simulation.now()), &arguments.out) {
        (Ok(traffic), _) => traffic,
        (Err(error), Some(path)) => return Err(Problem::io("write", path, &error).into()),
        (Err(error), None) => return Err(error.into()),
    };
    let fault = if let Ending::Fault(fault) = &ending {
        Some(&**fault)
    } else {
        None
    };
    let report = Report::new(
        &project.name,
        &ending,
        fault.and_then(|fault| place(fault, &programs)),
        &traffic,
        simulation.stats(),
    );
    // A file that cannot be written must not hide a fault: it is told last.
    let stats_written = match &arguments.stats {
        Some(path) => npsim::stats_file::write(path, &report)
            .map_err(|error| Problem::io("write", path, &error)),
        None => Ok(()),
    };
    remarks(&capture, &plan);
    if !arguments.quiet {
        output::print(&summary(&report, host_seconds))?;
    }
    let Some(fault) = fault else {
        stats_written?;
        return Ok(ExitCode::SUCCESS);
    };
    let program = fault
        .me
        .and_then(|me| programs.iter().find(|program| program.me == me));
    output::line("");
    output::message(&render_fault(
        fault,
        program.map(|program| (&program.image, &program.sources)),
    ));
    // A deadlock's notes have these lines already.
    for line in simulation
        .state_report()
        .iter()
        .filter(|line| !fault.notes.contains(line))
    {
        output::line(line);
    }
    if let Err(problem) = stats_written {
        output::message(&render_problem(&problem));
    }
    Ok(ExitCode::from(3))
}

fn plan(arguments: &Arguments, project: &Project, capture: &Capture) -> anyhow::Result<Schedule> {
    if arguments.trace.is_none() {
        return Ok(Schedule::default());
    }
    let lines: Vec<_> = project
        .boot
        .ports
        .iter()
        .map(|port| PortLine {
            bits_per_second: port.bits_per_second,
        })
        .collect();
    let pace = arguments
        .speed
        .map_or(arguments.pace, |speed| Pace::Trace { speed });
    schedule(&capture.frames, &lines, arguments.ports, pace)
        .context("the capture cannot be put on the project's ports")
}

/// What a reader of the results should know about the capture.
fn remarks(capture: &Capture, plan: &Schedule) {
    if capture.truncated_frames > 0 {
        output::line(&format!(
            "note: the capture holds only the beginning of {} frames; they were played as short as they are",
            capture.truncated_frames
        ));
    }
    if capture.reordered > 0 {
        output::line(&format!(
            "note: {} frames of the capture had times before the frame before them",
            capture.reordered
        ));
    }
    if plan.waited > 0 {
        output::line(&format!(
            "note: {} frames came later than asked for, by up to {} ns, because the line was busy",
            plan.waited,
            plan.max_wait_ps / 1000
        ));
    }
}

fn place(fault: &Fault, programs: &[Program]) -> Option<String> {
    let program = programs
        .iter()
        .find(|program| Some(program.me) == fault.me)?;
    Some(program.image.place(fault.pc?))
}

/// A bar on standard error, only on a terminal and only when the run is long.
struct Progress {
    started: Instant,
    end: u64,
    bar: Option<ProgressBar>,
}

impl Progress {
    fn new(started: Instant, arrivals_end: u64, until: Option<u64>) -> Self {
        let end = match until {
            Some(until) if arrivals_end > 0 => until.min(arrivals_end),
            Some(until) => until,
            None => arrivals_end,
        };
        Self {
            started,
            end,
            bar: None,
        }
    }

    fn at(&mut self, cycle: u64) {
        if self.bar.is_none()
            && std::io::stderr().is_terminal()
            && self.started.elapsed() > Duration::from_secs(1)
        {
            let bar = ProgressBar::new(self.end);
            if let Ok(style) = ProgressStyle::with_template(
                "{bar:40} {percent}% of the traffic, {elapsed}, {eta} to go",
            ) {
                bar.set_style(style);
            }
            self.bar = Some(bar);
        }
        if let Some(bar) = &self.bar {
            bar.set_position(cycle.min(self.end));
        }
    }

    fn finish(self) {
        if let Some(bar) = self.bar {
            bar.finish_and_clear();
        }
    }
}
