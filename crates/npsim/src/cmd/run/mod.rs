//! `npsim run`: microcode on a chip, with or without traffic.

mod eyes;
mod report;

use std::io::IsTerminal;
use std::ops::ControlFlow;
use std::path::PathBuf;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use clap::Args;
use indicatif::{ProgressBar, ProgressStyle};
use npsim::assemble::{Program, assemble_project_with};
use npsim::diagnostics::{render_fault, render_problem};
use npsim::memory_dump;
use npsim::problem::Problem;
use npsim::project::Project;
use npsim::quantity::Time;
use npsim::remarks;
use npsim::report::Report;
use npsim::series::Series;
use npsim::simulation::{Ending, Settings, Simulation};
use npsim::summary::summary;
use npsim::views::bottleneck;
use npsim::views::traffic_flow::TrafficFlow;
use npsim::whole_file::{same_file, write_whole};
use npsim::wires::{Frames, Traffic, Wires};
use npsim_chip::check::{Check, Fault};
use npsim_chip::chip::Chip;
use npsim_net::Ratio;
use npsim_net::egress::PcapSink;
use npsim_net::load::Load;
use npsim_net::pace::{Pace, PaceError, PortAssignment, PortLine, Replay, ReplayError};

use super::load_options::LoadOptions;
use super::message_options::MessageOptions;
use super::source_options::SourceOptions;
use super::value::parser;
use crate::output;
use eyes::EyesOptions;

const EXAMPLES: &str = "\
Examples:
  npsim run microcode/forward --trace traces/mixed.pcap --out out.pcap --stats out.json
  npsim run microcode/forward --trace traces/mixed.pcap --pace line      as fast as the lines go
  npsim run microcode/forward --trace traces/mixed.pcap --pace 2.5Mpps --ports flow
  npsim run microcode/forward --load 0.33 --size imix    made traffic, a third of the lines' rate
  npsim run microcode/forward --rate 1.2Mpps --arrivals poisson --time 5ms --stats out.json
  npsim run firmware.uc --until 500us --explain       one source without traffic, defaults shown
  npsim run firmware.uc --trace in.pcap --me 0-3      the same source on four microengines
  npsim run firmware.uc --trace in.pcap --allow uninitialised-read
  npsim run lab --until 1ms --dump TABLE=table.txt   the project's [[memory]] TABLE after the run
  npsim run firmware.npi --until 1ms --import TABLE=0x400   an image of `npsim asm -o`
  npsim run microcode/forward --load 0.5 --set me.forward.id=0,2 --set profile.sram.read=120
  npsim run microcode/forward --trace traces/mixed.pcap --profile --flame flame.svg
  npsim run microcode/forward --trace traces/mixed.pcap --timeline line.json.gz --window 1ms..1.2ms

Exit code 3 means that a check stopped the run; what was captured until then is saved.";

/// Run a project, or a single source, on the simulated chip
///
/// TARGET is a project file, the folder of an `npsim.toml`, one `.uc`, or firmware
/// that is assembled already: an image, or words in a `.hex` or `.bin`. A single
/// source runs in a default project (one microengine, three gigabit ports, 512
/// packet buffers, four rings), which --explain shows and `npsim new` writes out.
///
/// With --trace the frames of a capture arrive at the ports, and the run ends when
/// all of them have arrived and the media interface has been at rest for the drain
/// time. With --load or --rate, or a rate in the project's [load], frames are made
/// (docs/src/traffic.md): they come for --time, 1 ms if nothing is said, and the run
/// ends in the same way. Without either the run goes on until --until, or until
/// nothing can happen any more; a program that does not come to rest within 100 ms
/// needs --until.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Project file, its folder, one `.uc`, or assembled firmware
    target: PathBuf,
    /// Capture whose frames arrive at the ports (pcap or pcapng, also gzipped)
    #[arg(long, value_name = "IN.pcap", conflicts_with_all = ["load", "rate", "size", "arrivals", "burst", "flows", "destinations", "time"])]
    trace: Option<PathBuf>,
    /// Write the frames that leave as a capture
    #[arg(long, value_name = "OUT.pcap")]
    out: Option<PathBuf>,
    /// Write all counts as JSON (docs/src/stats.md); the same inputs give the same bytes
    #[arg(long, value_name = "FILE.json")]
    stats: Option<PathBuf>,
    /// Write the run as one page, DIR/index.html, and print what limits it (docs/src/report.md)
    ///
    /// The page needs no network and no other file: figures over time, where frames
    /// were lost, how busy everything is, the bottleneck in words, and a close look
    /// at the most interesting moment. The same inputs give the same bytes.
    #[arg(long, value_name = "DIR")]
    report: Option<PathBuf>,
    /// Write a [[memory]] or [[counter]] of the project as it is after the run, as hexadecimal longwords; may be repeated
    ///
    /// One longword a line, its byte address before it.
    #[arg(long, value_name = "NAME=FILE", value_parser = parser::<memory_dump::Request>())]
    dump: Vec<memory_dump::Request>,
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
    #[arg(long, value_name = "TIME", value_parser = parser::<Time>())]
    until: Option<Time>,
    /// How long the media interface must be at rest after the last frame
    #[arg(long, value_name = "TIME", default_value = "100us", value_parser = parser::<Time>())]
    drain: Time,
    /// Go on where this check would stop the run (`npsim checks` lists them); may be repeated
    #[arg(long, value_name = "CHECK", value_parser = parser::<Check>())]
    allow: Vec<Check>,
    /// Begin `PSEUDO_RANDOM_NUMBER` of each microengine with a value made from N, not with 1
    ///
    /// The same N gives the same run; another N gives firmware that draws random
    /// numbers other ones, and makes other traffic of the same kind.
    #[arg(long, value_name = "N")]
    seed: Option<u64>,
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
    // These have headings of their own, under which all that follows would stand.
    #[command(flatten)]
    traffic: LoadOptions,
    #[command(flatten)]
    eyes: EyesOptions,
}

