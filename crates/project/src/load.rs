//! Traffic on a project's ports: generated, or from a capture.

use npsim_net::load::{Generator, Load, LoadError, LoadPort, Prefix};
use npsim_net::pace::PortLine;

use crate::Project;
use crate::problem::Problem;

/// Returns the project's ports as input for a load.
#[must_use]
pub fn ports(project: &Project) -> Vec<LoadPort> {
    let lines = project.boot.ports.iter().zip(&project.macs);
    lines
        .map(|(port, &mac)| LoadPort {
            bits_per_second: port.bits_per_second,
            mac,
        })
        .collect()
}

/// Returns the project's ports as lines for the replay of a capture.
#[must_use]
pub fn lines(project: &Project) -> Vec<PortLine> {
    let ports = project.boot.ports.iter();
    let lines = ports.map(|port| PortLine {
        bits_per_second: port.bits_per_second,
    });
    lines.collect()
}

/// Completes a load for this project: if it names no destinations, they are the prefixes of the
/// project's routes, without those to the router itself and the default route; and its number of
/// flows is the actual one on the project's ports.
#[must_use]
pub fn resolved(mut load: Load, project: &Project) -> Load {
    if load.destinations.is_empty() {
        let all = Prefix::new(std::net::Ipv4Addr::UNSPECIFIED, 0);
        let routed = project.routed.iter().copied();
        load.destinations = routed.filter(|&prefix| prefix != all).collect();
    }
    if load.destinations.is_empty() {
        load.destinations = Load::default_destinations();
    }
    // Each port with traffic has at least one flow, so there may be more than requested.
    if let Ok(generator) = Generator::new(&load, &ports(project)) {
        load.flows = generator.flow_slots();
    }
    load
}

/// Returns a generator of the load's frames on the project's ports.
///
/// # Errors
/// Returns an error with the reason if the load does not fit the ports.
pub fn generator(load: &Load, project: &Project) -> Result<Generator, Problem> {
    Generator::new(load, &ports(project)).map_err(|error| {
        let problem = Problem::new(format!(
            "the load cannot arrive at the project's ports: {error}"
        ));
        match error {
            LoadError::NoPorts => problem.help("add a [[port]] to the project"),
            LoadError::NoRate => problem
                .help("give `--load 0.5` or `--rate 1Mpps`, or `rate` in the project's [load]"),
            _ => problem,
        }
    })
}
