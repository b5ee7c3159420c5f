//! A live run on Linux.

use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::{SystemTime, UNIX_EPOCH};

use npsim::assemble::{Program, assemble_project_from};
use npsim::files::Disk;
use npsim::problem::Problem;
use npsim::project::Project;
use npsim::report::NodeReport;
use npsim::session::Node;
use npsim::simulation::Ending;
use npsim_chip::kernel::observer::NoObserver;
use npsim_live::clock::LiveClock;
use npsim_live::linux::control::{self, ControlSocket};
use npsim_live::linux::{Interface, LinuxHost, drop_privileges};
use npsim_live::live_run::{LiveEnding, LiveRun};
use npsim_live::one_chip::OneChip;
use npsim_live::recorder::Recorder;
use npsim_live::status::LiveStatus;
use npsim_net::egress::{CaptureForm, CapturePort, TraceSink};
use npsim_net::recording::{RecordingHead, RecordingWriter};
use serde::Serialize;

use super::Arguments;
use crate::cmd::destinations::{self, OutputOption};
use crate::cmd::file_forms::{CAPTURE, JSON};
use crate::cmd::interrupt::{INTERRUPTED, interrupt_flag};
use crate::cmd::run::results::show_fault;
use crate::output;

/// The format of the stats file; it changes when a field changes its meaning or goes.
const SCHEMA: &str = "npsim-live-1";

/// What a live run came to.
#[derive(Serialize)]
struct LiveStats<'a> {
    schema: &'static str,
    npsim: &'static str,
    project: &'a str,
    live: &'a LiveStatus,
    node: &'a NodeReport,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    if let [socket, request @ ..] = &arguments.ask[..] {
        output::show(&(control::ask(Path::new(socket), &request.join(" "))? + "\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some(target) = &arguments.target else {
        return Err(Problem::new("there is nothing to run")
            .help("name a project file, its folder, or a source")
            .into());
    };
    destinations::claim(&["live"], &outputs(arguments))?;
    let overrides = arguments.source.overrides(arguments.me.clone());
    let project = Project::load(target, &overrides, &npsim::registry())?;
    let (programs, messages) = assemble_project_from(&Disk, &project, &arguments.messages.lints());
    arguments.messages.show(&messages);
    let Some(programs) = programs else {
        return Ok(ExitCode::from(1));
    };
    let inputs = destinations::files_of(&project, &programs);
    destinations::keep_apart(&inputs, &outputs(arguments))?;
    destinations::try_places(&outputs(arguments))?;
    let settings = arguments.machine.settings();
    let mut chip = OneChip::new(&project, &programs, settings, Box::new(NoObserver))?;
    let (ports, interfaces) = open(arguments, project.boot.ports.len())?;
    let control = arguments.control.as_deref();
    let control = control.map(ControlSocket::open).transpose()?;
    drop_privileges()
        .map_err(|error| Problem::new(format!("privileges cannot be given up: {error}")))?;
    let start_seconds = unix_seconds();
    if let Some(path) = &arguments.out {
        chip.capture(departures(path, &project)?, start_seconds * 1_000_000_000);
    }
    let recorder = { arguments.record.as_deref() }
        .map(|path| recorder(path, arguments, &project, start_seconds))
        .transpose()?;
    let clock = LiveClock::new(arguments.dilate, arguments.max_late.0);
    let names = interfaces.iter().map(|it| it.name().to_string());
    let mut live = LiveRun::new(chip, clock, ports, names.collect(), recorder);
    let mut host = LinuxHost::new(interfaces, control);
    let stop = interrupt_flag();
    let stop = || stop.load(Ordering::Relaxed);
    let until = arguments.until.map(|time| time.0);
    let mut report = |now: &LiveStatus, before: &LiveStatus, late, _: &OneChip| {
        if !arguments.quiet {
            output::line(&now.since(before, late));
        }
    };
    let ran = live.run(&mut host, until, &stop, &mut report);
    let status = live.status(host_time(&host));
    // The interfaces go before anything is written that may take its time.
    drop(host);
    let (mut node, _) = live.into_system().finish();
    let captured = match (node.finish_capture(), &arguments.out) {
        (Err(error), Some(path)) => Err(Problem::io("write", path, &error)),
        _ => Ok(()),
    };
    let ran = ran.and_then(|ending| captured.map(|()| ending));
    told(arguments, &project, &programs, (&status, &node), ran)
}

/// The second of the host's calendar at which simulated time begins.
fn unix_seconds() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

