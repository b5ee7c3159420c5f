//! The outside of the chip in a run: frames of a schedule come in, departures
//! go to a capture and are timed.

use std::collections::BTreeMap;
use std::io;

use npsim_chip::Cycle;
use npsim_chip::lines::{Arrival, Departure, Lines, MediaDrop};
use npsim_net::Frame;
use npsim_net::egress::{PcapSink, Position};
use npsim_net::ethernet::MIN_FRAME_BYTES;
use npsim_net::pace::Schedule;
use serde::{Deserialize, Serialize};

const PICO: u128 = 1_000_000_000_000;
const NANO: u128 = 1_000_000_000;

/// What came and went on the lines.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Traffic {
    /// Frames put on the lines.
    pub offered_frames: u64,
    /// Their bytes, padded to the least Ethernet frame, without check sequence.
    pub offered_bytes: u64,
    /// Frames that left.
    pub sent_frames: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Frames that left and could be traced to no frame that came.
    pub untraced_frames: u64,
    /// First preamble bit of the first arrival.
    pub first_arrival: Option<Cycle>,
    /// Last bit of the last arrival.
    pub last_arrival: Cycle,
    /// First preamble bit of the first departure.
    pub first_departure: Option<Cycle>,
    /// Last bit of the last departure.
    pub last_departure: Cycle,
    /// Cycles from the last bit in to the last bit out, of every traced
    /// departure, in the order of departure.
    pub latencies: Vec<Cycle>,
    /// Frames lost at the media interface, by port and reason.
    pub drops: BTreeMap<(u8, MediaDrop), u64>,
}

/// Where the lines stand in the middle of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct WiresState {
    /// Frames handed to the chip.
    next: u64,
    /// What came and went.
    traffic: Traffic,
    /// How far the capture of departures has come.
    capture: Option<Position>,
}

impl WiresState {
    /// How far the capture of departures has come, where there is one.
    #[must_use]
    pub fn capture(&self) -> Option<&Position> {
        self.capture.as_ref()
    }
}

/// Frames on their way in, and what becomes of them.
#[derive(Debug)]
pub struct Wires<'a> {
    frames: &'a [Frame],
    schedule: &'a Schedule,
    hertz: u64,
    /// Added to the times of departures, ns since 1970.
    origin_ns: u64,
    next: usize,
    sink: Option<PcapSink>,
    failure: Option<io::Error>,
    /// What came and went so far.
    pub traffic: Traffic,
}

impl<'a> Wires<'a> {
    /// Lines on which nothing has happened yet.
    #[must_use]
    pub fn new(
        frames: &'a [Frame],
        schedule: &'a Schedule,
        origin_ns: u64,
        hertz: u64,
        sink: Option<PcapSink>,
    ) -> Self {
        Self {
            frames,
            schedule,
            hertz,
            origin_ns,
            next: 0,
            sink,
            failure: None,
            traffic: Traffic::default(),
        }
    }

    /// Where the lines stand. What was captured so far is safe on the disk then;
    /// the sink has to be one that can be gone on with.
    ///
    /// # Errors
    /// The capture of departures could not be written.
    pub fn save(&mut self) -> io::Result<WiresState> {
        if let Some(error) = &self.failure {
            return Err(io::Error::new(error.kind(), error.to_string()));
        }
        let capture = self.sink.as_mut().map(PcapSink::position).transpose()?;
        Ok(WiresState {
            next: self.next as u64,
            traffic: self.traffic.clone(),
            capture,
        })
    }

    /// Goes on where other lines with the same frames and schedule stood. The
    /// sink is already where it has to be. False if there are not as many frames.
    #[must_use]
    pub fn restore(&mut self, state: WiresState) -> bool {
        self.next = usize::try_from(state.next).unwrap_or(usize::MAX);
        self.traffic = state.traffic;
        self.next <= self.schedule.arrivals.len()
    }

    /// Whether every frame has been handed to the chip.
    #[must_use]
    pub fn all_offered(&self) -> bool {
        self.next >= self.schedule.arrivals.len()
    }

    /// When the last frame of the schedule has arrived.
    #[must_use]
    pub fn arrivals_end(&self) -> Cycle {
        self.cycles(self.schedule.end_ps())
    }

    /// Whether the capture of departures could not be written.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.failure.is_some()
    }

    /// Completes the capture of departures after a run that ended at `end`.
    ///
    /// # Errors
    /// It could not be written, now or earlier.
    pub fn finish(mut self, end: Cycle) -> io::Result<Traffic> {
        self.count_arrivals(end);
        if let Some(error) = self.failure {
            return Err(error);
        }
        if let Some(sink) = self.sink {
            sink.finish()?;
        }
        Ok(self.traffic)
    }

    /// Counts what began to arrive until `end`; the chip knows of a frame before
    /// it comes.
    fn count_arrivals(&mut self, end: Cycle) {
        for planned in &self.schedule.arrivals[..self.next] {
            let start = self.cycles(planned.start_ps);
            if start > end {
                break;
            }
            self.traffic.offered_frames += 1;
            self.traffic.offered_bytes += padded(self.frames[planned.frame].bytes.len()) as u64;
            self.traffic.first_arrival.get_or_insert(start);
            self.traffic.last_arrival = self.traffic.last_arrival.max(self.cycles(planned.end_ps));
        }
    }

    /// Picoseconds to cycles, rounded up.
    fn cycles(&self, ps: u64) -> Cycle {
        (u128::from(ps) * u128::from(self.hertz)).div_ceil(PICO) as Cycle
    }
}

