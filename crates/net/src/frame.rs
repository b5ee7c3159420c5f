//! The frame, as held in captures and carried by ports.

/// One captured Ethernet frame, starting at the destination address, without FCS.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Frame {
    /// Nanoseconds since the first frame of the capture; never decreases from one frame to the next.
    pub time_ns: u64,
    /// Index of the capture interface that saw the frame.
    pub port: u32,
    /// The captured bytes.
    pub bytes: Vec<u8>,
    /// Length on the wire without FCS, in bytes; more than `bytes.len()` if the capture truncated the
    /// frame.
    pub original_len: u32,
}

impl Frame {
    /// Whether the capture holds only the beginning of the frame.
    #[must_use]
    pub fn is_truncated(&self) -> bool {
        self.bytes.len() < self.original_len as usize
    }
}

/// A frame on the line of a port.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LineFrame {
    /// When the first bit of the preamble arrives, in picoseconds since the start.
    pub start_ps: u128,
    /// When the last bit of the FCS has arrived, in picoseconds since the start.
    pub end_ps: u128,
    /// The port.
    pub port: u32,
    /// The frame without its FCS.
    pub bytes: Vec<u8>,
}
