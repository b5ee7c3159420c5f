//! The outside of the chip in a run: frames come in one by one, departures go to
//! a capture and are timed. However long a run is, it needs no more memory.

mod link;
mod port;
mod state;
mod stream;
mod traffic;

use std::fmt;
use std::io;

use npsim_chip::Cycle;
use npsim_chip::kernel::port_io::{Arrival, Departure, MediaDrop, PortIo};
use npsim_net::capture::CaptureError;
use npsim_net::egress::PcapSink;
use npsim_net::ethernet::MIN_FRAME_BYTES;
use npsim_net::load::Generator;

use crate::histogram::Histogram;
use link::{Inlet, Outlet};
use port::NetworkPort;
use state::Handed;
use stream::Stream;

pub use link::{Crossing, FrameOrigin};
pub use port::LostFrame;
pub use state::LinksState;
pub use stream::{Frames, captured};
pub use traffic::{PortTraffic, Tap, Traffic};

const NANO: u128 = 1_000_000_000;

/// Where frames come from.
enum FrameSource {
    /// A capture or a generator.
    Stream(Stream),
    /// Other nodes: the one before in a chain, or those of a network.
    Nodes(Inlet),
}

impl FrameSource {
    fn inlet(&self) -> Option<&Inlet> {
        match self {
            Self::Nodes(inlet) => Some(inlet),
            Self::Stream(_) => None,
        }
    }

    fn inlet_mut(&mut self) -> Option<&mut Inlet> {
        match self {
            Self::Nodes(inlet) => Some(inlet),
            Self::Stream(_) => None,
        }
    }

    /// The next frame that can be handed to the chip, if it is known.
    fn front(&self) -> Option<&Crossing> {
        match self {
            Self::Stream(stream) => stream.front(),
            Self::Nodes(inlet) => inlet.front(),
        }
    }

    /// Takes the next frame that can be handed to the chip.
    fn pop(&mut self) -> Option<Crossing> {
        match self {
            Self::Stream(stream) => stream.pop(),
            Self::Nodes(inlet) => inlet.pop(),
        }
    }

    /// Where a frame that leaves came into the network, if that can be traced.
    fn origin(&self, departure: &Departure<'_>) -> Option<FrameOrigin> {
        match self {
            Self::Stream(_) => Some(FrameOrigin {
                frame: departure.frame?,
                arrived: departure.arrived?,
            }),
            Self::Nodes(inlet) => inlet.origin(departure.frame?),
        }
    }
}

/// Frames on their way in, and what becomes of them.
pub struct Links {
    source: FrameSource,
    /// What ties them to a network, if they lead into one.
    network: Option<NetworkPort>,
    handed: Option<Handed>,
    next: u64,
    /// Last bit of all frames that were handed to the chip.
    arrivals_end: Cycle,
    hertz: u64,
    /// Added to the times of departures, ns since 1970.
    origin_ns: u64,
    sink: Option<PcapSink>,
    tap: Option<Box<dyn Tap + Send>>,
    /// Sees what leaves, by number and arrival at the first node.
    exit: Option<Box<dyn Tap + Send>>,
    /// The way to other nodes.
    outlet: Option<Outlet>,
    /// Cycles since the last bit into the first node, where that is another one.
    since_entry: Histogram,
    output_failure: Option<io::Error>,
    /// What came and went so far.
    pub traffic: Traffic,
}

impl fmt::Debug for Links {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        out.debug_struct("Links")
            .field("next", &self.next)
            .field("front", &self.source.front())
            .field("arrivals_end", &self.arrivals_end)
            .field("traffic", &self.traffic)
            .finish_non_exhaustive()
    }
}

impl Links {
    /// Lines on which no frame comes in.
    #[must_use]
    pub fn idle(hertz: u64) -> Self {
        Self::streaming(Box::new(std::iter::empty()), 0, hertz, None)
    }

    /// Lines on which a load comes in.
    #[must_use]
    pub fn loaded(load: Generator, hertz: u64, sink: Option<PcapSink>) -> Self {
        Self::streaming(Box::new(load.map(Ok)), 0, hertz, sink)
    }

    /// Lines on which nothing has happened yet. `origin_ns` is added to the times
    /// of departures.
    #[must_use]
    pub fn streaming(frames: Frames, origin_ns: u64, hertz: u64, sink: Option<PcapSink>) -> Self {
        let source = FrameSource::Stream(Stream::new(frames, hertz));
        Self::of(source, origin_ns, hertz, sink)
    }