/// Bytes that a frame has on the line, without check sequence.
fn padded(length: usize) -> usize {
    length.max(MIN_FRAME_BYTES as usize)
}

impl Lines for Wires<'_> {
    fn next_arrival(&mut self) -> Option<Arrival> {
        let planned = *self.schedule.arrivals.get(self.next)?;
        self.next += 1;
        let mut bytes = self.frames[planned.frame].bytes.clone();
        bytes.resize(padded(bytes.len()), 0);
        let start = self.cycles(planned.start_ps);
        // `schedule` numbers ports below the number of lines it was given, which fits.
        Some(Arrival {
            start,
            end: self.cycles(planned.end_ps),
            port: planned.port as u8,
            bytes,
            frame: (self.next - 1) as u64,
        })
    }

    fn departed(&mut self, departure: Departure<'_>) {
        self.traffic.sent_frames += 1;
        self.traffic.sent_bytes += departure.bytes.len() as u64;
        self.traffic.first_departure.get_or_insert(departure.start);
        self.traffic.last_departure = self.traffic.last_departure.max(departure.end);
        match departure
            .frame
            .and_then(|frame| self.schedule.arrivals.get(frame as usize))
        {
            Some(arrival) => self
                .traffic
                .latencies
                .push(departure.end.saturating_sub(self.cycles(arrival.end_ps))),
            None => self.traffic.untraced_frames += 1,
        }
        let ns = (u128::from(departure.end) * NANO / u128::from(self.hertz)) as u64;
        if let Some(sink) = &mut self.sink
            && self.failure.is_none()
        {
            self.failure = sink
                .write(self.origin_ns.saturating_add(ns), departure.bytes)
                .err();
        }
    }

    fn dropped(&mut self, _cycle: Cycle, port: u8, _frame: Option<u64>, reason: MediaDrop) {
        *self.traffic.drops.entry((port, reason)).or_default() += 1;
    }
}

#[cfg(test)]
mod tests {
    use super::Wires;
    use npsim_chip::lines::{Departure, Lines};
    use npsim_net::Frame;
    use npsim_net::pace::{Pace, PortAssignment, PortLine, schedule};

    #[test]
    fn latency_is_from_last_bit_in_to_last_bit_out() {
        let frames = vec![Frame {
            time_ns: 0,
            port: 0,
            bytes: vec![1; 14],
            original_len: 14,
        }];
        let line = [PortLine {
            bits_per_second: 1_000_000_000,
        }];
        let plan = schedule(&frames, &line, PortAssignment::default(), Pace::Line).unwrap();
        let mut wires = Wires::new(&frames, &plan, 0, 600_000_000, None);
        assert!(!wires.all_offered());
        let arrival = wires.next_arrival().unwrap();
        // 72 bytes on a gigabit line: 576 ns, 345.6 cycles.
        assert_eq!(
            (arrival.start, arrival.end, arrival.bytes.len()),
            (0, 346, 60)
        );
        assert!(wires.all_offered() && wires.next_arrival().is_none());
        for frame in [Some(0), None, Some(99)] {
            wires.departed(Departure {
                start: 700,
                end: 1046,
                port: 1,
                bytes: &arrival.bytes,
                frame,
            });
        }
        let traffic = wires.finish(1100).unwrap();
        assert_eq!(
            (
                traffic.offered_frames,
                traffic.offered_bytes,
                traffic.last_arrival
            ),
            (1, 60, 346)
        );
        assert_eq!(traffic.latencies, [700]);
        assert_eq!(
            (
                traffic.sent_frames,
                traffic.untraced_frames,
                traffic.sent_bytes
            ),
            (3, 2, 180)
        );
    }

    #[test]
    fn a_frame_that_has_not_come_is_not_offered() {
        let frame = |time_ns| Frame {
            time_ns,
            port: 0,
            bytes: vec![1; 60],
            original_len: 60,
        };
        let frames = vec![frame(0), frame(1_000_000)];
        let line = [PortLine {
            bits_per_second: 1_000_000_000,
        }];
        let plan = schedule(
            &frames,
            &line,
            PortAssignment::default(),
            "trace".parse().unwrap(),
        )
        .unwrap();
        for (end, offered) in [(599_999, 1), (600_000, 2)] {
            let mut wires = Wires::new(&frames, &plan, 0, 600_000_000, None);
            while wires.next_arrival().is_some() {}
            assert_eq!(wires.finish(end).unwrap().offered_frames, offered);
        }
    }
}
