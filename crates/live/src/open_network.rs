//! A network with open ends as a live system: chips, router models, links and hosts of the
//! simulation's own between hosts of the real world.

use npsim_network::{Network, NoTap, Stopped};
use npsim_project::problem::Problem;
use npsim_transport::time::Time;

use crate::system::{EnteredFrame, Halted, LeavingFrame, LiveSystem, PortCounts, Progress};

/// The network; its ports are its open ends, in the order of their nodes.
#[derive(Debug)]
pub struct OpenNetwork {
    network: Network,
    /// The nodes of the open ends, with what was counted there.
    ends: Vec<(usize, PortCounts)>,
    stopped: Option<Stopped>,
}

impl OpenNetwork {
    /// A network at time 0 with these nodes as its open ends.
    #[must_use]
    pub fn new(network: Network, ends: impl IntoIterator<Item = usize>) -> Self {
        let ends = ends.into_iter().map(|node| (node, PortCounts::default()));
        Self {
            network,
            ends: ends.collect(),
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
        let names = self.ends.iter().map(|(node, _)| nodes[*node].name.clone());
        names.collect()
    }

    fn now(&self) -> Time {
        self.network.outside().now()
    }

    fn silent_until(&self) -> Time {
        self.network.next_at()
    }

    fn enter(&mut self, port: usize, at: Time, bytes: Vec<u8>) -> EnteredFrame {
        let at = at.max(self.now());
        let (node, counts) = &mut self.ends[port];
        // A frame without a header, or an end at no link, has nowhere to go.
        if self.network.inject(*node, &bytes, at).is_ok() {
            counts.came += 1;
            counts.came_bytes += bytes.len() as u64;
        } else {
            counts.dropped += 1;
        }
        EnteredFrame {
            begins: at,
            line_free: self.network.outside().free_at(*node).unwrap_or(at).max(at),
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
            let end = self
                .ends
                .iter_mut()
                .enumerate()
                .find(|(_, end)| end.0 == frame.node);
            if let Some((port, (_, counts))) = end {
                counts.left += 1;
                counts.left_bytes += frame.bytes.len() as u64;
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
        self.ends.iter().map(|(_, counts)| *counts).collect()
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