/// Simulated milliseconds after which a run without --trace and --until is given
/// up: what rests at all without traffic rests long before.
const PATIENCE_MS: u64 = 100;

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    let project = Project::load(
        &arguments.target,
        &arguments.source.overrides(arguments.me.clone()),
    )?;
    let load = load(arguments, &project)?;
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
    keep_inputs(arguments, &project, &programs)?;
    let dumps = arguments
        .dump
        .iter()
        .map(|request| Ok((memory_dump::find(&project, &request.name)?, &request.file)))
        .collect::<Result<Vec<_>, Problem>>()?;
    let replay = replay(arguments, &project)?;
    let hertz = project.capacity.hertz;
    let traffic_comes = arguments.trace.is_some() || load.is_some();
    let open_end = !traffic_comes && arguments.until.is_none();
    let until = match arguments.until {
        Some(time) => Some(time.cycles(hertz)),
        None => open_end.then(|| hertz / 1000 * PATIENCE_MS),
    };
    let settings = Settings {
        until,
        drain: traffic_comes.then(|| arguments.drain.cycles(hertz)),
        allow: arguments.allow.clone(),
        seed: arguments.seed,
    };
    let mut simulation = Simulation::new(&project, &programs, settings.clone())?;
    let mut flow = arguments
        .report
        .as_ref()
        .map(|_| TrafficFlow::over(&project.spaces));
    if flow.is_some() {
        simulation.watch(Series::new(&project));
    }
    let sink = match &arguments.out {
        Some(path) => {
            Some(PcapSink::create(path).map_err(|error| Problem::io("write", path, &error))?)
        }
        None => None,
    };
    // A report looks at the same traffic twice.
    let lines = |sink| {
        if let Some(load) = &load {
            let generator = npsim::load::generator(load, &project)?;
            return Ok::<_, Problem>(Wires::loaded(generator, hertz, sink));
        }
        let frames: Frames<'_> = match &replay {
            Some(replay) => Box::new(
                replay
                    .frames()
                    .map_err(|error| Problem::new(error.to_string()))?,
            ),
            None => Box::new(std::iter::empty()),
        };
        let survey = replay.as_ref().map(Replay::survey);
        let origin_ns = survey.map_or(0, |survey| survey.first_timestamp_ns);
        Ok(Wires::streaming(frames, origin_ns, hertz, sink))
    };
    let mut wires = lines(sink)?;
    let arrivals_end = match (&load, &replay) {
        (Some(load), _) => load.time.picoseconds(),
        (None, Some(replay)) => replay.survey().plan.end_ps(),
        (None, None) => 0,
    };
    let arrivals_end = Time::Picoseconds(arrivals_end).cycles(hertz);
    let started = Instant::now();
    let mut progress = Progress::new(started, arrivals_end, until);
    let stop = interrupt_flag();
    let mut eyes = arguments.eyes.open(&simulation, &project)?;
    let mut each = |cycle, _: &Traffic| {
        progress.at(cycle);
        if stop.load(Ordering::Relaxed) {
            ControlFlow::Break(())
        } else {
            ControlFlow::Continue(())
        }
    };
    let ending = if flow.is_some() || eyes.is_some() {
        let mut watchers = (flow.as_mut(), eyes.as_mut());
        simulation.run_watched(&mut wires, &mut watchers, &mut each)
    } else {
        simulation.run_while(&mut wires, &mut each)
    };
    let host_seconds = started.elapsed().as_secs_f64();
    progress.finish();
    let unread = wires.input_failure().map(ToString::to_string);
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
    let mut report = Report::new(
        &project.name,
        &ending,
        fault.and_then(|fault| place(fault, &programs)),
        &traffic,
        simulation.stats(),
    );
    report.seed = arguments.seed;
    report.note_settings(&project);
    report.load.clone_from(&load);
    // A file that cannot be written must not hide a fault: it is told last.
    let stats_written = match &arguments.stats {
        Some(path) => npsim::stats_file::write(path, &report)
            .map_err(|error| Problem::io("write", path, &error)),
        None => Ok(()),
    };
    let dumps_written = dumps.iter().try_for_each(|(range, file)| {
        let text = memory_dump::text(simulation.chip(), range);
        write_whole(file, text.as_bytes()).map_err(|error| Problem::io("write", file, &error))
    });
    let series = simulation.take_series();
    let seen = flow
        .as_ref()
        .zip(series.as_ref())
        .map(|(flow, series)| report::Seen {
            project: &project,
            programs: &programs,
            report: &report,
            traffic: &traffic,
            series,
            flow,
            settings: report_settings(arguments, report.load.as_ref()),
        });
    let analysis = seen.as_ref().map(report::Seen::analysis);
    let page_written = match (&seen, &analysis, &arguments.report) {
        (Some(seen), Some(analysis), Some(folder)) => {
            lines(None).and_then(|again| seen.write(folder, analysis, &settings, again))
        }
        _ => Ok(()),
    };
    let files_written = stats_written.and(dumps_written).and(page_written);
    if let Some(survey) = replay.as_ref().map(Replay::survey) {
        if survey.frames == 0 {
            output::line("note: the capture has no frames, so nothing arrives");
        }
        if let Some(remark) = remarks::of_capture(survey) {
            output::line(&format!("note: {remark}"));
        }
    }
    if !arguments.quiet {
        output::print(&summary(&report, host_seconds))?;
        if let Some(analysis) = &analysis {
            output::print(&format!("\n{}", bottleneck::as_text(analysis)))?;
        }
        hints(arguments, &report, simulation.chip());
    }
    let watched = eyes.map_or(Ok(()), |eyes| {
        arguments
            .eyes
            .show(eyes, &simulation, &programs, arguments.quiet)
    });
    let Some(fault) = fault else {
        files_written?;
        watched?;
        if let Some(reason) = unread {
            return Err(Problem::new(reason)
                .note("the capture was whole when the run began, so it has changed since")
                .into());
        }
        if open_end && ending == Ending::Reached {
            return Err(restless().into());
        }
        if ending == Ending::Interrupted {
            return Ok(ExitCode::from(INTERRUPTED));
        }
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
    if let Err(problem) = files_written {
        output::message(&render_problem(&problem));
    }
    if let Err(error) = watched {
        match error.downcast::<Problem>() {
            Ok(problem) => output::message(&render_problem(&problem)),
            Err(error) => return Err(error),
        }
    }
    Ok(ExitCode::from(3))
}

