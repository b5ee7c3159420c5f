//! The outside of the chip in a run: frames are fed in one by one, departures
//! are captured and timed. Memory use does not grow with the length of the run.

mod chain;
mod link;
mod port;
mod role;
mod state;
mod traffic;

use std::fmt;
use std::io;
use std::sync::Arc;

use npsim_chip::Cycle;
use npsim_chip::kernel::port_io::{Arrival, Departure, MediaDrop, PortIo};
use npsim_chip::units::msf::clock::ClockRatio;
use npsim_net::capture::CaptureError;
use npsim_net::egress::TraceSink;
use npsim_net::ethernet::MIN_FRAME_BYTES;
use npsim_net::load::Generator;
use npsim_net::pace::ArrivalSchedule;
use npsim_net::{Frame, LineFrame};

use crate::histogram::Histogram;
use chain::ChainLink;
use link::Outlet;
use npsim_project::quantity::show_nanoseconds;
use role::{LineRole, NextFrame, Stream};
use state::Handed;

pub use link::{FrameOrigin, LinkFrame};
pub use port::LostFrame;
pub(crate) use port::NetworkPort;
pub use state::LinksState;
pub use traffic::{PortTraffic, Tap, Traffic};

const PICO: u64 = 1_000_000_000_000;
const NANO: u128 = 1_000_000_000;

/// A source of frames, in the order of their first bit. It is not polled again
/// after an error.
pub type Frames = Box<dyn Iterator<Item = Result<LineFrame, CaptureError>> + Send>;

/// Frames in memory, put on lines by a schedule.
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

/// The other end of the lines.
enum FrameSource {
    /// A capture or a generator.
    Stream(Stream),
    /// The previous node in a chain.
    Chain(ChainLink),
    /// A network.
    Network(NetworkPort),
}

/// Frames on their way in, and what becomes of them.
pub struct Links {
    source: FrameSource,
    /// The frame after the one that the chip has been given.
    ahead: Option<LineFrame>,
    /// Whether it is not yet known if there is such a frame.
    starved: bool,
    handed: Option<Handed>,
    next: u64,
    /// Last bit of all frames so far.
    arrivals_end: Cycle,
    hertz: u64,
    /// Conversion from picoseconds to cycles.
    picoseconds: ClockRatio,
    /// Added to the times of departures, ns since 1970.
    origin_ns: u64,
    sink: Option<TraceSink>,
    tap: Option<Box<dyn Tap + Send>>,
    /// Observes departures, by number and arrival time at the first node.
    exit: Option<Box<dyn Tap + Send>>,
    /// The link to the next node.
    outlet: Option<Outlet>,
    /// Cycles since the last bit into the first node, if that is another node.
    since_entry: Histogram,
    output_failure: Option<io::Error>,
    input_failure: Option<CaptureError>,
    /// Counts of what came and went so far.
    pub traffic: Traffic,
}

impl fmt::Debug for Links {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Links")
            .field("next", &self.next)
            .field("ahead", &self.ahead)
            .field("arrivals_end", &self.arrivals_end)
            .field("traffic", &self.traffic)
            .finish_non_exhaustive()
    }
}

impl Links {
    /// Lines on which no frame ever arrives.
    #[must_use]
    pub fn idle(hertz: u64) -> Self {
        Self::streaming(Box::new(std::iter::empty()), 0, hertz, None)
    }

    /// Lines fed by a load generator.
    #[must_use]
    pub fn loaded(load: Generator, hertz: u64, sink: Option<TraceSink>) -> Self {
        Self::streaming(Box::new(load.map(Ok)), 0, hertz, sink)
    }

    /// Lines on which nothing has happened yet. `origin_ns` is added to the
    /// times of departures.
    #[must_use]
    pub fn streaming(frames: Frames, origin_ns: u64, hertz: u64, sink: Option<TraceSink>) -> Self {
        Self::of(FrameSource::Stream(Stream(frames)), origin_ns, hertz, sink)
    }

    /// Lines fed by the previous node in a chain, `delay` cycles after frames leave it.
    pub(crate) fn chained(
        delay: Cycle,
        origin_ns: u64,
        hertz: u64,
        sink: Option<TraceSink>,
    ) -> Self {
        let source = FrameSource::Chain(ChainLink::new(delay, hertz));
        Self::of(source, origin_ns, hertz, sink)
    }

    /// Lines that a network feeds while the node runs. `answer` is, per port, the minimum time from
    /// the first bit of an outgoing frame to the first bit of a frame that may answer it.
    pub(crate) fn networked(hertz: u64, answer: Vec<Cycle>) -> Self {
        Self::of(
            FrameSource::Network(NetworkPort::new(hertz, answer)),
            0,
            hertz,
            None,
        )
    }

