//! The traffic selected by a command's options.

use npsim::checkpoint::inputs::{self, CheckpointInput};
use npsim::problem::Problem;
use npsim::project::Project;
use npsim::traffic::{Traffic, TrafficSource};
use npsim_net::load::Load;

use super::system::SystemArguments;
use crate::output;

/// The capture or the load given by the arguments and the project.
pub fn traffic(arguments: &SystemArguments, load: Option<Load>) -> Traffic {
    match (arguments.capture(), load) {
        (Some(capture), _) => Traffic::Capture(Box::new(capture)),
        (None, Some(load)) => Traffic::Load(Box::new(load)),
        (None, None) => Traffic::None,
    }
}

/// The inputs that must not change between saving and resuming a run.
pub fn inputs(
    arguments: &SystemArguments,
    source: &TrafficSource<'_>,
) -> Result<Vec<CheckpointInput>, Problem> {
    let mut list = Vec::new();
    if let Some(load) = source.load() {
        list.push(inputs::load(load)?);
    }
    if let Some(trace) = &arguments.trace {
        list.push(CheckpointInput::capture(trace)?);
    }
    Ok(list)
}

/// The load to generate, if any.
pub fn load(arguments: &SystemArguments, project: &Project) -> Result<Option<Load>, Problem> {
    if arguments.trace.is_some() {
        return Ok(None);
    }
    let options = &arguments.traffic;
    let load = options.merged_with(project.load.as_ref(), arguments.machine.seed);
    match (load, options.option_needing_rate()) {
        (Some(load), _) => {
            let asked = load.flows;
            let load = npsim::load::resolved(load, project);
            if load.flows > asked {
                output::line(&format!(
                    "note: there are {} flows, not {asked}: each port has at least one",
                    load.flows
                ));
            }
            Ok(Some(load))
        }
        (None, None) => Ok(None),
        (None, Some(option)) => Err(Problem::new(format!(
            "`{option}` shapes traffic, and no traffic is asked for"
        ))
        .help("say how much, such as `--load 0.5` or `--rate 1Mpps`, or give `rate` in the project's [load]")),
    }
}
