//! Programs as used by the search.

use std::sync::Arc;

use npsim_chip::core::Core;
use npsim_image::{FlowGraph, Image};

/// The program of a microengine with its control flow.
pub(super) struct FlowProgram {
    pub image: Arc<Image>,
    pub flow: FlowGraph,
}

impl FlowProgram {
    pub fn of(core: &dyn Core) -> Self {
        let image = core.program().image();
        Self {
            flow: FlowGraph::of(image),
            image: image.clone(),
        }
    }
}
