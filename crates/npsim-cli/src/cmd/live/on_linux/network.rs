//! Runs a network between interfaces; its hosts of kind `interface` are the ports.

use std::path::Path;
use std::process::ExitCode;

use npsim::assemble::assemble_project;
use npsim::problem::{Problem, Problems};
use npsim_live::live_run::Screen;
use npsim_live::open_ends::recording_head;
use npsim_live::open_network::OpenNetwork;
use npsim_network::{Network, Simulation, Stopped};
use npsim_network_file::chips::systems;
use npsim_network_file::file::NetworkFile;
use npsim_network_file::results::Results;
use serde::Serialize;

use super::super::Arguments;
use super::joining::Joined;
use super::screen::StatusScreen;
use super::{ROUTE_BLOCKS, check_outputs, code, conclude, drive, unix_seconds};
use crate::cmd::network::recorded::{departures, open_ends};
use crate::cmd::run::results::show_fault;

/// The network's part of the statistics.
#[derive(Serialize)]
struct NetworkStats {
    network: Results,
}

pub fn run(arguments: &Arguments, target: &Path) -> anyhow::Result<ExitCode> {
    let mut file = load(arguments, target)?;
    file.route_blocks = arguments.control.as_ref().map(|_| ROUTE_BLOCKS);
    let chain = arguments.chain(target);
    let inputs = [(target.to_owned(), "the target")];
    check_outputs(arguments, &inputs)?;
    let ends = open_ends(&file);
    let names: Vec<_> = ends.ports().iter().map(|it| it.name.clone()).collect();
    let joined = Joined::open(arguments, &names)?;
    let systems = systems(&file, &npsim::registry(), &assemble_project)?;
    let packet_simulation = Simulation::new(file.topology.clone())?;
    let network = Network::on_core(packet_simulation, systems, arguments.machine.core.kind())?;
    let begin = network.packet_simulation().counters();
    let seed = arguments.machine.seed;
    let name = chain.map_or_else(|| target.display().to_string(), |chain| chain.to_string());
    let mut head = recording_head(&ends, name, unix_seconds(), seed);
    head.route_blocks = file.route_blocks.unwrap_or(0);
    let capture = { arguments.out.as_deref() }
        .map(|path| departures(path, &ends, head.start_seconds))
        .transpose()?;
    let network = OpenNetwork::new(network, ends, capture);
    let screen = if arguments.screen {
        Some(Box::new(StatusScreen::open()?) as Box<dyn Screen<OpenNetwork>>)
    } else {
        None
    };
    let (mut network, status, ran) = drive(arguments, network, joined, &inputs, &head, screen)?;
    let captured = match (network.finish_capture(), &arguments.out) {
        (Err(error), Some(path)) => Err(Problem::io("write", path, &error)),
        _ => Ok(()),
    };
    let (network, stopped) = network.finish();
    let results = Results::of(&file, &network, &begin);
    let faulty = match stopped {
        Some(Stopped::Fault(router)) => network.fault(router).map(|found| (router, found)),
        _ => None,
    };
    if let Some((router, (fault, system, state))) = faulty {
        let own = results.routers[router].node.fault.as_ref();
        show_fault(fault, &system.programs, &state, own);
    }
    let concluded = conclude(
        arguments,
        &file.name,
        &status,
        NetworkStats { network: results },
    );
    if let Some(Stopped::Frame(problem)) = stopped {
        return Err(problem.into());
    }
    let ending = ran?;
    captured?;
    concluded?;
    Ok(code(ending))
}

fn load(arguments: &Arguments, target: &Path) -> Result<NetworkFile, Problems> {
    let mut file = match arguments.chain(target) {
        Some(chain) => chain.load(&arguments.source.overrides(arguments.me.clone()))?,
        None => NetworkFile::load(target, arguments.source.settings())?,
    };
    if let Some(seed) = arguments.machine.seed {
        file.reseed(seed);
    }
    file.refuse_scale()?;
    if file.interfaces.is_empty() {
        return Err(
            Problem::new("the network has no open end that a port could be joined to")
                .help("give a [[host]] the `kind = \"interface\"` and link it")
                .into(),
        );
    }
    Ok(file)
}
