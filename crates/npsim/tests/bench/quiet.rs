//! Runs without frames.

use npsim::links::Links;
use npsim::project::Project;
use npsim::simulation::{Ending, Simulation};
use npsim_net::pace::Schedule;

/// Runs to the end with nothing on the lines.
pub fn run_to_end(project: &Project, simulation: &mut Simulation) -> Ending {
    let quiet_lines = Schedule::default();
    let mut links = Links::new(&[], &quiet_lines, 0, project.capacity.hertz, None);
    simulation.run(&mut links, &mut |_, _| {})
}
