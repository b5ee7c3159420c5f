//! Open ends of a network in files: what comes in at them as a recording, what leaves by them as a
//! capture.

use std::io;

use npsim_net::capture::CaptureError;
use npsim_net::egress::{CapturePort, TraceSink};
use npsim_net::pace::{PortLine, ReplayFrames};
use npsim_net::{LineFrame, recording};
use npsim_network::topology::Topology;
use npsim_network::{Network, OutgoingFrame};
use npsim_transport::time::Time;

/// Picoseconds in a nanosecond.
const NANOSECOND: Time = 1_000;

/// The open ends of a network, which are numbered as they stand here.
#[derive(Clone, Debug)]
pub struct OpenEnds {
    nodes: Vec<usize>,
    /// Their names, and the rates of their lines into the network; 0 where there is no line.
    ports: Vec<CapturePort>,
}

impl OpenEnds {
    /// These nodes of a network.
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

    /// The open end at a node.
    #[must_use]
    pub fn at(&self, node: usize) -> Option<usize> {
        self.nodes.iter().position(|it| *it == node)
    }

    /// Their names and the rates of their lines.
    #[must_use]
    pub fn ports(&self) -> &[CapturePort] {
        &self.ports
    }

    /// Their lines.
    #[must_use]
    pub fn lines(&self) -> Vec<PortLine> {
        let rates = self.ports.iter().map(|port| port.bits_per_second);
        let lines = rates.map(|bits_per_second| PortLine { bits_per_second });
        lines.collect()
    }
}

/// Bits per second of the line from an open end.
fn rate(topology: &Topology, node: usize) -> u64 {
    let link = topology.links.iter().find(|link| link.ends.contains(&node));
    link.map_or(0, |link| link.lines[usize::from(link.ends[0] != node)].rate)
}

/// Captures what leaves by the open ends, when its last bit does.
pub struct DepartureCapture {
    sink: TraceSink,
    /// What is added to times, ns since 1970.
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
    /// Captures to a sink whose interfaces are the open ends; simulated time begins at a second
    /// since 1970.
    #[must_use]
    pub fn new(sink: TraceSink, start_seconds: u64) -> Self {
        Self {
            sink,
            origin_ns: start_seconds * 1_000_000_000,
            failed: None,
        }
    }

    /// A frame has left by an open end. What cannot be written is reported at the end.
    pub fn write(&mut self, end: usize, frame: &OutgoingFrame) {
        if self.failed.is_none() {
            let at = self.origin_ns + frame.at / NANOSECOND;
            self.failed = self.sink.write(end as u32, at, &frame.bytes).err();
        }
    }

    /// Gives the file its name.
    ///
    /// # Errors
    /// Something could not be written.
    pub fn finish(self) -> io::Result<()> {
        self.failed.map_or_else(|| self.sink.finish(), Err)
    }
}

/// What came in at the open ends, and comes in again.
#[derive(Debug)]
pub struct RecordedArrivals {
    frames: ReplayFrames,
    next: Option<LineFrame>,
}

impl RecordedArrivals {
    /// The frames of a recording, in the order of time; their ports are the open ends.
    ///
    /// # Errors
    /// The recording cannot be read.
    pub fn new(frames: ReplayFrames) -> Result<Self, CaptureError> {
        let mut arrivals = Self { frames, next: None };
        arrivals.fetch()?;
        Ok(arrivals)
    }

    fn fetch(&mut self) -> Result<(), CaptureError> {
        self.next = self.frames.next().transpose()?;
        Ok(())
    }

    /// Lets all come in that begins until a time to which the network is run next.
    ///
    /// # Errors
    /// As in [`Self::new`].
    pub fn enter_until(
        &mut self,
        until: Time,
        ends: &OpenEnds,
        network: &mut Network,
    ) -> Result<(), CaptureError> {
        while let Some(frame) = self.next.take_if(|it| it.start_ps <= until.into()) {
            let node = ends.node(frame.port as usize);
            // What could not come in when it was recorded cannot now.
            let _ = network.inject(node, &frame.bytes, frame.start_ps as Time);
            self.fetch()?;
        }
        Ok(())
    }
}

/// What a recording of a network says of it.
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