    fn of(source: FrameSource, origin_ns: u64, hertz: u64, sink: Option<TraceSink>) -> Self {
        let mut links = Self {
            source,
            ahead: None,
            starved: false,
            handed: None,
            next: 0,
            arrivals_end: 0,
            hertz,
            picoseconds: ClockRatio::new(hertz, PICO),
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

    /// Passes every frame to `tap` from now on.
    #[must_use]
    pub fn with_tap(mut self, tap: impl Tap + Send + 'static) -> Self {
        self.tap = Some(Box::new(tap));
        self
    }

    pub(crate) fn set_tap(&mut self, tap: Option<Box<dyn Tap + Send>>) {
        self.tap = tap;
    }

    /// Sets the origin of departure times, in ns since 1970.
    pub(crate) fn begin_at(&mut self, origin_ns: u64) {
        self.origin_ns = origin_ns;
    }

    /// Captures departures from now on.
    pub(crate) fn capture_to(&mut self, sink: TraceSink) {
        self.sink = Some(sink);
    }

    /// Passes departures to `tap`, with the numbers and arrival times of the frames at the first
    /// node.
    pub(crate) fn set_exit(&mut self, tap: Option<Box<dyn Tap + Send>>) {
        self.exit = tap;
    }

    /// Keeps departures for the next node.
    pub(crate) fn lead_on(&mut self) {
        self.outlet = Some(Outlet::default());
    }

    /// Whether there is a next node in the chain.
    pub(crate) fn leads_on(&self) -> bool {
        self.outlet.is_some()
    }

    /// Takes the frames for other nodes whose first bit left before `known`.
    pub(crate) fn release(&mut self, known: Cycle) -> Vec<LinkFrame> {
        let outlet = match &mut self.source {
            FrameSource::Network(port) => Some(&mut port.outlet),
            FrameSource::Stream(_) | FrameSource::Chain(_) => self.outlet.as_mut(),
        };
        outlet.map_or_else(Vec::new, |outlet| outlet.release(known))
    }

    /// Adds frames from the previous node in a chain; none will follow if `closes`.
    pub(crate) fn feed(&mut self, frames: Vec<LinkFrame>, closes: bool) {
        let FrameSource::Chain(link) = &mut self.source else {
            return;
        };
        link.feed(frames);
        if closes {
            link.close();
        }
        if self.starved {
            self.fetch();
        }
    }

    /// The ports to a network, if the node is part of one.
    pub(crate) fn network(&self) -> Option<&NetworkPort> {
        match &self.source {
            FrameSource::Network(port) => Some(port),
            FrameSource::Stream(_) | FrameSource::Chain(_) => None,
        }
    }

    /// The ports to a network, if the node is part of one, for feeding.
    pub(crate) fn network_mut(&mut self) -> Option<&mut NetworkPort> {
        match &mut self.source {
            FrameSource::Network(port) => Some(port),
            FrameSource::Stream(_) | FrameSource::Chain(_) => None,
        }
    }

    /// The number of frames from the previous node that wait for their time.
    pub(crate) fn backlog(&self) -> usize {
        match &self.source {
            FrameSource::Chain(link) => link.backlog(),
            FrameSource::Stream(_) | FrameSource::Network(_) => 0,
        }
    }

    fn role(&self) -> &dyn LineRole {
        match &self.source {
            FrameSource::Stream(stream) => stream,
            FrameSource::Chain(link) => link,
            FrameSource::Network(port) => port,
        }
    }

    fn role_mut(&mut self) -> &mut dyn LineRole {
        match &mut self.source {
            FrameSource::Stream(stream) => stream,
            FrameSource::Chain(link) => link,
            FrameSource::Network(port) => port,
        }
    }

    /// Whether it is not yet known which frame, if any, follows the one that
    /// the chip has been given.
    pub(crate) fn is_starved(&self) -> bool {
        self.starved
    }

    /// The cycle up to which the chip may run without polling for a frame that
    /// is not yet known.
    pub(crate) fn known_until(&self) -> Cycle {
        self.role().known_until()
    }

    /// Cycles from the last bit into the first node to the last bit out of this one, for every
    /// departure that could be traced.
    #[must_use]
    pub fn since_entry(&self) -> &Histogram {
        match &self.source {
            FrameSource::Stream(_) => &self.traffic.latencies,
            FrameSource::Chain(_) | FrameSource::Network(_) => &self.since_entry,
        }
    }

    /// Traces a departed frame back to where it entered the network, and passes it to the next node
    /// and the exit tap.
    fn pass_on(&mut self, departure: &Departure<'_>) {
        let is_first = matches!(self.source, FrameSource::Stream(_));
        if is_first && self.outlet.is_none() && self.exit.is_none() {
            return;
        }
        let origin = self.role().origin(departure);
        if let Some(origin) = origin.filter(|_| !is_first) {
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

    /// Writes a departed frame to the capture.
    fn capture(&mut self, departure: &Departure<'_>) {
        if self.output_failure.is_some() {
            return;
        }
        let wants_comments = self.sink.as_ref().is_some_and(TraceSink::wants_comments);
        let comment = wants_comments.then(|| self.comment(departure));
        let nanoseconds =
            |cycles: Cycle| (u128::from(cycles) * NANO / u128::from(self.hertz)) as u64;
        let time_ns = self.origin_ns.saturating_add(nanoseconds(departure.end));
        if let Some(sink) = &mut self.sink {
            let port = u32::from(departure.port);
            let written = sink.write_commented(port, time_ns, departure.bytes, comment.as_deref());
            self.output_failure = written.err();
        }
    }

    /// Describes which packet a departed frame was, and how long it was inside.
    fn comment(&self, departure: &Departure<'_>) -> String {
        match self.role().origin(departure) {
            Some(origin) => {
                let inside = departure.end.saturating_sub(origin.arrived);
                let nanoseconds = inside as f64 * NANO as f64 / self.hertz as f64;
                format!(
                    "packet {}, {} after its last bit had come",
                    origin.frame,
                    show_nanoseconds(nanoseconds)
                )
            }
            None => "made inside".to_owned(),
        }
    }

    /// Whether every frame has been handed to the chip.
    #[must_use]
    pub fn all_arrived(&self) -> bool {
        self.ahead.is_none() && !self.starved
    }

    /// The arrival of the last known frame: the last of all once
    /// [`Links::all_arrived`], otherwise one that is still to come.
    #[must_use]
    pub fn arrivals_end(&self) -> Cycle {
        self.arrivals_end
    }

    /// Whether writing the capture of departures has failed.
    #[must_use]
    pub(crate) fn has_failed(&self) -> bool {
        self.output_failure.is_some()
    }

    /// The error after which no more frames could be read.
    #[must_use]
    pub fn input_failure(&self) -> Option<&CaptureError> {
        self.input_failure.as_ref()
    }

    /// Completes the capture of departures after a run that ended at `end`.
    ///
    /// # Errors
    /// Returns an error if the capture could not be written, now or earlier.
    pub fn finish(mut self, end: Cycle) -> io::Result<Traffic> {
        self.complete(end)?;
        Ok(self.traffic)
    }

    /// Like [`Self::finish`], for lines that are still inspected.
    pub(crate) fn complete(&mut self, end: Cycle) -> io::Result<()> {
        // The chip is given a frame before it arrives.
        if self.handed.is_some_and(|handed| handed.start <= end) {
            self.count_handed();
        }
        if let Some(error) = self.output_failure.take() {
            return Err(error);
        }
        self.sink.take().map_or(Ok(()), TraceSink::finish)
    }

    /// Fetches one more frame.
    fn fetch(&mut self) {
        if self.input_failure.is_some() {
            return;
        }
        self.starved = false;
        match self.role_mut().next() {
            NextFrame::Frame(Ok(frame)) => {
                self.arrivals_end = self.arrivals_end.max(self.cycles(frame.end_ps));
                self.ahead = Some(frame);
            }
            NextFrame::Frame(Err(error)) => self.input_failure = Some(error),
            NextFrame::Nothing => {}
            NextFrame::Unknown => self.starved = true,
        }
    }

    /// Counts the frame that was handed to the chip, once it has begun to arrive.
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

    /// Converts picoseconds to cycles, rounding up.
    fn cycles(&self, ps: u128) -> Cycle {
        if let Ok(ps) = u64::try_from(ps) {
            return self.picoseconds.cycle(ps);
        }
        // Only after 213 days.
        let cycles = (ps * u128::from(self.hertz)).div_ceil(u128::from(PICO));
        Cycle::try_from(cycles).unwrap_or(Cycle::MAX)
    }
}

/// Length of a frame on the line in bytes, without check sequence.
fn padded(length: usize) -> usize {
    length.max(MIN_FRAME_BYTES as usize)
}

impl PortIo for Links {
    /// The next frame, as described in [`PortIo`]. The links are always one frame ahead of the chip
    /// (`ahead`), since the time of the next frame determines whether the chip may skip time until
    /// then.
    fn next_arrival(&mut self) -> Option<Arrival> {
        // The chip polls once the previous frame has begun to arrive, so that frame counts now.
        self.count_handed();
        if self.ahead.is_none() && self.role().is_polled() {
            self.fetch();
        }
        let LineFrame {
            start_ps,
            end_ps,
            port,
            mut bytes,
        } = self.ahead.take()?;
        self.fetch();
        if bytes.len() < padded(bytes.len()) {
            bytes.resize(padded(bytes.len()), 0);
        }
        // All roles number ports below the number of lines, and a chip has few of those.
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

    fn departing(&mut self, departure: Departure<'_>) {
        self.role_mut().departing(&departure);
    }

    fn answer_deadline(&self) -> Cycle {
        self.role().answer_deadline()
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
        self.pass_on(&departure);
        self.capture(&departure);
    }

    fn dropped(&mut self, cycle: Cycle, port: u8, frame: Option<u64>, reason: MediaDrop) {
        *self.traffic.drops.entry((port, reason)).or_default() += 1;
        self.traffic.port(port).dropped_frames += 1;
        self.role_mut().dropped(cycle, frame, reason);
        if let Some(tap) = &mut self.tap {
            tap.dropped(cycle, port, frame, reason);
        }
    }
}

#[cfg(test)]
mod tests;
