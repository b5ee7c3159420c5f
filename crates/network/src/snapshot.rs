//! The state of a network in memory.

use serde::{Deserialize, Serialize};

use crate::chips::ChipNodeState;
use crate::reorder_buffer::ReorderBuffer;
use crate::simulation::Simulation;

/// The state of a network, from which another network of the same file can continue.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Snapshot {
    pub(crate) packet_simulation: Simulation,
    pub(crate) chips: Vec<ChipNodeState>,
    pub(crate) held: ReorderBuffer,
}
