//! The memories that a boot plan and the core name.

use serde::{Deserialize, Serialize};

use crate::kernel::trace_event::MemoryName;

/// Which memory.
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
    /// As trace events name it.
    pub(super) const fn name(self) -> MemoryName {
        match self {
            Self::Scratch => MemoryName::Scratch,
            Self::Sram(channel) => MemoryName::Sram(channel),
            Self::Dram => MemoryName::Dram,
        }
    }
}
