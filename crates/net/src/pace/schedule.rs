//! Arrivals of frames, and their totals.

/// One frame on the wire of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FrameArrival {
    /// When the first bit of the preamble arrives, in picoseconds since the start.
    pub start_ps: u128,
    /// When the last bit of the FCS has arrived, in picoseconds since the start.
    pub end_ps: u128,
    /// The port.
    pub port: u32,
    /// Index of the frame in the capture.
    pub frame: usize,
}

/// Traffic received at one port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortLoad {
    /// Number of frames.
    pub frames: u64,
    /// Bytes of the frames, without padding, FCS, preamble and gap.
    pub frame_bytes: u64,
    /// Bits of line time: preamble, padded frame, FCS and gap. Divided by the line's rate and the
    /// duration this is the exact utilisation.
    pub line_bits: u64,
    /// When the last bit of the last frame has arrived, in picoseconds since the start.
    pub end_ps: u128,
}

/// Arrival times of all frames.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ArrivalSchedule {
    /// Sorted by start, then port.
    pub arrivals: Vec<FrameArrival>,
    /// Traffic of each port.
    pub ports: Vec<PortLoad>,
    /// Frames shorter than 60 bytes, which take the time of 60.
    pub padded: u64,
    /// Frames that arrived later than the pace asked for because the line was busy. Zero with
    /// [`Pace::Line`](super::Pace::Line).
    pub waited: u64,
    /// The longest such wait, in picoseconds.
    pub max_wait_ps: u128,
}

impl ArrivalSchedule {
    /// Returns when the last frame has arrived, in picoseconds since the start; 0 without frames.
    #[must_use]
    pub fn end_ps(&self) -> u128 {
        self.ports.iter().map(|load| load.end_ps).max().unwrap_or(0)
    }
}
