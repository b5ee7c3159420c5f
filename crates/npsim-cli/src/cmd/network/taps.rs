//! Taps on lines: captures and the timeline.

use std::path::{Path, PathBuf};

use npsim::atomic_file::AtomicFile;
use npsim::observe::timeline::{NetworkTimeline, NetworkTimes, SenderState, TimeWindow};
use npsim::problem::Problem;
use npsim_network::{DropReason, FlowState, Frame, Network, SenderSnapshot, Tap};
use npsim_network_file::file::NetworkFile;
use npsim_transport::time::{SECOND, Time};

use super::captures::Captures;

/// The maximum number of values of each quantity of a flow outside the window.
const VALUES: u64 = 5_000;

/// The timeline of a run.
pub struct Timeline {
    path: PathBuf,
    out: NetworkTimeline,
    lines: Vec<String>,
    /// The lines whose queues are shown.
    queues: Vec<usize>,
}

impl Timeline {
    /// Creates the file, and observes all chips of a network that has not run yet.
    pub fn open(
        path: &Path,
        window: TimeWindow,
        file: &NetworkFile,
        network: &mut Network,
    ) -> Result<Self, Problem> {
        let out = AtomicFile::create(path).map_err(|error| Problem::io("write", path, &error))?;
        let topology = &file.topology;
        let flows: Vec<_> = topology
            .flows
            .iter()
            .map(|flow| flow.name.clone())
            .collect();
        let times = NetworkTimes {
            // Picoseconds are cycles of a 1 THz clock.
            window: window.divided(file.scale).cycles(SECOND),
            spacing: file.until / VALUES,
        };
        let mut timeline = NetworkTimeline::new(out, &file.name, &flows, times);
        let observers: Vec<_> = network
            .systems()
            .map(|(name, system, chip)| timeline.router(name, &system.project, chip))
            .collect();
        for (chip, observer) in observers.into_iter().enumerate() {
            network.observe(chip, Box::new(observer));
        }
        let lines = 0..2 * topology.links.len();
        let shown = |line: &usize| topology.is_watched(*line) && !topology.leaves_chip(*line);
        Ok(Self {
            path: path.to_owned(),
            out: timeline,
            queues: lines.clone().filter(shown).collect(),
            lines: lines.map(|line| topology.line_name(line)).collect(),
        })
    }

    /// Samples the network at its current time.
    fn sample(&mut self, network: &Network) -> Result<(), Problem> {
        let packet_simulation = network.packet_simulation();
        for &line in &self.queues {
            let (bytes, _) = packet_simulation.queue(line);
            let name = &self.lines[line];
            self.out.queue(packet_simulation.now(), line, name, bytes);
        }
        let gathered = self.out.gather();
        gathered.map_err(|error| Problem::io("write", &self.path, &error))
    }

    fn finish(self, network: &Network) -> Result<(), Problem> {
        let ends: Vec<_> = network.systems().map(|(.., chip)| chip.now()).collect();
        let finished = self.out.finish(network.packet_simulation().now(), &ends);
        finished.map_err(|error| Problem::io("write", &self.path, &error))
    }

    fn packet_lost(&mut self, now: Time, line: usize, frame: &Frame, why: &str) {
        let name = &self.lines[line];
        // A flow's lane does not show messages.
        if let Some(flow) = frame.flow.filter(|_| frame.is_flow_packet()) {
            self.out.packet_lost(now, flow as usize, name, why);
        }
    }
}

/// All taps on the lines of a run.
pub struct Taps {
    pub captures: Captures,
    pub timeline: Option<Timeline>,
}

impl Taps {
    /// Samples the network at its current time.
    pub fn sample(&mut self, network: &Network) -> Result<(), Problem> {
        let timeline = self.timeline.as_mut();
        timeline.map_or(Ok(()), |timeline| timeline.sample(network))
    }

    /// Completes the files and gives them their final names.
    pub fn finish(self, network: &Network) -> Result<(), Problem> {
        self.captures.finish()?;
        let timeline = self.timeline;
        timeline.map_or(Ok(()), |timeline| timeline.finish(network))
    }
}

impl Tap for Taps {
    fn watches(&self, line: usize) -> bool {
        self.timeline.is_some() || self.captures.watches(line)
    }

    fn watches_senders(&self) -> bool {
        self.timeline.is_some()
    }

    fn sender(&mut self, now: Time, flow: usize, seen: &SenderSnapshot) {
        if let Some(timeline) = &mut self.timeline {
            let view = &seen.view;
            let sender = SenderState {
                state: view.state.map(FlowState::name),
                window: view.window,
                in_flight: view.in_flight,
                srtt: view.srtt,
                rate: view.rate,
                retransmitted: seen.retransmitted,
                timeouts: seen.timeouts,
            };
            timeline.out.sender(now, flow, sender);
        }
    }

    fn sent(&mut self, now: Time, line: usize, frame: &Frame) {
        self.captures.sent(now, line, frame);
    }

    fn dropped(&mut self, now: Time, line: usize, frame: &Frame, reason: DropReason) {
        self.captures.dropped(now, line, frame, reason);
        if let Some(timeline) = &mut self.timeline {
            timeline.packet_lost(now, line, frame, reason.name());
        }
    }

    fn lost(&mut self, now: Time, line: usize, frame: &Frame) {
        self.captures.lost(now, line, frame);
        if let Some(timeline) = &mut self.timeline {
            timeline.packet_lost(now, line, frame, "lost on the line");
        }
    }
}
