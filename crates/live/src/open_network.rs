//! A network with open ends as a live system: chips, router models, links and simulated hosts
//! between real hosts.

use std::io;
use std::ops::ControlFlow;

use npsim_inspect::stats::Stats;
use npsim_net::pace::line_free_ps;
use npsim_network::{Network, NoTap, Stopped};
use npsim_project::Project;
use npsim_project::problem::Problem;
use npsim_transport::time::Time;
use serde_json::{Map, Value};

use crate::chip_counts::{counted, pretty_json};
use crate::open_ends::{DepartureCapture, OpenEnds};
use crate::system::{DepartingFrame, EnteredFrame, Halted, LiveSystem, PortCounts, Progress};

/// A network whose ports are its open ends.
#[derive(Debug)]
pub struct OpenNetwork {
    network: Network,
    ends: OpenEnds,
    counts: Vec<PortCounts>,
    capture: Option<DepartureCapture>,
    stopped: Option<Stopped>,
}

impl OpenNetwork {
    /// A network at time 0 with these open ends, and a capture of the frames that leave at them.
    #[must_use]
    pub fn new(network: Network, ends: OpenEnds, capture: Option<DepartureCapture>) -> Self {
        Self {
            network,
            counts: vec![PortCounts::default(); ends.ports().len()],
            ends,
            capture,
            stopped: None,
        }
    }

    /// Completes the capture and gives it its final name.
    ///
    /// # Errors
    /// Returns an error if it could not be written.
    pub fn finish_capture(&mut self) -> io::Result<()> {
        self.capture.take().map_or(Ok(()), DepartureCapture::finish)
    }

    /// The index of a router that is a chip.
    fn chip(&self, name: &str) -> Result<usize, Problem> {
        let found = self.network.chips().position(|it| it.0 == name);
        found.ok_or_else(|| no_such_router(&self.network, name))
    }

    /// The network at the end of its run, which all its chips have reached, and what stopped it.
    #[must_use]
    pub fn finish(mut self) -> (Network, Option<Stopped>) {
        if self.stopped.is_none() {
            let ended = self.network.end(&mut NoTap, &|| ControlFlow::Continue(()));
            self.stopped = ended.err();
        }
        (self.network, self.stopped)
    }
}

impl LiveSystem for OpenNetwork {
    fn ports(&self) -> Vec<String> {
        let ports = self.ends.ports().iter();
        ports.map(|port| port.name.clone()).collect()
    }

    fn now(&self) -> Time {
        self.network.packet_simulation().now()
    }

    fn silent_until(&self) -> Time {
        self.network.next_at()
    }

    fn enter(&mut self, port: usize, at: Time, bytes: &[u8]) -> EnteredFrame {
        // All events at the time that the network has reached have been processed. A frame at that
        // time would come after them here, but among them in a replay.
        let at = at.max(self.now() + 1);
        let counts = &mut self.counts[port];
        // A frame without a header, or at an end without a link, cannot be delivered.
        let node = self.ends.node(port);
        if self.network.inject(node, bytes, at).is_ok() {
            counts.came += 1;
            counts.came_bytes += bytes.len() as u64;
        } else {
            counts.dropped += 1;
        }
        let rate = self.ends.ports()[port].bits_per_second;
        // The network processes the frame only when it runs, so the state of its line is not known
        // yet.
        let line_free = line_free_ps(at.into(), bytes.len(), rate);
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

    fn take_departing(&mut self) -> Vec<DepartingFrame> {
        let mut departing = Vec::new();
        for frame in self.network.take_outgoing() {
            if let Some(port) = self.ends.at(frame.node) {
                if let Some(capture) = &mut self.capture {
                    capture.write(port, &frame);
                }
                let counts = &mut self.counts[port];
                counts.left += 1;
                counts.left_bytes += frame.bytes.len() as u64;
                departing.push(DepartingFrame {
                    due: frame.at,
                    port,
                    bytes: frame.bytes,
                });
            }
        }
        departing
    }

    fn counts(&self) -> Vec<PortCounts> {
        self.counts.clone()
    }

    fn inside(&self, name: &str) -> Result<Vec<String>, Problem> {
        if !name.is_empty() {
            let chip = self.chip(name)?;
            return Ok(self.network.state_report(chip).unwrap_or_default());
        }
        let packet_simulation = self.network.packet_simulation();
        let lines = 0..2 * packet_simulation.topology().links.len();
        let queues = lines.filter_map(|line| {
            let (bytes, packets) = packet_simulation.queue(line);
            let name = packet_simulation.topology().line_name(line);
            (packets > 0).then(|| format!("{name}: {packets} packets wait, {bytes} bytes"))
        });
        Ok(queues.collect())
    }

    fn change(&mut self, command: &str) -> Result<(String, Time), Problem> {
        if !Project::is_route_command(command) {
            return Err(
                Problem::new(format!("there is no request `{command}` to a network"))
                    .help("`npsim live --ask SOCKET help` lists the requests"),
            );
        }
        let at = self.now();
        let (router, change) = route_command(command);
        let chip = self.chip(router)?;
        self.network.change_routes(chip, at, |system, cycle| {
            system.project.route_change(&change, cycle)
        })?;
        Ok((command.to_owned(), at))
    }

    fn counters(&mut self, name: &str) -> Result<String, Problem> {
        // Idle chips may have counted only to an earlier time. A fault ends the run at its next
        // step.
        let _ = self.network.catch_up(&|| ControlFlow::Continue(()));
        let chips = self.network.chips();
        if name.is_empty() {
            let counted = chips.map(|(router, _, chip)| {
                let counts = counted(&Stats::collect(chip), "")?;
                Ok((router.to_owned(), counts))
            });
            let all = counted.collect::<Result<Map<_, _>, Problem>>()?;
            return pretty_json(&Value::Object(all));
        }
        // The name of a router may contain dots.
        let found = chips.filter_map(|(router, _, chip)| {
            let rest = name.strip_prefix(router)?;
            let part = rest.strip_prefix('.').or((rest.is_empty()).then_some(""))?;
            Some((router.len(), chip, part))
        });
        match found.max_by_key(|it| it.0) {
            Some((_, chip, part)) => pretty_json(&counted(&Stats::collect(chip), part)?),
            None => Err(no_such_router(&self.network, name)),
        }
    }
}

/// The router named in a route change, and the change without it: `route r1 remove PREFIX`.
#[must_use]
pub fn route_command(command: &str) -> (&str, String) {
    let mut words = command.split_whitespace();
    let word = words.next().unwrap_or_default();
    let router = words.next().unwrap_or_default();
    let rest: Vec<_> = std::iter::once(word).chain(words).collect();
    (router, rest.join(" "))
}

fn no_such_router(network: &Network, name: &str) -> Problem {
    let names: Vec<_> = network.chips().map(|it| it.0).collect();
    let help = match &names[..] {
        [] => "no router of the network runs microcode".to_owned(),
        [first, ..] => format!(
            "name one of {}, as in `counters {first}` or `route {first} remove PREFIX`",
            names.join(", ")
        ),
    };
    Problem::new(format!("there is no router `{name}` that runs microcode")).help(help)
}
