//! Frames to arrivals.

use super::{Pace, PaceError, PortAssignment, PortLine};
use crate::Frame;
use crate::ethernet::{GAP_BYTES, MIN_FRAME_BYTES, busy_bytes, line_bytes};

/// Picoseconds in a second.
const SECOND_PS: u128 = 1_000_000_000_000;

/// One frame on the wire of a port.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Arrival {
    /// When the first bit of the preamble arrives, in picoseconds since the start.
    pub start_ps: u64,
    /// When the last bit of the FCS has arrived, in picoseconds since the start.
    pub end_ps: u64,
    /// The port.
    pub port: u32,
    /// Index of the frame in the capture.
    pub frame: usize,
}

/// What one port receives.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct PortLoad {
    /// Frames.
    pub frames: u64,
    /// Bytes of frames, without padding, FCS, preamble and gap.
    pub frame_bytes: u64,
    /// Bits of line time: preamble, padded frame, FCS and gap. Divided by the line's rate and the
    /// duration this is the exact utilisation.
    pub line_bits: u64,
    /// When the last bit of the last frame has arrived, in picoseconds since the start.
    pub end_ps: u64,
}

/// When every frame arrives.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Schedule {
    /// Sorted by start, then port.
    pub arrivals: Vec<Arrival>,
    /// One for each port.
    pub ports: Vec<PortLoad>,
    /// Frames shorter than 60 bytes, which take the time of 60.
    pub padded: u64,
    /// Frames that came later than the pace asked for because the line was busy. None with [`Pace::Line`].
    pub waited: u64,
    /// The longest such wait, in picoseconds.
    pub max_wait_ps: u64,
}

impl Schedule {
    /// When the last frame has arrived, in picoseconds since the start; 0 without frames.
    #[must_use]
    pub fn end_ps(&self) -> u64 {
        self.ports.iter().map(|load| load.end_ps).max().unwrap_or(0)
    }
}

/// The line of a port in time. Times are exact: counted in units of 1/rate picoseconds, of which a bit takes 10^12.
struct Line {
    rate: u128,
    free: u128,
}

/// Puts `frames` on the lines of `ports`. The bytes of a frame are what takes time, also where the capture
/// cut it; the time of a frame is when its first bit is to arrive.
///
/// # Errors
/// If there are no ports, a line has no rate, a fixed port does not exist, or times leave 64 bits of picoseconds.
pub fn schedule(
    frames: &[Frame],
    ports: &[PortLine],
    assignment: PortAssignment,
    pace: Pace,
) -> Result<Schedule, PaceError> {
    let count = ports.len() as u32;
    if count == 0 {
        return Err(PaceError::NoPorts);
    }
    if let Some(port) = ports.iter().position(|line| line.bits_per_second == 0) {
        return Err(PaceError::DeadLine { port: port as u32 });
    }
    match assignment {
        PortAssignment::Fixed(port) if port >= count => {
            return Err(PaceError::NoSuchPort { port, ports: count });
        }
        _ => {}
    }

    let mut lines: Vec<Line> = ports
        .iter()
        .map(|line| Line {
            rate: u128::from(line.bits_per_second),
            free: 0,
        })
        .collect();
    let mut plan = Schedule {
        arrivals: Vec::with_capacity(frames.len()),
        ports: vec![PortLoad::default(); ports.len()],
        ..Schedule::default()
    };
    for (index, frame) in frames.iter().enumerate() {
        let port = assignment.port(index, frame, count);
        let line = &mut lines[port as usize];
        let load = &mut plan.ports[port as usize];
        let too_long = |_| PaceError::TooLong { frame: index };

        // 2^64 ps times a rate of 2^64 fits, and so do the few bits that a frame adds.
        let wanted_ps = wanted_ps(index, frame, pace);
        let start = match wanted_ps {
            Some(wanted_ps) => line
                .free
                .max(u128::from(u64::try_from(wanted_ps).map_err(too_long)?) * line.rate),
            None => line.free,
        };
        let end = start + u128::from(busy_bytes(frame.bytes.len()) * 8) * SECOND_PS;
        line.free = end + u128::from(GAP_BYTES * 8) * SECOND_PS;
        let end_ps = u64::try_from(end / line.rate).map_err(too_long)?;
        // Rounded down from a time before the end, so it fits too.
        let start_ps = (start / line.rate) as u64;

        if let Some(wanted_ps) = wanted_ps
            && start > wanted_ps * line.rate
        {
            plan.waited += 1;
            plan.max_wait_ps = plan.max_wait_ps.max(start_ps - wanted_ps as u64);
        }
        plan.padded += u64::from((frame.bytes.len() as u64) < MIN_FRAME_BYTES);
        load.frames += 1;
        load.frame_bytes += frame.bytes.len() as u64;
        load.line_bits += line_bytes(frame.bytes.len()) * 8;
        load.end_ps = end_ps;
        plan.arrivals.push(Arrival {
            start_ps,
            end_ps,
            port,
            frame: index,
        });
    }
    // Stable, so that frames of one port stay in order even where a line is faster than a picosecond.
    plan.arrivals
        .sort_by_key(|arrival| (arrival.start_ps, arrival.port));
    Ok(plan)
}

/// When the pace wants the frame to begin, in whole picoseconds; `None` for as soon as the line is free.
fn wanted_ps(index: usize, frame: &Frame, pace: Pace) -> Option<u128> {
    let (units, ratio) = match pace {
        Pace::Line => return None,
        Pace::Trace { speed } => (u128::from(frame.time_ns) * 1000, speed),
        Pace::Rate { packets_per_second } => (index as u128 * SECOND_PS, packets_per_second),
    };
    // At most 2^74 or 2^87 (2^47 frames) times 2^40.
    Some(units * u128::from(ratio.denominator()) / u128::from(ratio.numerator()))
}
