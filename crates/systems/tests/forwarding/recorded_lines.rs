//! Lines that record their traffic.

use npsim::project::Project;
use npsim_chip::Cycle;
use npsim_chip::kernel::port_io::{Arrival, Departure, MediaDrop, PortIo};
use npsim_net::pace::{Pace, PortAssignment, PortLine, schedule};
use npsim_net::{Frame, LineFrame};

const PICO: u128 = 1_000_000_000_000;

/// A frame that left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    pub start: Cycle,
    pub end: Cycle,
    pub port: u8,
    pub bytes: Vec<u8>,
    /// The number of the arrival that it was made from.
    pub frame: Option<u64>,
}

/// A frame that was lost at the media interface.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lost {
    pub cycle: Cycle,
    pub port: u8,
    pub frame: Option<u64>,
    pub reason: MediaDrop,
}

/// Lines with frames to arrive and a record of departures and losses.
#[derive(Clone, Debug)]
pub struct RecordedLines {
    pub arrivals: Vec<Arrival>,
    next: usize,
    pub departures: Vec<Sent>,
    pub drops: Vec<Lost>,
}

impl RecordedLines {
    /// Lines on which these frames arrive.
    pub fn new(arrivals: Vec<Arrival>) -> Self {
        Self {
            arrivals,
            next: 0,
            departures: Vec::new(),
            drops: Vec::new(),
        }
    }

    /// Lines of a project on which these frames arrive. Short frames are padded as on Ethernet.
    pub fn with_frames(project: &Project, frames: impl IntoIterator<Item = LineFrame>) -> Self {
        let hertz = u128::from(project.capacity.hertz);
        let cycles = |ps: u128| (ps * hertz).div_ceil(PICO) as Cycle;
        let arrival = |(number, frame): (u64, LineFrame)| {
            let mut bytes = frame.bytes;
            bytes.resize(bytes.len().max(60), 0);
            Arrival {
                start: cycles(frame.start_ps),
                end: cycles(frame.end_ps),
                port: frame.port as u8,
                bytes,
                frame: number,
            }
        };
        Self::new((0..).zip(frames).map(arrival).collect())
    }

    /// Lines of a project on which a capture's frames arrive.
    pub fn with_capture(
        project: &Project,
        frames: &[Frame],
        ports: PortAssignment,
        pace: Pace,
    ) -> Self {
        let ends = project.boot.ports.iter();
        let lines: Vec<_> = ends
            .map(|port| PortLine {
                bits_per_second: port.bits_per_second,
            })
            .collect();
        let plan = schedule(frames, &lines, ports, pace).unwrap();
        let arrivals = plan.arrivals.iter().map(|planned| LineFrame {
            start_ps: planned.start_ps,
            end_ps: planned.end_ps,
            port: planned.port,
            bytes: frames[planned.frame].bytes.clone(),
        });
        Self::with_frames(project, arrivals)
    }

    /// When the last frame has arrived.
    pub fn arrivals_end(&self) -> Cycle {
        self.arrivals
            .iter()
            .map(|arrival| arrival.end)
            .max()
            .unwrap_or(0)
    }
}

impl PortIo for RecordedLines {
    fn next_arrival(&mut self) -> Option<Arrival> {
        let arrival = self.arrivals.get(self.next).cloned();
        self.next += usize::from(arrival.is_some());
        arrival
    }

    fn departed(&mut self, departure: Departure<'_>) {
        self.departures.push(Sent {
            start: departure.start,
            end: departure.end,
            port: departure.port,
            bytes: departure.bytes.to_vec(),
            frame: departure.frame,
        });
    }

    fn dropped(&mut self, cycle: Cycle, port: u8, frame: Option<u64>, reason: MediaDrop) {
        self.drops.push(Lost {
            cycle,
            port,
            frame,
            reason,
        });
    }
}
