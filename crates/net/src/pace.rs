//! Arrival times of frames at ports.
//!
//! A capture holds the frames; a [`Pace`] determines when they arrive and a [`PortAssignment`] where.
//! [`schedule`] turns them into [`FrameArrival`]s on wires that obey Ethernet: a frame occupies the line for
//! its bits, including preamble, padding and FCS, and the next one on the same port waits for it and the gap.
//! The arithmetic is exact; times are rounded down to picoseconds only in the arrivals. A [`Replay`] does the
//! same for a file of any length, without holding it in memory.

mod assignment;
mod frame_reader;
mod line_time;
mod placing;
mod replay;
mod schedule;
mod speed;

pub use assignment::PortAssignment;
pub(crate) use assignment::flow_hash;
pub use line_time::{line_end_ps, line_free_ps};
pub use placing::schedule;
pub use replay::{Replay, ReplayError, ReplayFrames, Survey};
pub use schedule::{ArrivalSchedule, FrameArrival, PortLoad};
pub use speed::Pace;

use crate::RatioError;

/// The line of one port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PortLine {
    /// Data rate in bits per second, such as 1 000 000 000 for gigabit Ethernet.
    pub bits_per_second: u64,
}

/// Why frames cannot be scheduled, or why the text of a pace or an assignment is invalid.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum PaceError {
    /// There are no ports.
    #[error("there is no port to put frames on; give at least one port a line")]
    NoPorts,
    /// A port with a line of 0 bit/s.
    #[error(
        "port {port} has a line rate of 0 bit/s, on which no frame ever arrives; give it a rate"
    )]
    ZeroLineRate {
        /// The port.
        port: u32,
    },
    /// [`PortAssignment::Fixed`] with a port that does not exist.
    #[error("all frames are to go to port {port}, but there are only {ports} ports (0 to {last})", last = ports - 1)]
    NoSuchPort {
        /// The requested port.
        port: u32,
        /// The number of ports.
        ports: u32,
    },
    /// A time beyond the end of any run.
    #[error(
        "frame {frame} would arrive more than 10 years after the start; choose a faster pace or line"
    )]
    TooLong {
        /// Index of the frame, from 0.
        frame: usize,
    },
    /// The text is not a pace.
    #[error(
        "`{text}` is not a pace: write trace (times of the capture), recorded (those of a recording of `npsim live`), 2x (twice as fast), line (back to back), or a rate such as 200pps, 100kpps, 4.5Mpps"
    )]
    UnknownPace {
        /// The text.
        text: String,
    },
    /// The number in a pace is invalid.
    #[error("the pace `{text}` has no usable number: {source}")]
    PaceNumber {
        /// The text.
        text: String,
        /// What is wrong with the number.
        source: RatioError,
    },
    /// [`Pace::Recorded`] is used with frames in memory.
    #[error(
        "the pace `recorded` replays the file of a recording: `npsim run` and `npsim debug` have it"
    )]
    NoRecording,
    /// [`Pace::Recorded`] is used with an assignment other than by interface.
    #[error(
        "a recording says at which port each frame came in, so frames cannot be given to ports in another way"
    )]
    RecordedPorts,
    /// A recording has a different number of ports.
    #[error("the recording has {recorded} ports, and there are {ports}")]
    PortCount {
        /// Ports of the recording.
        recorded: usize,
        /// The number of ports.
        ports: usize,
    },
    /// A port of a recording had a line of another rate.
    #[error("port {port} was recorded on a line of {recorded} bit/s, and has one of {now} bit/s")]
    LineRateMismatch {
        /// The port.
        port: u32,
        /// Its rate in the recording.
        recorded: u64,
        /// Its rate now.
        now: u64,
    },
    /// A recorded frame begins while the previous one is still on the line.
    #[error(
        "frame {frame} of the recording begins at port {port} before the one in front of it and the gap are over: the file is not as it was recorded"
    )]
    Overlap {
        /// Index of the frame, from 0.
        frame: usize,
        /// The port.
        port: u32,
    },
    /// The text is not an assignment.
    #[error(
        "`{text}` does not say how frames are given to ports: write interface, round-robin, flow, or a port number"
    )]
    UnknownAssignment {
        /// The text.
        text: String,
    },
}

#[cfg(test)]
mod tests;
