//! The outside of the chip in a run: frames come in one by one, departures go to
//! a capture and are timed. However long a run is, it needs no more memory.

pub(crate) mod link;

use std::collections::BTreeMap;
use std::fmt;
use std::io;

use npsim_chip::Cycle;
use npsim_chip::kernel::lines::{Arrival, Departure, Lines, MediaDrop};
use npsim_net::capture::CaptureError;
use npsim_net::egress::{PcapSink, Position};
use npsim_net::ethernet::MIN_FRAME_BYTES;
use npsim_net::load::Generator;
use npsim_net::pace::Schedule;
use npsim_net::{Frame, LineFrame};
use serde::{Deserialize, Serialize};

use crate::histogram::Histogram;
use link::{Crossing, Inlet, InletState, Next, Origin, Outlet};

const PICO: u128 = 1_000_000_000_000;
const NANO: u128 = 1_000_000_000;

/// Where frames come from, in the order of their first bit. After an error no
/// more are asked for.
pub type Frames<'a> = Box<dyn Iterator<Item = Result<LineFrame, CaptureError>> + Send + 'a>;

/// Frames in memory as a schedule puts them on lines.
#[must_use]
pub fn captured<'a>(frames: &'a [Frame], schedule: &'a Schedule) -> Frames<'a> {
    Box::new(schedule.arrivals.iter().map(|planned| {
        Ok(LineFrame {
            start_ps: planned.start_ps,
            end_ps: planned.end_ps,
            port: planned.port,
            bytes: frames[planned.frame].bytes.clone(),
        })
    }))
}

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
    /// departure.
    pub latencies: Histogram,
    /// Frames lost at the media interface, by port and reason.
    pub drops: BTreeMap<(u8, MediaDrop), u64>,
    /// The same by port; ports after the last one that had traffic are left out.
    pub ports: Vec<PortTraffic>,
}

/// What came and went at one port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortTraffic {
    /// Frames put on the line.
    pub offered_frames: u64,
    /// Their bytes.
    pub offered_bytes: u64,
    /// Frames that left.
    pub sent_frames: u64,
    /// Their bytes.
    pub sent_bytes: u64,
    /// Frames lost at the media interface, on their way in or out.
    pub dropped_frames: u64,
}

impl Traffic {
    fn port(&mut self, port: u8) -> &mut PortTraffic {
        let index = usize::from(port);
        if index >= self.ports.len() {
            self.ports.resize(index + 1, PortTraffic::default());
        }
        &mut self.ports[index]
    }
}

/// Something that inspects each frame that comes, leaves or is lost.
pub trait Tap {
    /// A frame was handed to the chip, which is before its first bit comes.
    fn arriving(&mut self, _arrival: &Arrival) {}

    /// A frame has left.
    fn departed(&mut self, _departure: &Departure<'_>) {}

    /// A frame was lost at the media interface.
    fn dropped(&mut self, _cycle: Cycle, _port: u8, _frame: Option<u64>, _reason: MediaDrop) {}
}

/// A frame that was handed to the chip and may not have begun to come.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Handed {
    start: Cycle,
    end: Cycle,
    port: u8,
    bytes: u64,
}

/// Where the lines stand in the middle of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinksState {
    /// Frames handed to the chip.
    next: u64,
    /// The last of them, if it has not begun to come.
    handed: Option<Handed>,
    /// What came and went.
    traffic: Traffic,
    /// How far the capture of departures has come.
    capture: Option<Position>,
    /// What is on the link from the node before, if frames come from there.
    inlet: Option<Linked>,
    /// Frames that have left and are not known to be the next ones on the link to
    /// the node behind, if there is one.
    outlet: Option<Outlet>,
}

/// The lines of a node that another one is before.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct Linked {
    inlet: InletState,
    /// The frame after the one that the chip knows of: first and last bit in
    /// picoseconds, port, bytes.
    ahead: Option<(u64, u64, u32, Vec<u8>)>,
    arrivals_end: Cycle,
    since_entry: Histogram,
}

impl LinksState {
    /// How far the capture of departures has come, where there is one.
    #[must_use]
    pub fn capture(&self) -> Option<&Position> {
        self.capture.as_ref()
    }
}

