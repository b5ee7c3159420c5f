//! Whole chips as nodes of a network.

mod in_transit;
mod node;
mod system;

pub use node::ChipReport;
pub(crate) use node::{ChipNode, ChipNodeState};
pub use system::System;
