//! What a chip of a network runs.

use npsim_project::assemble::Program;
use npsim_project::{NetworkRoutes, Project};

use crate::ethernet::Mac;

/// What a chip in a network runs.
#[derive(Debug, Clone)]
pub struct System {
    /// The node.
    pub node: usize,
    /// The project, with the network's ports and routes in it.
    pub project: Project,
    /// What its microengines run.
    pub programs: Vec<Program>,
    /// What became of the routes of the project file.
    pub routes: NetworkRoutes,
    /// By port, the address of what is at the other end of its link.
    pub neighbours: Vec<Mac>,
}