/// Where frames come from.
enum Source<'a> {
    Frames(Frames<'a>),
    /// The node before.
    Link(Inlet),
}

/// Frames on their way in, and what becomes of them.
pub struct Links<'a> {
    source: Source<'a>,
    /// The frame after the one that the chip knows of.
    ahead: Option<LineFrame>,
    /// Whether there may be such a frame and it is not known yet.
    starved: bool,
    handed: Option<Handed>,
    next: u64,
    /// Last bit of all frames so far.
    arrivals_end: Cycle,
    hertz: u64,
    /// Added to the times of departures, ns since 1970.
    origin_ns: u64,
    sink: Option<PcapSink>,
    tap: Option<Box<dyn Tap + Send + 'a>>,
    /// Sees what leaves, by number and arrival at the first node.
    exit: Option<Box<dyn Tap + Send + 'a>>,
    /// The way to the node behind.
    outlet: Option<Outlet>,
    /// Cycles since the last bit into the first node, where that is another one.
    since_entry: Histogram,
    output_failure: Option<io::Error>,
    input_failure: Option<CaptureError>,
    /// What came and went so far.
    pub traffic: Traffic,
}

impl fmt::Debug for Links<'_> {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Links")
            .field("next", &self.next)
            .field("ahead", &self.ahead)
            .field("arrivals_end", &self.arrivals_end)
            .field("traffic", &self.traffic)
            .finish_non_exhaustive()
    }
}

impl<'a> Links<'a> {
    /// Lines on which nothing has happened yet, for frames in memory.
    #[must_use]
    pub fn new(
        frames: &'a [Frame],
        schedule: &'a Schedule,
        origin_ns: u64,
        hertz: u64,
        sink: Option<PcapSink>,
    ) -> Self {
        Self::streaming(captured(frames, schedule), origin_ns, hertz, sink)
    }

    /// Lines on which a load comes in.
    #[must_use]
    pub fn loaded(load: Generator, hertz: u64, sink: Option<PcapSink>) -> Self {
        Self::streaming(Box::new(load.map(Ok)), 0, hertz, sink)
    }

    /// Lines on which nothing has happened yet. `origin_ns` is added to the times
    /// of departures.
    #[must_use]
    pub fn streaming(
        frames: Frames<'a>,
        origin_ns: u64,
        hertz: u64,
        sink: Option<PcapSink>,
    ) -> Self {
        Self::of(Source::Frames(frames), origin_ns, hertz, sink)
    }

    /// Lines to which frames come from another node, after so many cycles.
    pub(crate) fn linked(delay: Cycle, origin_ns: u64, hertz: u64, sink: Option<PcapSink>) -> Self {
        let source = Source::Link(Inlet::new(delay, hertz));
        Self::of(source, origin_ns, hertz, sink)
    }

    fn of(source: Source<'a>, origin_ns: u64, hertz: u64, sink: Option<PcapSink>) -> Self {
        let mut links = Self {
            source,
            ahead: None,
            starved: false,
            handed: None,
            next: 0,
            arrivals_end: 0,
            hertz,
            origin_ns,
            sink,
            tap: None,
            exit: None,
            outlet: None,
            since_entry: Histogram::default(),
            output_failure: None,
            input_failure: None,
            traffic: Traffic::default(),
        };
        links.fetch();
        links
    }

    /// Lets `tap` see every frame from now on.
    #[must_use]
    pub fn with_tap(mut self, tap: impl Tap + Send + 'a) -> Self {
        self.tap = Some(Box::new(tap));
        self
    }

    /// Captures what leaves from now on.
    pub(crate) fn capture_to(&mut self, sink: PcapSink) {
        self.sink = Some(sink);
    }

    /// Lets `tap` see what leaves, with the numbers of frames and the times of their
    /// arrival at the first node.
    pub(crate) fn set_exit(&mut self, tap: Option<Box<dyn Tap + Send + 'a>>) {
        self.exit = tap;
    }

    /// Keeps what leaves for the node behind.
    pub(crate) fn lead_on(&mut self) {
        self.outlet = Some(Outlet::default());
    }

    /// Whether another node is behind this one.
    pub(crate) fn leads_on(&self) -> bool {
        self.outlet.is_some()
    }

