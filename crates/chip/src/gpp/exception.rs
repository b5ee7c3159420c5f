//! A packet that microcode passes to the core.

use serde::{Deserialize, Serialize};

use crate::Cycle;

/// Longwords of a buffer descriptor that the core reads.
pub(super) const DESCRIPTOR_WORDS: u32 = 4;
/// Bytes of a packet that the core reads before any decision about it.
pub const HEADER_BYTES: u32 = 64;

/// A packet that ended at the core.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Exception {
    /// When it was taken off the ring.
    pub cycle: Cycle,
    /// Reason code.
    pub reason: u8,
    /// Longword address of its buffer descriptor.
    pub buffer: u32,
    /// The descriptor.
    pub descriptor: [u32; DESCRIPTOR_WORDS as usize],
    /// The first bytes of its buffer.
    pub header: Vec<u8>,
}
