//! The open ends of a network in files: arrivals as a recording, departures as a capture.

use std::io;

use npsim_net::capture::CaptureError;
use npsim_net::egress::{CapturePort, TraceSink};
use npsim_net::pace::{PortLine, ReplayFrames};
use npsim_net::{LineFrame, recording};
use npsim_network::topology::Topology;
use npsim_network::{Network, OutgoingFrame};
use npsim_transport::time::Time;

/// Picoseconds per nanosecond.
const NANOSECOND: Time = 1_000;

/// The open ends of a network, numbered in this order.
#[derive(Clone, Debug)]
pub struct OpenEnds {
    nodes: Vec<usize>,
    /// The names and line rates into the network; 0 where there is no line.
    ports: Vec<CapturePort>,
}

impl OpenEnds {
    /// These nodes of a network, as open ends.
    #[must_use]
    pub fn new(topology: &Topology, nodes: impl IntoIterator<Item = usize>) -> Self {
        let nodes: Vec<_> = nodes.into_iter().collect();
        let ports = nodes.iter().map(|node| CapturePort {
            name: topology.nodes[*node].name.clone(),
            bits_per_second: rate(topology, *node),
        });
        Self {
            ports: ports.collect(),
            nodes,
        }
    }

    /// The node of an open end.
    #[must_use]
    pub fn node(&self, end: usize) -> usize {
        self.nodes[end]
    }

    /// The number of the open end at a node.
    #[must_use]
    pub fn at(&self, node: usize) -> Option<usize> {
        self.nodes.iter().position(|it| *it == node)
    }

    /// The names and line rates.
    #[must_use]
    pub fn ports(&self) -> &[CapturePort] {
        &self.ports
    }

    /// The lines.
    #[must_use]
    pub fn lines(&self) -> Vec<PortLine> {
        let rates = self.ports.iter().map(|port| port.bits_per_second);
        let lines = rates.map(|bits_per_second| PortLine { bits_per_second });
        lines.collect()
    }
}

/// The rate of the line from an open end, in bits per second.
fn rate(topology: &Topology, node: usize) -> u64 {
    let link = topology.links.iter().find(|link| link.ends.contains(&node));
    link.map_or(0, |link| link.lines[usize::from(link.ends[0] != node)].rate)
}

/// Captures the frames that leave at the open ends, at the time of their last bit.
pub struct DepartureCapture {
    sink: TraceSink,
    /// The offset added to times, in nanoseconds since 1970.
    origin_ns: u64,
    failed: Option<io::Error>,
}

impl std::fmt::Debug for DepartureCapture {
    fn fmt(&self, out: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        out.debug_struct("DepartureCapture")
            .field("origin_ns", &self.origin_ns)
            .finish_non_exhaustive()
    }
}

impl DepartureCapture {
    /// Captures to a sink whose interfaces are the open ends; simulated time begins at
    /// `start_seconds` since 1970.
    #[must_use]
    pub fn new(sink: TraceSink, start_seconds: u64) -> Self {
        Self {
            sink,
            origin_ns: start_seconds * 1_000_000_000,
            failed: None,
        }
    }

    /// Records a frame that has left at an open end. A write error is reported at the end.
    pub fn write(&mut self, end: usize, frame: &OutgoingFrame) {
        if self.failed.is_none() {
            let at = self.origin_ns + frame.at / NANOSECOND;
            self.failed = self.sink.write(end as u32, at, &frame.bytes).err();
        }
    }

    /// Completes the file and gives it its final name.
    ///
    /// # Errors
    /// Returns an error if something could not be written.
    pub fn finish(self) -> io::Result<()> {
        self.failed.map_or_else(|| self.sink.finish(), Err)
    }
}

/// The recorded arrivals at the open ends, for a replay.
#[derive(Debug)]
pub struct RecordedArrivals {
    frames: ReplayFrames,
    next: Option<LineFrame>,
}

impl RecordedArrivals {
    /// The frames of a recording, in order of time; their ports are the open ends.
    ///
    /// # Errors
    /// Returns an error if the recording cannot be read.
    pub fn new(frames: ReplayFrames) -> Result<Self, CaptureError> {
        let mut arrivals = Self { frames, next: None };
        arrivals.fetch()?;
        Ok(arrivals)
    }

    fn fetch(&mut self) -> Result<(), CaptureError> {
        self.next = self.frames.next().transpose()?;
        Ok(())
    }

    /// Admits all frames that begin until `until`, the time to which the network runs next.
    ///
    /// # Errors
    /// As for [`Self::new`].
    pub fn admit_until(
        &mut self,
        until: Time,
        ends: &OpenEnds,
        network: &mut Network,
    ) -> Result<(), CaptureError> {
        while let Some(frame) = self.next.take_if(|it| it.start_ps <= until.into()) {
            let node = ends.node(frame.port as usize);
            // A frame that could not enter when it was recorded cannot enter now.
            let _ = network.inject(node, &frame.bytes, frame.start_ps as Time);
            self.fetch()?;
        }
        Ok(())
    }
}

/// The head of a recording of a network.
#[must_use]
pub fn recording_head(
    ends: &OpenEnds,
    target: String,
    start_seconds: u64,
    seed: Option<u64>,
) -> recording::RecordingHead {
    recording::RecordingHead {
        hertz: recording::NETWORK_HERTZ,
        start_seconds,
        ports: ends.ports().to_vec(),
        target,
        seed,
        route_blocks: 0,
    }
}