    /// The frames for the node behind whose first bit left before `known`.
    pub(crate) fn release(&mut self, known: Cycle) -> Vec<Crossing> {
        let outlet = self.outlet.as_mut();
        outlet.map_or_else(Vec::new, |outlet| outlet.release(known))
    }

    /// Frames from the node before; none come behind them if `closes`.
    pub(crate) fn feed(&mut self, frames: Vec<Crossing>, closes: bool) {
        let Source::Link(inlet) = &mut self.source else {
            return;
        };
        inlet.feed(frames);
        if closes {
            inlet.close();
        }
        if self.starved {
            self.fetch();
        }
    }

    /// Frames may come from the node before after all.
    pub(crate) fn reopen(&mut self) {
        if let Source::Link(inlet) = &mut self.source {
            inlet.reopen();
            if self.ahead.is_none() {
                self.fetch();
            }
        }
    }

    /// Frames from the node before that wait for their time.
    pub(crate) fn backlog(&self) -> usize {
        match &self.source {
            Source::Frames(_) => 0,
            Source::Link(inlet) => inlet.backlog(),
        }
    }

    /// Whether it is not known yet which frame comes after the one that the chip
    /// knows of, or whether one does.
    pub(crate) fn is_starved(&self) -> bool {
        self.starved
    }

    /// The chip may run up to this cycle without asking for a frame that is not
    /// known yet.
    pub(crate) fn known_until(&self) -> Cycle {
        match &self.source {
            Source::Frames(_) => Cycle::MAX,
            Source::Link(inlet) => inlet.known_until(),
        }
    }

    /// Cycles from the last bit into the first node to the last bit out of this one,
    /// of every departure that could be traced.
    #[must_use]
    pub fn since_entry(&self) -> &Histogram {
        match &self.source {
            Source::Frames(_) => &self.traffic.latencies,
            Source::Link(_) => &self.since_entry,
        }
    }

    /// Where a frame that leaves came into the network.
    fn origin(&self, departure: &Departure<'_>) -> Option<Origin> {
        match &self.source {
            Source::Frames(_) => Some(Origin {
                frame: departure.frame?,
                arrived: departure.arrived?,
            }),
            Source::Link(inlet) => inlet.origin(departure.frame?),
        }
    }

    /// Hands on a frame that has left.
    fn goes_on(&mut self, departure: &Departure<'_>) {
        let linked = matches!(self.source, Source::Link(_));
        if !linked && self.outlet.is_none() && self.exit.is_none() {
            return;
        }
        let origin = self.origin(departure);
        if let Some(origin) = origin.filter(|_| linked) {
            let cycles = departure.end.saturating_sub(origin.arrived);
            self.since_entry.add(cycles);
        }
        if let Some(outlet) = &mut self.outlet {
            outlet.take(departure, origin);
        }
        if let Some(exit) = &mut self.exit {
            exit.departed(&Departure {
                frame: origin.map(|origin| origin.frame),
                arrived: origin.map(|origin| origin.arrived),
                ..departure.clone()
            });
        }
    }

    /// Where the lines stand. What was captured so far is safe on the disk then;
    /// the sink has to be one that can be gone on with.
    ///
    /// # Errors
    /// The capture of departures could not be written, or frames that should have
    /// come could not be read.
    pub fn save(&mut self) -> io::Result<LinksState> {
        if let Some(error) = &self.output_failure {
            return Err(io::Error::new(error.kind(), error.to_string()));
        }
        if let Some(error) = &self.input_failure {
            return Err(io::Error::other(error.to_string()));
        }
        let capture = self.sink.as_mut().map(PcapSink::position).transpose()?;
        Ok(LinksState {
            next: self.next,
            handed: self.handed,
            traffic: self.traffic.clone(),
            capture,
            inlet: match &self.source {
                Source::Frames(_) => None,
                Source::Link(inlet) => Some(Linked {
                    inlet: inlet.state().clone(),
                    ahead: self.ahead.clone().map(|frame| {
                        let LineFrame {
                            start_ps,
                            end_ps,
                            port,
                            bytes,
                        } = frame;
                        (start_ps, end_ps, port, bytes)
                    }),
                    arrivals_end: self.arrivals_end,
                    since_entry: self.since_entry.clone(),
                }),
            },
            outlet: self.outlet.clone(),
        })
    }

