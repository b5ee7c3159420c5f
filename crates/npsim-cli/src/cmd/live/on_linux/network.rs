//! A network between interfaces: its hosts of the kind `interface` are the ports.

use std::path::Path;
use std::process::ExitCode;

use npsim::assemble::assemble_project;
use npsim::problem::Problem;
use npsim_live::live_run::Screen;
use npsim_live::open_network::OpenNetwork;
use npsim_network::{Network, Simulation, Stopped};
use npsim_network_file::chips::systems;
use npsim_network_file::file::NetworkFile;
use npsim_network_file::results::Results;
use serde::Serialize;

use super::super::Arguments;
use super::joining::Joined;
use super::screen::StatusScreen;
use super::{check_outputs, code, conclude, drive};
use crate::cmd::run::results::show_fault;

/// What the statistics have of the network.
#[derive(Serialize)]
struct NetworkStats {
    network: Results,
}

/// Whether a target is a network file: a TOML that joins nodes by links, which no project does.
pub fn is_network(target: &Path) -> bool {
    let text = std::fs::read_to_string(target).unwrap_or_default();
    let table = text.parse::<toml::Table>().unwrap_or_default();
    table.contains_key("link") && !table.contains_key("me")
}

pub fn run(arguments: &Arguments, target: &Path) -> anyhow::Result<ExitCode> {
    let file = load(arguments, target)?;
    let inputs = [(target.to_owned(), "the network file")];
    check_outputs(arguments, &inputs)?;
    let nodes = &file.topology.nodes;
    let names: Vec<_> = { file.interfaces.iter() }
        .map(|it| nodes[it.node].name.clone())
        .collect();
    let joined = Joined::open(arguments, &names)?;
    let systems = systems(&file, &npsim::registry(), &assemble_project)?;
    let network = Network::new(Simulation::new(file.topology.clone())?, systems)?;
    let begin = network.outside().counters();
    let ends: Vec<_> = file.interfaces.iter().map(|it| it.node).collect();
    let network = OpenNetwork::new(network, ends);
    let screen = if arguments.screen {
        Some(Box::new(StatusScreen::open()?) as Box<dyn Screen<OpenNetwork>>)
    } else {
        None
    };
    let (network, status, ran) = drive(arguments, network, joined, &inputs, None, screen)?;
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
    concluded?;
    Ok(code(ending))
}

fn load(arguments: &Arguments, target: &Path) -> Result<NetworkFile, Problem> {
    if arguments.record.is_some() {
        return Err(Problem::new("a recording is of one chip, and the target is a network")
            .help("leave `--record` out, or join a chip by itself; `tcpdump` at the interfaces has what came"));
    }
    if arguments.out.is_some() {
        return Err(Problem::new(
            "`--out` writes what leaves one chip, and the target is a network",
        )
        .help(
            "leave it out; `--record` has what came, and `tcpdump` at the interfaces what left",
        ));
    }
    let settings = arguments.source.settings();
    let mut file = NetworkFile::load(target, settings)?;
    if let Some(seed) = arguments.machine.seed {
        file.reseed(seed);
    }
    if file.scale != 1 {
        return Err(Problem::new(format!(
            "the network's times are divided by {}, and those of real hosts are not",
            file.scale
        ))
        .help("leave `scale` out of the file, or give `--set scale=1`"));
    }
    if file.interfaces.is_empty() {
        return Err(
            Problem::new("the network has no open end that a port could be joined to")
                .help("give a [[host]] the `kind = \"interface\"` and link it"),
        );
    }
    Ok(file)
}