/// The traffic to make, if any is to be made.
fn load(arguments: &Arguments, project: &Project) -> Result<Option<Load>, Problem> {
    if arguments.trace.is_some() {
        return Ok(None);
    }
    let options = &arguments.traffic;
    let load = options.over(project.load.as_ref(), arguments.seed);
    match (load, options.shape()) {
        (Some(load), _) => Ok(Some(npsim::load::resolved(load, project))),
        (None, None) => Ok(None),
        (None, Some(option)) => Err(Problem::new(format!(
            "`{option}` shapes traffic, and no traffic is asked for"
        ))
        .help("say how much, such as `--load 0.5` or `--rate 1Mpps`, or give `rate` in the project's [load]")),
    }
}

/// What a shell reports for a program that Ctrl-C ended.
const INTERRUPTED: u8 = 130;

/// Set by the first Ctrl-C, so that the run ends between two events and saves
/// what it has; the second ends the process. Without a handler, Ctrl-C ends the
/// process at once.
fn interrupt_flag() -> Arc<AtomicBool> {
    let stop = Arc::new(AtomicBool::new(false));
    let flag = Arc::clone(&stop);
    let handler = move || {
        if flag.swap(true, Ordering::Relaxed) {
            std::process::exit(i32::from(INTERRUPTED));
        }
    };
    if let Err(error) = ctrlc::set_handler(handler) {
        output::line(&format!(
            "note: Ctrl-C will not save what the run has: {error}"
        ));
    }
    stop
}