    /// Goes on where other lines with the same frames stood: those that came are
    /// passed over. The sink is already where it has to be. False if there are
    /// not as many frames, or the state is of lines that lead elsewhere.
    #[must_use]
    pub fn restore(&mut self, state: LinksState) -> bool {
        if state.outlet.is_some() != self.outlet.is_some() {
            return false;
        }
        match (&mut self.source, state.inlet) {
            (Source::Frames(_), None) => {}
            (Source::Link(inlet), Some(linked)) if linked.inlet.is_sound() => {
                inlet.restore(linked.inlet);
                self.ahead = linked
                    .ahead
                    .map(|(start_ps, end_ps, port, bytes)| LineFrame {
                        start_ps,
                        end_ps,
                        port,
                        bytes,
                    });
                self.arrivals_end = linked.arrivals_end;
                self.since_entry = linked.since_entry;
                self.next = state.next;
                self.starved = false;
                if self.ahead.is_none() {
                    self.fetch();
                }
            }
            _ => return false,
        }
        self.outlet = state.outlet;
        while self.next < state.next {
            if self.ahead.take().is_none() {
                return false;
            }
            self.next += 1;
            self.fetch();
        }
        self.handed = state.handed;
        self.traffic = state.traffic;
        true
    }

    /// Whether every frame has been handed to the chip.
    #[must_use]
    pub fn all_offered(&self) -> bool {
        self.ahead.is_none() && !self.starved
    }

    /// When the last frame that is known has arrived: the last of all once
    /// [`Links::all_offered`], before that one that is still to come.
    #[must_use]
    pub fn arrivals_end(&self) -> Cycle {
        self.arrivals_end
    }

    /// Whether the capture of departures could not be written.
    #[must_use]
    pub fn has_failed(&self) -> bool {
        self.output_failure.is_some()
    }

    /// Why no more frames could be read.
    #[must_use]
    pub fn input_failure(&self) -> Option<&CaptureError> {
        self.input_failure.as_ref()
    }

    /// Completes the capture of departures after a run that ended at `end`.
    ///
    /// # Errors
    /// It could not be written, now or earlier.
    pub fn finish(mut self, end: Cycle) -> io::Result<Traffic> {
        self.complete(end)?;
        Ok(self.traffic)
    }

    /// The same for lines that are still looked at.
    pub(crate) fn complete(&mut self, end: Cycle) -> io::Result<()> {
        // The chip knows of a frame before it comes.
        if self.handed.is_some_and(|handed| handed.start <= end) {
            self.count_handed();
        }
        if let Some(error) = self.output_failure.take() {
            return Err(error);
        }
        self.sink.take().map_or(Ok(()), PcapSink::finish)
    }

    /// Looks one frame further.
    fn fetch(&mut self) {
        if self.input_failure.is_some() {
            return;
        }
        self.starved = false;
        let next = match &mut self.source {
            Source::Frames(frames) => frames.next(),
            Source::Link(inlet) => match inlet.next() {
                Next::Frame(frame) => Some(Ok(frame)),
                Next::Nothing => None,
                Next::Unknown => {
                    self.starved = true;
                    None
                }
            },
        };
        match next {
            Some(Ok(frame)) => {
                self.arrivals_end = self.arrivals_end.max(self.cycles(frame.end_ps));
                self.ahead = Some(frame);
            }
            Some(Err(error)) => self.input_failure = Some(error),
            None => {}
        }
    }

