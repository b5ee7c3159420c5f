//! Places frames on their lines one after the other.

use super::schedule::{ArrivalSchedule, FrameArrival, PortLoad};
use super::{Pace, PaceError, PortAssignment, PortLine};
use crate::Frame;
use crate::ethernet::{GAP_BYTES, MIN_FRAME_BYTES, busy_bytes, line_bytes};
use crate::recording::SECOND_PS;

/// Ten years, which no run of a chip exceeds.
const MAX_TIME_PS: u128 = 10 * 365 * 24 * 3600 * SECOND_PS;

/// The timeline of a port's line. Times are exact, in units of 1/rate picoseconds; a bit takes 10^12 of them.
#[derive(Clone, Debug)]
struct ExactLine {
    rate: u128,
    free: u128,
}

/// Assigns ports and times to frames.
#[derive(Clone, Debug)]
pub(super) struct Placing {
    lines: Vec<ExactLine>,
    assignment: PortAssignment,
    pace: Pace,
    /// Totals so far, without the arrivals.
    pub(super) plan: ArrivalSchedule,
}

impl Placing {
    pub(super) fn new(
        ports: &[PortLine],
        assignment: PortAssignment,
        pace: Pace,
    ) -> Result<Self, PaceError> {
        if pace == Pace::Recorded && assignment != PortAssignment::ByInterface {
            return Err(PaceError::RecordedPorts);
        }
        let count = ports.len() as u32;
        if count == 0 {
            return Err(PaceError::NoPorts);
        }
        if let Some(port) = ports.iter().position(|line| line.bits_per_second == 0) {
            return Err(PaceError::ZeroLineRate { port: port as u32 });
        }
        match assignment {
            PortAssignment::Fixed(port) if port >= count => {
                return Err(PaceError::NoSuchPort { port, ports: count });
            }
            _ => {}
        }
        let lines = ports.iter().map(|line| ExactLine {
            rate: u128::from(line.bits_per_second),
            free: 0,
        });
        Ok(Self {
            lines: lines.collect(),
            assignment,
            pace,
            plan: ArrivalSchedule {
                ports: vec![PortLoad::default(); ports.len()],
                ..ArrivalSchedule::default()
            },
        })
    }

    /// Returns the port of frame `index`.
    pub(super) fn port(&self, index: usize, frame: &Frame) -> u32 {
        self.assignment.port(index, frame, self.lines.len() as u32)
    }

    /// Places frame `index`, which was seen at `seen_ps`, on the line of its port.
    pub(super) fn place(
        &mut self,
        index: usize,
        frame: &Frame,
        seen_ps: u128,
    ) -> Result<FrameArrival, PaceError> {
        let port = self.port(index, frame);
        let (line, plan) = (&mut self.lines[port as usize], &mut self.plan);
        let load = &mut plan.ports[port as usize];
        let too_long = PaceError::TooLong { frame: index };

        let wanted_ps = wanted_ps(index, seen_ps, self.pace);
        // A time within the limit, below 2^69 ps, fits for any line rate below 2^58 bit/s, and so do the few bits
        // that a frame adds.
        let start = match wanted_ps {
            Some(wanted_ps) if wanted_ps > MAX_TIME_PS => return Err(too_long),
            Some(wanted_ps) => {
                let wanted = wanted_ps.checked_mul(line.rate).ok_or(too_long.clone())?;
                if self.pace == Pace::Recorded {
                    // A time that was rounded down may be up to a picosecond before the end of the gap.
                    if wanted + line.rate < line.free {
                        return Err(PaceError::Overlap { frame: index, port });
                    }
                    wanted
                } else {
                    line.free.max(wanted)
                }
            }
            None => line.free,
        };
        let end = start
            .checked_add(u128::from(busy_bytes(frame.bytes.len()) * 8) * SECOND_PS)
            .ok_or(too_long.clone())?;
        line.free = end.saturating_add(u128::from(GAP_BYTES * 8) * SECOND_PS);
        let end_ps = end / line.rate;
        if end_ps > MAX_TIME_PS {
            return Err(too_long);
        }
        let start_ps = start / line.rate;

        if let Some(wanted_ps) = wanted_ps
            && start > wanted_ps * line.rate
        {
            plan.waited += 1;
            plan.max_wait_ps = plan.max_wait_ps.max(start_ps - wanted_ps);
        }
        plan.padded += u64::from((frame.bytes.len() as u64) < MIN_FRAME_BYTES);
        load.frames += 1;
        load.frame_bytes += frame.bytes.len() as u64;
        load.line_bits += line_bytes(frame.bytes.len()) * 8;
        load.end_ps = end_ps;
        Ok(FrameArrival {
            start_ps,
            end_ps,
            port,
            frame: index,
        })
    }
}

/// Places `frames` on the lines of `ports`. A frame occupies the line for its captured bytes, even if the capture
/// truncated it; its time is when its first bit is to arrive.
///
/// # Errors
/// Returns an error if there are no ports, a line has no rate, a fixed port does not exist, or times do not fit in
/// 64 bits of picoseconds.
pub fn schedule(
    frames: &[Frame],
    ports: &[PortLine],
    assignment: PortAssignment,
    pace: Pace,
) -> Result<ArrivalSchedule, PaceError> {
    if pace == Pace::Recorded {
        return Err(PaceError::NoRecording);
    }
    let mut placing = Placing::new(ports, assignment, pace)?;
    let placed = frames.iter().enumerate();
    let mut arrivals = placed
        .map(|(index, frame)| placing.place(index, frame, seen_ps(frame)))
        .collect::<Result<Vec<_>, _>>()?;
    // The sort is stable, so that frames of one port stay in order even on a line faster than one frame per
    // picosecond.
    arrivals.sort_by_key(|arrival| (arrival.start_ps, arrival.port));
    Ok(ArrivalSchedule {
        arrivals,
        ..placing.plan
    })
}

/// Returns when a capture saw a frame, in picoseconds since its first one.
pub(super) fn seen_ps(frame: &Frame) -> u128 {
    u128::from(frame.time_ns) * 1000
}

/// Returns when the frame should begin at this pace, in whole picoseconds; `None` for as soon as the line is free.
fn wanted_ps(index: usize, seen_ps: u128, pace: Pace) -> Option<u128> {
    let (units, ratio) = match pace {
        Pace::Line => return None,
        Pace::Recorded => return Some(seen_ps),
        Pace::Trace { speed } => (seen_ps, speed),
        Pace::Rate { packets_per_second } => (index as u128 * SECOND_PS, packets_per_second),
    };
    // At most 2^74 or 2^87 (2^47 frames) times 2^40.
    Some(units * u128::from(ratio.denominator()) / u128::from(ratio.numerator()))
}