/// Refuses an output that would take the place of what the run reads, or of the
/// other output.
fn keep_inputs(
    arguments: &Arguments,
    project: &Project,
    programs: &[Program],
) -> Result<(), Problem> {
    let sources = programs.iter().flat_map(|program| {
        let files = program.sources.files().iter();
        files
            .map(|file| PathBuf::from(&file.path))
            .chain([program.source.clone()])
            .map(|path| (path, "a source"))
    });
    let file =
        (!project.is_default).then(|| (PathBuf::from(&project.text.path), "the project file"));
    let trace = arguments.trace.clone().map(|path| (path, "the capture"));
    let inputs: Vec<_> = sources.chain(file).chain(trace).collect();
    let mut outputs: Vec<(&str, &PathBuf)> = Vec::new();
    outputs.extend(arguments.out.iter().map(|path| ("--out", path)));
    outputs.extend(arguments.stats.iter().map(|path| ("--stats", path)));
    let page = arguments.report.as_deref().map(report::page_path);
    outputs.extend(page.iter().map(|path| ("--report", path)));
    outputs.extend(arguments.dump.iter().map(|dump| ("--dump", &dump.file)));
    outputs.extend(arguments.eyes.outputs());
    for &(option, path) in &outputs {
        if let Some((_, what)) = inputs.iter().find(|(input, _)| same_file(input, path)) {
            return Err(Problem::new(format!(
                "{option} `{}` would overwrite {what} of this run",
                path.display()
            ))
            .help("give the output another name"));
        }
    }
    for (at, (option, path)) in outputs.iter().enumerate() {
        let before = outputs[..at]
            .iter()
            .find(|(_, other)| same_file(other, path));
        if let Some((other, first)) = before {
            return Err(Problem::new(format!(
                "{other} and {option} both write `{}`",
                first.display()
            ))
            .help("give one of them another name"));
        }
    }
    Ok(())
}

/// The capture of the run on the project's ports, if there is one.
fn replay(arguments: &Arguments, project: &Project) -> anyhow::Result<Option<Replay>> {
    let Some(path) = &arguments.trace else {
        return Ok(None);
    };
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
    let replay = Replay::open(path, &lines, arguments.ports, pace).map_err(|error| {
        let ReplayError::Pace(error) = error else {
            return anyhow::Error::from(error);
        };
        let problem = Problem::new(format!(
            "the capture cannot be put on the project's ports: {error}"
        ));
        match error {
            PaceError::NoSuchPort { .. } => {
                problem.help("name a port of the project with `--ports`, or add a [[port]] to it")
            }
            _ => problem,
        }
        .into()
    })?;
    Ok(Some(replay))
}

/// What may explain the results; a fault explains itself.
fn hints(arguments: &Arguments, report: &Report, chip: &Chip) {
    if report.fault.is_some() {
        return;
    }
    let as_captured = arguments.speed.is_none()
        && "trace"
            .parse()
            .is_ok_and(|pace: Pace| pace == arguments.pace);
    let slow = remarks::of_slow_arrivals(report).filter(|_| as_captured);
    let lines = remarks::of_frames_inside(report, chip);
    for (i, line) in lines.into_iter().chain(slow).enumerate() {
        let gap = if i == 0 { "\n" } else { "" };
        output::line(&format!("{gap}note: {line}"));
    }
}

/// What the page says about how the run was asked for.
fn report_settings(arguments: &Arguments, load: Option<&Load>) -> Vec<(String, String)> {
    let mut settings = vec![("Project".to_owned(), arguments.target.display().to_string())];
    let mut add = |name: &str, value: String| settings.push((name.to_owned(), value));
    if let Some(trace) = &arguments.trace {
        add("Capture", trace.display().to_string());
        let pace = arguments
            .speed
            .map_or(arguments.pace, |speed| Pace::Trace { speed });
        add("Pace", pace.to_string());
        add("Ports", arguments.ports.to_string());
    }
    if let Some(load) = load {
        add("Traffic", format!("{load}, for {}", load.time));
    }
    if let Some(until) = arguments.until {
        add("Until", until.to_string());
    }
    if let Some(seed) = arguments.seed {
        add("Seed", seed.to_string());
    }
    settings
}

fn restless() -> Problem {
    Problem::new(format!(
        "the program did not come to rest within {PATIENCE_MS} ms of simulated time"
    ))
    .help("say how long it is to run, such as `--until 1ms`, or give it traffic with `--trace IN.pcap` or `--load 0.5`")
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
