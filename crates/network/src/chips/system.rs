//! The system of a chip in a network.

use npsim_project::assemble::Program;
use npsim_project::{NetworkRoutes, Project};

use crate::ethernet::Mac;

/// The system of a chip in a network.
#[derive(Debug, Clone)]
pub struct System {
    /// The chip's node.
    pub node: usize,
    /// The project, with the network's ports and routes.
    pub project: Project,
    /// The programs of its microengines.
    pub programs: Vec<Program>,
    /// How the network changed the routes of the project file.
    pub routes: NetworkRoutes,
    /// The address at the other end of each port's link, by port.
    pub neighbours: Vec<Mac>,
}
