//! The memories that a boot plan and the core name.

use serde::{Deserialize, Serialize};

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
