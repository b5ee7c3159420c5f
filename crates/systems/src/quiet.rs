//! Runs without frames.

use npsim::links::Links;
use npsim::project::Project;
use npsim::simulation::{Ending, Simulation};

/// Runs to the end without traffic.
pub fn run_to_end(project: &Project, simulation: &mut Simulation) -> Ending {
    let mut links = Links::idle(project.capacity.hertz);
    simulation.run(&mut links, &mut |_, _| {})
}