    /// Counts the frame that was handed to the chip, which has begun to come.
    fn count_handed(&mut self) {
        let Some(handed) = self.handed.take() else {
            return;
        };
        self.traffic.offered_frames += 1;
        self.traffic.offered_bytes += handed.bytes;
        self.traffic.first_arrival.get_or_insert(handed.start);
        self.traffic.last_arrival = self.traffic.last_arrival.max(handed.end);
        let port = self.traffic.port(handed.port);
        port.offered_frames += 1;
        port.offered_bytes += handed.bytes;
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

impl Lines for Links<'_> {
    fn next_arrival(&mut self) -> Option<Arrival> {
        // The chip asks when the frame before has begun to come.
        self.count_handed();
        let LineFrame {
            start_ps,
            end_ps,
            port,
            mut bytes,
        } = self.ahead.take()?;
        self.fetch();
        bytes.resize(padded(bytes.len()), 0);
        // Whoever makes frames numbers ports below the number of lines, which fits.
        let arrival = Arrival {
            start: self.cycles(start_ps),
            end: self.cycles(end_ps),
            port: port as u8,
            bytes,
            frame: self.next,
        };
        self.next += 1;
        self.handed = Some(Handed {
            start: arrival.start,
            end: arrival.end,
            port: arrival.port,
            bytes: arrival.bytes.len() as u64,
        });
        if let Some(tap) = &mut self.tap {
            tap.arriving(&arrival);
        }
        Some(arrival)
    }

    fn departed(&mut self, departure: Departure<'_>) {
        let bytes = departure.bytes.len() as u64;
        self.traffic.sent_frames += 1;
        self.traffic.sent_bytes += bytes;
        self.traffic.first_departure.get_or_insert(departure.start);
        self.traffic.last_departure = self.traffic.last_departure.max(departure.end);
        let port = self.traffic.port(departure.port);
        port.sent_frames += 1;
        port.sent_bytes += bytes;
        match departure.arrived {
            Some(arrived) => self
                .traffic
                .latencies
                .add(departure.end.saturating_sub(arrived)),
            None => self.traffic.untraced_frames += 1,
        }
        if let Some(tap) = &mut self.tap {
            tap.departed(&departure);
        }
        self.goes_on(&departure);
        let ns = (u128::from(departure.end) * NANO / u128::from(self.hertz)) as u64;
        if let Some(sink) = &mut self.sink
            && self.output_failure.is_none()
        {
            self.output_failure = sink
                .write(self.origin_ns.saturating_add(ns), departure.bytes)
                .err();
        }
    }

    fn dropped(&mut self, cycle: Cycle, port: u8, frame: Option<u64>, reason: MediaDrop) {
        *self.traffic.drops.entry((port, reason)).or_default() += 1;
        self.traffic.port(port).dropped_frames += 1;
        if let Some(tap) = &mut self.tap {
            tap.dropped(cycle, port, frame, reason);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Links;
    use npsim_chip::kernel::lines::{Departure, Lines};
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
        let mut links = Links::new(&frames, &plan, 0, 600_000_000, None);
        assert!(!links.all_offered());
        let arrival = links.next_arrival().unwrap();
        // 72 bytes on a gigabit line: 576 ns, 345.6 cycles.
        assert_eq!(
            (arrival.start, arrival.end, arrival.bytes.len()),
            (0, 346, 60)
        );
        assert!(links.all_offered() && links.next_arrival().is_none());
        for arrived in [Some(346), None, None] {
            links.departed(Departure {
                start: 700,
                end: 1046,
                port: 1,
                bytes: &arrival.bytes,
                frame: arrived.map(|_| 0),
                arrived,
            });
        }
        let traffic = links.finish(1100).unwrap();
        assert_eq!(
            (
                traffic.offered_frames,
                traffic.offered_bytes,
                traffic.last_arrival
            ),
            (1, 60, 346)
        );
        assert_eq!(traffic.latencies, [700].into_iter().collect());
        let [port0, port1] = traffic.ports[..] else {
            panic!("{:?}", traffic.ports)
        };
        assert_eq!(
            (port0.offered_frames, port0.offered_bytes, port0.sent_frames),
            (1, 60, 0)
        );
        assert_eq!(
            (port1.offered_frames, port1.sent_frames, port1.sent_bytes),
            (0, 3, 180)
        );
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
            let mut links = Links::new(&frames, &plan, 0, 600_000_000, None);
            // As the chip asks: at the start, and when the first frame begins.
            assert_eq!(links.next_arrival().map(|arrival| arrival.start), Some(0));
            let second = links.next_arrival().map(|arrival| arrival.start);
            assert_eq!(second, Some(600_000));
            assert_eq!(links.finish(end).unwrap().offered_frames, offered);
        }
    }
}
