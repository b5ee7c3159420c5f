//! Whole chips as nodes of a network.

mod in_transit;
mod node;
mod system;

pub(crate) use node::{ChipNode, ChipNodeState};
pub use system::{Assemble, System, systems};
