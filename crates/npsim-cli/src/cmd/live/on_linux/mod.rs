//! A live run on Linux.

mod chip;
mod joining;
mod network;
mod screen;

use std::path::Path;
use std::process::ExitCode;
use std::sync::atomic::Ordering;
use std::time::{SystemTime, UNIX_EPOCH};

use npsim::problem::Problem;
use npsim_live::clock::LiveClock;
use npsim_live::linux::LinuxHost;
use npsim_live::linux::control;
use npsim_live::live_run::{Host as _, LiveEnding, LiveRun, Screen};
use npsim_live::status::LiveStatus;
use npsim_live::system::LiveSystem;
use npsim_net::recording::{RecordingHead, RecordingWriter};
use serde::Serialize;

use super::Arguments;
use crate::cmd::destinations::{self, OutputOption};
use crate::cmd::file_forms::{CAPTURE, JSON};
use crate::cmd::interrupt::{INTERRUPTED, interrupt_flag};
use crate::cmd::network::chain::is_network;
use crate::output;
use joining::Joined;

/// The format of the stats file; it changes when a field is removed or changes its meaning.
const SCHEMA: &str = "npsim-live-1";

/// The number of routing table blocks reserved for changes through the control socket.
const ROUTE_BLOCKS: u32 = 32;

/// The results of a live run.
#[derive(Serialize)]
struct LiveStats<'a, T> {
    schema: &'static str,
    npsim: &'static str,
    name: &'a str,
    live: &'a LiveStatus,
    #[serde(flatten)]
    system: T,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    if let [socket, request @ ..] = &arguments.ask[..] {
        output::show(&(control::ask(Path::new(socket), &request.join(" "))? + "\n"))?;
        return Ok(ExitCode::SUCCESS);
    }
    let Some(target) = &arguments.target else {
        return Err(Problem::new("there is nothing to run")
            .help("name a project file, its folder, a source, or a network file")
            .into());
    };
    if arguments.screen {
        screen::check()?;
    }
    destinations::claim(&["live"], &outputs(arguments))?;
    if arguments.chain(target).is_some() || is_network(target) {
        network::run(arguments, target)
    } else {
        chip::run(arguments, target)
    }
}

/// All outputs.
fn outputs(arguments: &Arguments) -> Vec<OutputOption> {
    let captures = [("--record", &arguments.record), ("--out", &arguments.out)];
    let captures = captures
        .into_iter()
        .filter_map(|(option, path)| Some(OutputOption::new(option, path.as_ref()?, &CAPTURE)));
    let stats = arguments.stats.iter();
    let stats = stats.map(|path| OutputOption::new("--stats", path, &JSON).written_late());
    captures.chain(stats).collect()
}

/// Rejects outputs that would overwrite inputs, and those that cannot be written.
fn check_outputs(arguments: &Arguments, inputs: &[destinations::Input]) -> Result<(), Problem> {
    destinations::check_overwrites(inputs, &outputs(arguments))?;
    destinations::check_writable(&outputs(arguments))
}

/// The host's calendar time at which simulated time begins, in seconds since 1970.
fn unix_seconds() -> u64 {
    let since = SystemTime::now().duration_since(UNIX_EPOCH);
    since.map_or(0, |since| since.as_secs())
}

/// Runs a system between its interfaces; returns it with its status and how the run ended. `head`
/// describes the system for a recording.
fn drive<S: LiveSystem>(
    arguments: &Arguments,
    system: S,
    joined: Joined,
    inputs: &[destinations::Input],
    head: &RecordingHead,
    screen: Option<Box<dyn Screen<S>>>,
) -> Result<(S, LiveStatus, Result<LiveEnding, Problem>), Problem> {
    let Joined {
        ports,
        interfaces,
        control,
    } = joined;
    let recorder = arguments.record.as_deref().map(|path| {
        let file = RecordingWriter::create(path, head);
        file.map_err(|error| Problem::io("write", path, &error))
    });
    let clock = LiveClock::new(arguments.dilate, arguments.max_late.0);
    let names = interfaces.iter().map(|it| it.name().to_string()).collect();
    let mut live = LiveRun::new(system, clock, ports, names, recorder.transpose()?);
    live.protect({ outputs(arguments).into_iter() }.map(|it| (it.path, "what the run writes")));
    live.protect(inputs.iter().cloned());
    let is_shown = screen.is_some();
    if let Some(screen) = screen {
        live.set_screen(screen);
    }
    let mut host = LinuxHost::new(interfaces, control, output::line);
    let stop = interrupt_flag();
    let stop = || stop.load(Ordering::Relaxed);
    let until = arguments.until.map(|time| time.0);
    let mut report = |now: &LiveStatus, before: &LiveStatus, late| {
        if !arguments.quiet && !is_shown {
            output::line(&now.since(before, late));
        }
    };
    let ran = live.run(&mut host, until, &stop, &mut report);
    let status = live.status(host.now());
    Ok((live.into_system(), status, ran))
}

/// Writes the statistics, if requested, and prints how the run ended.
fn conclude(
    arguments: &Arguments,
    name: &str,
    status: &LiveStatus,
    system: impl Serialize,
) -> anyhow::Result<()> {
    if let Some(path) = &arguments.stats {
        let stats = LiveStats {
            schema: SCHEMA,
            npsim: env!("CARGO_PKG_VERSION"),
            name,
            live: status,
            system,
        };
        let text = serde_json::to_string_pretty(&stats)? + "\n";
        npsim::atomic_file::write_atomically(path, text.as_bytes())
            .map_err(|error| Problem::io("write", path, &error))?;
    }
    if !arguments.quiet {
        output::line(&status.summary());
    }
    Ok(())
}

/// The exit code for an ending.
fn code(ending: LiveEnding) -> ExitCode {
    match ending {
        LiveEnding::Ended => ExitCode::SUCCESS,
        LiveEnding::Interrupted => ExitCode::from(INTERRUPTED),
        LiveEnding::Fault => ExitCode::from(3),
    }
}
