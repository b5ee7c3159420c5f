//! A network with open ends as a live system: chips, router models, links and hosts of the
//! simulation's own between hosts of the real world.

use npsim_net::pace::line_free_ps;
use npsim_network::topology::Topology;
use npsim_network::{Network, NoTap, Stopped};
use npsim_project::problem::Problem;
use npsim_transport::time::Time;

use crate::system::{EnteredFrame, Halted, LeavingFrame, LiveSystem, PortCounts, Progress};

/// An open end.
#[derive(Debug)]
struct OpenEnd {
    node: usize,
    /// Bits per second of the line into the network; 0 where there is none.
    rate: u64,
    counts: PortCounts,
}

/// The network; its ports are its open ends, in the order of their nodes.
#[derive(Debug)]
pub struct OpenNetwork {
    network: Network,
    ends: Vec<OpenEnd>,
    stopped: Option<Stopped>,
}

impl OpenNetwork {
    /// A network at time 0 with these nodes as its open ends.
    #[must_use]
    pub fn new(network: Network, ends: impl IntoIterator<Item = usize>) -> Self {
        let topology = network.outside().topology();
        let ends = ends.into_iter().map(|node| OpenEnd {
            node,
            rate: rate(topology, node),
            counts: PortCounts::default(),
        });
        Self {
            ends: ends.collect(),
            network,
            stopped: None,
        }
    }

    /// The network, and what stopped it.
    #[must_use]
    pub fn finish(self) -> (Network, Option<Stopped>) {
        (self.network, self.stopped)
    }
}

impl LiveSystem for OpenNetwork {
    fn ports(&self) -> Vec<String> {
        let nodes = &self.network.outside().topology().nodes;
        let names = self.ends.iter().map(|end| nodes[end.node].name.clone());
        names.collect()
    }

    fn now(&self) -> Time {
        self.network.outside().now()
    }

    fn silent_until(&self) -> Time {
        self.network.next_at()
    }

    fn enter(&mut self, port: usize, at: Time, bytes: &[u8]) -> EnteredFrame {
        let at = at.max(self.now());
        let OpenEnd { node, rate, counts } = &mut self.ends[port];
        // A frame without a header, or an end at no link, has nowhere to go.
        if self.network.inject(*node, bytes, at).is_ok() {
            counts.came += 1;
            counts.came_bytes += bytes.len() as u64;
        } else {
            counts.dropped += 1;
        }
        // The network takes the frame when it is run, so its line cannot be asked yet.
        let line_free = line_free_ps(at.into(), bytes.len(), *rate);
        EnteredFrame {
            begins: at,
            line_free: Time::try_from(line_free).unwrap_or(Time::MAX),
        }
    }

    fn run_to(&mut self, until: Time, progress: &Progress<'_>) -> Result<(), Halted> {
        match self.network.run_to(until, &mut NoTap, progress) {
            Ok(()) => Ok(()),
            Err(stopped) => {
                let interrupted = matches!(stopped, Stopped::Interrupted);
                self.stopped = Some(stopped);
                if interrupted {
                    Err(Halted::Interrupted)
                } else {
                    Err(Halted::Fault)
                }
            }
        }
    }

    fn take_leaving(&mut self) -> Vec<LeavingFrame> {
        let mut leaving = Vec::new();
        for frame in self.network.take_outgoing() {
            let mut ends = self.ends.iter_mut().enumerate();
            if let Some((port, end)) = ends.find(|(_, end)| end.node == frame.node) {
                end.counts.left += 1;
                end.counts.left_bytes += frame.bytes.len() as u64;
                leaving.push(LeavingFrame {
                    due: frame.at,
                    port,
                    bytes: frame.bytes,
                });
            }
        }
        leaving
    }

    fn counts(&self) -> Vec<PortCounts> {
        self.ends.iter().map(|end| end.counts).collect()
    }

    fn inside(&self) -> Vec<String> {
        let outside = self.network.outside();
        let lines = 0..2 * outside.topology().links.len();
        let queues = lines.filter_map(|line| {
            let (bytes, packets) = outside.queue(line);
            let name = outside.topology().line_name(line);
            (packets > 0).then(|| format!("{name}: {packets} packets wait, {bytes} bytes"))
        });
        queues.collect()
    }

    fn change(&mut self, command: &str) -> Result<(String, Time), Problem> {
        Err(
            Problem::new(format!("there is no request `{command}` to a network"))
                .help("`npsim live --ask SOCKET help` lists the requests"),
        )
    }
}

/// Bits per second of the line from an open end.
fn rate(topology: &Topology, node: usize) -> u64 {
    let link = topology.links.iter().find(|link| link.ends.contains(&node));
    link.map_or(0, |link| link.lines[usize::from(link.ends[0] != node)].rate)
}
