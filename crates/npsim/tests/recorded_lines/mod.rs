//! Lines that write down what happens on them.

use npsim_chip::Cycle;
use npsim_chip::kernel::lines::{Arrival, Departure, Lines, MediaDrop};

/// A frame that left.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Sent {
    pub start: Cycle,
    pub end: Cycle,
    pub port: u8,
    pub bytes: Vec<u8>,
    /// Which arrival it was made from, in the order of arrival.
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

/// Lines with frames to come and a record of what left and what was lost.
#[derive(Clone, Debug)]
pub struct RecordedLines {
    pub arrivals: Vec<Arrival>,
    next: usize,
    pub departures: Vec<Sent>,
    pub drops: Vec<Lost>,
}

impl RecordedLines {
    /// Lines on which these frames come.
    pub fn new(arrivals: Vec<Arrival>) -> Self {
        Self {
            arrivals,
            next: 0,
            departures: Vec::new(),
            drops: Vec::new(),
        }
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

impl Lines for RecordedLines {
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