    /// Lines to which frames come from the node before in a chain, after so many cycles.
    pub(crate) fn chained(
        delay: Cycle,
        origin_ns: u64,
        hertz: u64,
        sink: Option<PcapSink>,
    ) -> Self {
        let source = FrameSource::Nodes(Inlet::chained(delay));
        Self::of(source, origin_ns, hertz, sink)
    }

    /// Lines that a network feeds while the node runs. `answer` has by port the shortest time
    /// from a frame's first bit out to the first bit in of what may answer it.
    pub(crate) fn networked(hertz: u64, answer: Vec<Cycle>) -> Self {
        Self {
            network: Some(NetworkPort::new(answer)),
            outlet: Some(Outlet::default()),
            ..Self::of(FrameSource::Nodes(Inlet::networked()), 0, hertz, None)
        }
    }

    fn of(source: FrameSource, origin_ns: u64, hertz: u64, sink: Option<PcapSink>) -> Self {
        Self {
            source,
            network: None,
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
            traffic: Traffic::default(),
        }
    }

    /// Lets `tap` see every frame from now on.
    #[must_use]
    pub fn with_tap(mut self, tap: impl Tap + Send + 'static) -> Self {
        self.tap = Some(Box::new(tap));
        self
    }

    /// Captures what leaves from now on.
    pub(crate) fn capture_to(&mut self, sink: PcapSink) {
        self.sink = Some(sink);
    }

    /// Lets `tap` see what leaves, with the numbers of frames and the times of their
    /// arrival at the first node.
    pub(crate) fn set_exit(&mut self, tap: Option<Box<dyn Tap + Send>>) {
        self.exit = tap;
    }

    /// Keeps what leaves for the node behind.
    pub(crate) fn lead_on(&mut self) {
        self.outlet = Some(Outlet::default());
    }

    /// Whether another node of a chain is behind this one.
    pub(crate) fn leads_on(&self) -> bool {
        self.outlet.is_some()
    }

    /// The frames for other nodes whose first bit left before `known`.
    pub(crate) fn release(&mut self, known: Cycle) -> Vec<Crossing> {
        { self.outlet.as_mut() }.map_or_else(Vec::new, |outlet| outlet.release(known))
    }

    /// Frames from the node before in a chain; none come behind them if `closes`.
    pub(crate) fn feed(&mut self, frames: Vec<Crossing>, closes: bool) {
        if let Some(inlet) = self.source.inlet_mut() {
            inlet.feed(frames, closes);
        }
    }

    /// A frame from a network.
    pub(crate) fn put(&mut self, frame: Crossing) {
        if let Some(inlet) = self.source.inlet_mut() {
            inlet.put(frame);
        }
    }

    /// The node of a network has come to this cycle, to which all frames are known.
    pub(crate) fn come_to(&mut self, cycle: Cycle) {
        if let Some(inlet) = self.source.inlet_mut() {
            inlet.come_to(cycle);
        }
    }

    /// First bit of the next frame from other nodes; `Cycle::MAX` if none is known.
    pub(crate) fn next_start(&self) -> Cycle {
        self.source.inlet().map_or(Cycle::MAX, Inlet::next_start)
    }

    /// All nodes of the network know what has left, so that no answer is outstanding.
    pub(crate) fn set_free(&mut self) {
        if let Some(network) = &mut self.network {
            network.set_free();
        }
    }

    /// Takes what was lost at the media interface of a node in a network since the last call.
    pub(crate) fn take_lost(&mut self) -> Vec<LostFrame> {
        { self.network.as_mut() }.map_or_else(Vec::new, NetworkPort::take_lost)
    }

    /// Frames from the node before that wait for their time.
    pub(crate) fn backlog(&self) -> usize {
        self.source.inlet().map_or(0, Inlet::backlog)
    }

    /// Whether it is not known yet which frame comes after the one that the chip
    /// knows of, or whether one does.
    pub(crate) fn is_starved(&self) -> bool {
        self.source.inlet().is_some_and(Inlet::is_starved)
    }

    /// The chip may run up to this cycle without asking for a frame that is not
    /// known yet.
    pub(crate) fn known_until(&self) -> Cycle {
        self.source.inlet().map_or(Cycle::MAX, Inlet::known_until)
    }

