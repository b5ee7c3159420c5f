//! The memories named by a boot plan and the core.

use serde::{Deserialize, Serialize};

use crate::kernel::trace_event::MemoryName;

/// A memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Space {
    /// Scratchpad.
    Scratch,
    /// An SRAM channel.
    Sram(u8),
    /// DRAM.
    Dram,
}

impl Space {
    /// The memory's name in trace events.
    pub(super) const fn name(self) -> MemoryName {
        match self {
            Self::Scratch => MemoryName::Scratch,
            Self::Sram(channel) => MemoryName::Sram(channel),
            Self::Dram => MemoryName::Dram,
        }
    }
}