fn ports(project: &Project) -> Vec<CapturePort> {
    let ports = project.boot.ports.iter().enumerate();
    ports
        .map(|(number, port)| CapturePort::port(number, port.bits_per_second))
        .collect()
}

fn departures(path: &Path, project: &Project) -> Result<TraceSink, Problem> {
    let form = CaptureForm::of_name(path).unwrap_or(CaptureForm::Pcap);
    TraceSink::create(path, form, &ports(project))
        .map_err(|error| Problem::io("write", path, &error))
}

fn recorder(
    path: &Path,
    arguments: &Arguments,
    project: &Project,
    start_seconds: u64,
) -> Result<Recorder, Problem> {
    let hertz = project.capacity.hertz;
    let target = arguments.target.as_deref().unwrap_or(Path::new(""));
    let head = RecordingHead {
        hertz,
        start_seconds,
        ports: ports(project),
        target: target.display().to_string(),
        seed: arguments.machine.seed,
        route_blocks: 0,
    };
    let file = RecordingWriter::create(path, &head);
    let file = file.map_err(|error| Problem::io("write", path, &error))?;
    Ok(Recorder::new(file, hertz))
}

fn host_time(host: &LinuxHost) -> u64 {
    use npsim_live::live_run::Host as _;
    host.now()
}

/// All that is written.
fn outputs(arguments: &Arguments) -> Vec<OutputOption> {
    let capture = |option, path: &Option<std::path::PathBuf>| {
        path.as_ref()
            .map(|path| OutputOption::new(option, path, &CAPTURE))
    };
    let stats = arguments.stats.as_ref();
    [
        capture("--record", &arguments.record),
        capture("--out", &arguments.out),
        stats.map(|path| OutputOption::new("--stats", path, &JSON).at_the_end()),
    ]
    .into_iter()
    .flatten()
    .collect()
}

/// Opens the interfaces, with the numbers of their ports.
fn open(arguments: &Arguments, ports: usize) -> Result<(Vec<usize>, Vec<Interface>), Problem> {
    let mut numbers = Vec::new();
    for option in &arguments.ports {
        let number = option.port.parse().ok().filter(|port| *port < ports);
        let Some(number) = number else {
            return Err(
                Problem::new(format!("there is no port `{}`", option.port)).help(match ports {
                    0 => "the project has no [[port]]".to_owned(),
                    1 => "the project has one port, 0".to_owned(),
                    ports => format!("the project has ports 0 to {}", ports - 1),
                }),
            );
        };
        if numbers.contains(&number) {
            return Err(
                Problem::new(format!("port {number} is joined to two interfaces"))
                    .help("leave one of them out"),
            );
        }
        let twice = { arguments.ports.iter() }
            .filter(|other| other.interface.name == option.interface.name)
            .filter(|other| other.interface.namespace == option.interface.namespace);
        if twice.count() > 1 {
            return Err(
                Problem::new(format!("two ports are joined to `{}`", option.interface))
                    .help("each port needs an interface of its own"),
            );
        }
        numbers.push(number);
    }
    let opened = arguments
        .ports
        .iter()
        .map(|port| Interface::open(&port.interface));
    Ok((numbers, opened.collect::<Result<_, _>>()?))
}

/// Writes what is written at the end, and says how it ended.
fn told(
    arguments: &Arguments,
    project: &Project,
    programs: &[Program],
    (status, node): (&LiveStatus, &Node),
    ran: Result<LiveEnding, Problem>,
) -> anyhow::Result<ExitCode> {
    let report = NodeReport::of(node, project, programs, arguments.machine.seed);
    let stats_written = match &arguments.stats {
        Some(path) => {
            let stats = LiveStats {
                schema: SCHEMA,
                npsim: env!("CARGO_PKG_VERSION"),
                project: &project.name,
                live: status,
                node: &report,
            };
            let text = serde_json::to_string_pretty(&stats)? + "\n";
            npsim::whole_file::write_whole(path, text.as_bytes())
                .map_err(|error| Problem::io("write", path, &error))
        }
        None => Ok(()),
    };
    if !arguments.quiet {
        output::line(&status.summary());
    }
    if let Some(Ending::Fault(fault)) = node.ending() {
        show_fault(fault, programs, &node.state_report(), report.fault.as_ref());
        stats_written?;
        return Ok(ExitCode::from(3));
    }
    let ending = ran?;
    stats_written?;
    Ok(match ending {
        LiveEnding::Ended => ExitCode::SUCCESS,
        LiveEnding::Interrupted => ExitCode::from(INTERRUPTED),
        LiveEnding::Fault => ExitCode::from(3),
    })
}