    /// Cycles from the last bit into the first node to the last bit out of this one,
    /// of every departure that could be traced.
    #[must_use]
    pub fn since_entry(&self) -> &Histogram {
        match &self.source {
            FrameSource::Stream(_) => &self.traffic.latencies,
            FrameSource::Nodes(_) => &self.since_entry,
        }
    }

    /// Traces a frame that has left back to where it came into the network, and passes it
    /// to what is behind this node.
    fn pass_on(&mut self, departure: &Departure<'_>) {
        let is_first = matches!(self.source, FrameSource::Stream(_));
        if is_first && self.outlet.is_none() && self.exit.is_none() {
            return;
        }
        let origin = self.source.origin(departure);
        if let Some(origin) = origin.filter(|_| !is_first) {
            let cycles = departure.end.saturating_sub(origin.arrived);
            self.since_entry.add(cycles);
        }
        // A network has had it since its first bit.
        if let (Some(outlet), None) = (&mut self.outlet, &self.network) {
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

    /// Whether every frame has been handed to the chip.
    #[must_use]
    pub fn all_offered(&self) -> bool {
        match &self.source {
            FrameSource::Stream(stream) => stream.front().is_none(),
            FrameSource::Nodes(inlet) => inlet.is_exhausted(),
        }
    }

    /// When the last frame that is known has arrived: the last of all once
    /// [`Links::all_offered`], before that one that is still to come.
    #[must_use]
    pub fn arrivals_end(&self) -> Cycle {
        let front = self.source.front().map_or(0, |frame| frame.end);
        self.arrivals_end.max(front)
    }

    /// Whether the capture of departures could not be written.
    #[must_use]
    pub(crate) fn has_failed(&self) -> bool {
        self.output_failure.is_some()
    }

    /// Why no more frames could be read.
    #[must_use]
    pub fn input_failure(&self) -> Option<&CaptureError> {
        match &self.source {
            FrameSource::Stream(stream) => stream.failure(),
            FrameSource::Nodes(_) => None,
        }
    }

    /// Completes the capture of departures after a run that ended at `end`.
    ///
    /// # Errors
    /// It could not be written, now or earlier.
    pub fn finish(mut self, end: Cycle) -> io::Result<Traffic> {
        self.complete(end)?;
        Ok(self.traffic)
    }

    /// As [`Self::finish`], for lines that are still inspected.
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
}

/// Bytes that a frame has on the line, without check sequence.
fn padded(length: usize) -> usize {
    length.max(MIN_FRAME_BYTES as usize)
}

impl PortIo for Links {
    fn next_arrival(&mut self) -> Option<Arrival> {
        // The chip asks when the frame before has begun to come: so that one counts now.
        self.count_handed();
        let Crossing {
            start,
            end,
            port,
            mut bytes,
            ..
        } = self.source.pop()?;
        self.arrivals_end = self.arrivals_end.max(end);
        if bytes.len() < padded(bytes.len()) {
            bytes.resize(padded(bytes.len()), 0);
        }
        let arrival = Arrival {
            start,
            end,
            port,
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
        if let (Some(network), Some(outlet)) = (&mut self.network, &mut self.outlet) {
            network.sends(departure.port, departure.start);
            outlet.take(&departure, self.source.origin(&departure));
        }
    }

    fn latest(&self) -> Cycle {
        { self.network.as_ref() }.map_or(Cycle::MAX, NetworkPort::latest)
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
        if let Some(sink) = &mut self.sink
            && self.output_failure.is_none()
        {
            let ns = (u128::from(departure.end) * NANO / u128::from(self.hertz)) as u64;
            self.output_failure = sink
                .write(self.origin_ns.saturating_add(ns), departure.bytes)
                .err();
        }
    }

    fn dropped(&mut self, cycle: Cycle, port: u8, frame: Option<u64>, reason: MediaDrop) {
        *self.traffic.drops.entry((port, reason)).or_default() += 1;
        self.traffic.port(port).dropped_frames += 1;
        if let Some(network) = &mut self.network {
            let origin = frame.and_then(|frame| self.source.inlet()?.origin(frame));
            network.lose(LostFrame {
                cycle,
                origin,
                reason,
            });
        }
        if let Some(tap) = &mut self.tap {
            tap.dropped(cycle, port, frame, reason);
        }
    }
}

#[cfg(test)]
mod tests;
