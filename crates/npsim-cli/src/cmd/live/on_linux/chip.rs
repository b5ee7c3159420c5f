//! Runs one chip between interfaces.

use std::path::Path;
use std::process::ExitCode;

use npsim::problem::Problem;
use npsim::project::Project;
use npsim::report::NodeReport;
use npsim::simulation::Ending;
use npsim_live::live_run::Screen;
use npsim_live::one_chip::OneChip;
use npsim_net::egress::{CaptureFormat, TraceSink};
use npsim_net::recording::RecordingHead;
use serde::Serialize;

use super::super::Arguments;
use super::joining::Joined;
use super::screen::ChipScreen;
use super::{ROUTE_BLOCKS, check_outputs, code, conclude, drive, unix_seconds};
use crate::cmd::destinations;
use crate::cmd::run::outputs::capture_ports;
use crate::cmd::run::results::show_fault;

/// The chip's part of the statistics.
#[derive(Serialize)]
struct ChipStats {
    node: NodeReport,
}

pub fn run(arguments: &Arguments, target: &Path) -> anyhow::Result<ExitCode> {
    let mut overrides = arguments.source.overrides(arguments.me.clone());
    let mut project = Project::load(target, &overrides, &npsim::registry())?;
    let keeps_routes = { project.boot.tasks.iter() }.any(|task| task.name() == "routes");
    if arguments.control.is_some() && keeps_routes {
        overrides.route_blocks = Some(ROUTE_BLOCKS);
        project = Project::load(target, &overrides, &npsim::registry())?;
    }
    let ports: Vec<_> = (0..project.boot.ports.len())
        .map(|port| port.to_string())
        .collect();
    let joined = Joined::open(arguments, &ports)?;
    let Some(programs) = arguments.messages.programs(&project)? else {
        return Ok(ExitCode::from(1));
    };
    let inputs = destinations::files_of(&project, &programs);
    check_outputs(arguments, &inputs)?;
    let settings = arguments.machine.settings();
    let mut chip = OneChip::new(&project, &programs, settings)?;
    let head = RecordingHead {
        hertz: project.capacity.hertz,
        start_seconds: unix_seconds(),
        ports: capture_ports(&project),
        target: target.display().to_string(),
        seed: arguments.machine.seed,
        route_blocks: overrides.route_blocks.unwrap_or(0),
    };
    if let Some(path) = &arguments.out {
        let form = CaptureFormat::of_name(path).unwrap_or(CaptureFormat::Pcap);
        let sink = TraceSink::create(path, form, &head.ports);
        let sink = sink.map_err(|error| Problem::io("write", path, &error))?;
        chip.capture(sink, head.start_seconds * 1_000_000_000);
    }
    let screen = if arguments.screen {
        Some(Box::new(ChipScreen::open(&project, &programs)?) as Box<dyn Screen<OneChip>>)
    } else {
        None
    };
    let (chip, status, ran) = drive(arguments, chip, joined, &inputs, &head, screen)?;
    let (mut node, observed) = chip.finish();
    let captured = match (node.finish_capture(), &arguments.out) {
        (Err(error), Some(path)) => Err(Problem::io("write", path, &error)),
        _ => Ok(()),
    };
    let report = NodeReport::of(&node, &project, &programs, arguments.machine.seed);
    let fault = report.fault.clone();
    let concluded = conclude(
        arguments,
        &project.name,
        &status,
        ChipStats { node: report },
    );
    if let Some(Ending::Fault(found)) = node.ending() {
        show_fault(found, &programs, &node.state_report(), fault.as_ref());
    }
    let ending = ran?;
    captured?;
    observed?;
    concluded?;
    Ok(code(ending))
}
