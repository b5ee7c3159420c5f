//! Frames of a capture or a generator, which come in at the first node or the only one.

use std::sync::Arc;

use npsim_chip::units::msf::clock::ClockRatio;
use npsim_net::capture::CaptureError;
use npsim_net::pace::ArrivalSchedule;
use npsim_net::{Frame, LineFrame};

use super::link::Crossing;

const PICO: u64 = 1_000_000_000_000;

/// Where frames come from, in the order of their first bit. After an error no
/// more are asked for.
pub type Frames = Box<dyn Iterator<Item = Result<LineFrame, CaptureError>> + Send>;

/// Frames in memory as a schedule puts them on lines.
#[must_use]
pub fn captured(
    frames: impl Into<Arc<[Frame]>>,
    schedule: impl Into<Arc<ArrivalSchedule>>,
) -> Frames {
    let (frames, schedule) = (frames.into(), schedule.into());
    let arrivals = 0..schedule.arrivals.len();
    Box::new(arrivals.map(move |number| {
        let planned = &schedule.arrivals[number];
        Ok(LineFrame {
            start_ps: planned.start_ps,
            end_ps: planned.end_ps,
            port: planned.port,
            bytes: frames[planned.frame].bytes.clone(),
        })
    }))
}

/// Frames with the next one read ahead: only with its time is it known whether the chip may skip
/// time until then.
pub struct Stream {
    frames: Frames,
    next: Option<Crossing>,
    failure: Option<CaptureError>,
    /// Picoseconds, in cycles.
    picoseconds: ClockRatio,
}

impl Stream {
    /// Reads the first frame.
    pub fn new(frames: Frames, hertz: u64) -> Self {
        let mut stream = Self {
            frames,
            next: None,
            failure: None,
            picoseconds: ClockRatio::new(hertz, PICO),
        };
        stream.read();
        stream
    }

    /// The frame that comes next.
    pub fn front(&self) -> Option<&Crossing> {
        self.next.as_ref()
    }

    /// Takes the frame that comes next.
    pub fn pop(&mut self) -> Option<Crossing> {
        let frame = self.next.take()?;
        self.read();
        Some(frame)
    }

    /// Why no more frames could be read.
    pub fn failure(&self) -> Option<&CaptureError> {
        self.failure.as_ref()
    }

    fn read(&mut self) {
        match self.frames.next() {
            Some(Ok(frame)) => {
                self.next = Some(Crossing {
                    start: self.picoseconds.cycle(frame.start_ps),
                    end: self.picoseconds.cycle(frame.end_ps),
                    // Sources number ports below the number of lines, of which a chip has few.
                    port: frame.port as u8,
                    bytes: frame.bytes,
                    origin: None,
                });
            }
            Some(Err(error)) => self.failure = Some(error),
            None => {}
        }
    }
}
