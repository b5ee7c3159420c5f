//! Results of a run, in the times and rates of its file.

use serde::Serialize;

use npsim_project::Setting;
use npsim_session::report::NodeReport;

use crate::file::NetworkFile;
use crate::transfer_results::{self, TransferResult};
use crate::unscaled::Unscaled;
use npsim_network::DropReason;
use npsim_network::Network;
use npsim_network::chips::ChipReport;
use npsim_network::counters::{FlowCounters, LineCounters, MessageCounters, NetworkCounters};
use npsim_network::topology::Transport;

/// Version of the document's format.
const SCHEMA: &str = "npsim-network-1";

/// A run, as written to a file of statistics.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Results {
    /// Format of this document.
    pub schema: &'static str,
    /// Version of npsim.
    pub npsim: &'static str,
    /// The network's name.
    pub network: String,
    /// Factor by which times were divided and rates multiplied during the run. The values below are
    /// converted back.
    pub scale: u64,
    /// Seed of everything random.
    pub seed: u64,
    /// When the measurement began.
    pub from_s: f64,
    /// When it ended.
    pub until_s: f64,
    /// Jain's fairness index of what the open flows delivered; `None` if that is nothing.
    pub jain: Option<f64>,
    /// The flows.
    pub flows: Vec<FlowResult>,
    /// The exchanges between hosts with a stack.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub transfers: Vec<TransferResult>,
    /// The lines: two for each link.
    pub lines: Vec<LineResult>,
    /// The routers that are chips.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub routers: Vec<RouterResult>,
    /// The CPUs of the hosts that have one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cpus: Vec<CpuResult>,
    /// Messages that reached hosts during the measurement, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<MessageResult>,
}

/// Messages that reached hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct MessageResult {
    /// The time to live of a packet expired.
    pub time_exceeded: u64,
    /// A destination is unreachable.
    pub unreachable: u64,
    /// A packet was larger than the MTU of a link, and must not be fragmented.
    pub too_big: u64,
    /// Echo replies.
    pub echo_replies: u64,
    /// ARP messages.
    pub arp: u64,
    /// All others.
    pub others: u64,
}

impl MessageResult {
    /// Returns the counts; `None` if there are none.
    fn of(counters: &MessageCounters) -> Option<Self> {
        let MessageCounters {
            time_exceeded,
            unreachable,
            too_big,
            echo_replies,
            arp,
            others,
        } = counters;
        let counted = Self {
            time_exceeded: time_exceeded.packets,
            unreachable: unreachable.packets,
            too_big: too_big.packets,
            echo_replies: echo_replies.packets,
            arp: arp.packets,
            others: others.packets,
        };
        (*counters != MessageCounters::default()).then_some(counted)
    }

    /// Describes the counts in words: `2 unreachable, 1 time exceeded`.
    #[must_use]
    pub fn text(&self) -> String {
        let kinds = [
            (self.unreachable, "unreachable"),
            (self.time_exceeded, "time exceeded"),
            (self.too_big, "too big"),
            (self.echo_replies, "echo replies"),
            (self.arp, "ARP"),
            (self.others, "others"),
        ];
        let kinds = kinds.into_iter().filter(|(count, _)| *count > 0);
        let kinds: Vec<_> = kinds
            .map(|(count, name)| format!("{count} {name}"))
            .collect();
        kinds.join(", ")
    }
}

/// A chip in the network. Its report is in its own time, without correction for the scale.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RouterResult {
    /// The name.
    pub name: String,
    /// The project.
    pub project: String,
    /// Settings over the project file, `PATH=VALUE` each: first the file's, then the network's.
    pub settings: Vec<String>,
    /// The routes that the network set in place of its project's.
    pub routes: Vec<String>,
    /// Frames that left and that the network does not carry: they belong to no host, are not messages
    /// to one, or left by a port without a link.
    pub strange: u64,
    /// Counters since the start, in the form of a node's entry in a run's stats file.
    pub node: NodeReport,
}

/// The CPU of a host.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CpuResult {
    /// The host.
    pub host: String,
    /// Cores.
    pub cores: u64,
    /// Work given to it as a share of the capacity of all cores: above 1 if they fell behind.
    pub utilisation: f64,
}

/// A flow.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FlowResult {
    /// The name.
    pub name: String,
    /// Sending host.
    pub from: String,
    /// Receiving host.
    pub to: String,
    /// The transport.
    pub transport: &'static str,
    /// When it opened.
    pub start_s: f64,
    /// Bytes delivered during the measurement.
    pub delivered: u64,
    /// `delivered` as a rate.
    pub goodput_bps: f64,
    /// Share of what all flows delivered; `None` if that is nothing.
    pub share: Option<f64>,
    /// Packets of both its hosts during the measurement.
    pub packets: u64,
    /// Packets that queues dropped or lines lost.
    pub lost: u64,
    /// Segments that were retransmitted.
    pub retransmitted: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Fast recoveries.
    pub fast_recoveries: u64,
    /// Smoothed round-trip time at the end.
    pub rtt_s: Option<f64>,
    /// Time from its start until all data were acknowledged, if they were.
    pub completion_s: Option<f64>,
    /// Messages about its packets that reached their senders during the measurement, if any.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<MessageResult>,
}

/// One direction of a link.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LineResult {
    /// The name: the link's, followed by `back` for the direction from the link's second end.
    pub name: String,
    /// The link's name.
    pub link: String,
    /// Node at the sending end.
    pub from: String,
    /// Node at the receiving end.
    pub to: String,
    /// Whether it has a limit or loses packets: others only join nodes.
    pub watched: bool,
    /// Bits per second.
    pub rate_bps: f64,
    /// Share of the time in which it was sending.
    pub utilisation: f64,
    /// Packets sent.
    pub packets: u64,
    /// IP bytes of these packets.
    pub bytes: u64,
    /// Mean length of the queue.
    pub mean_queue_bytes: f64,
    /// Longest queue.
    pub longest_queue_bytes: u64,
    /// Packets dropped, in total.
    pub drops: u64,
    /// `drops` by reason.
    pub dropped: Vec<Dropped>,
    /// Packets lost on the line.
    pub lost: u64,
}

/// Packets dropped for one reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Dropped {
    /// The reason.
    pub reason: &'static str,
    /// Number of packets.
    pub packets: u64,
}

impl Results {
    /// Returns the results since an earlier time of the run, whose counters are `begin`.
    #[must_use]
    pub fn of(file: &NetworkFile, network: &Network, begin: &NetworkCounters) -> Self {
        let simulation = network.packet_simulation();
        let counters = simulation.counters().since(begin);
        let topology = simulation.topology();
        let unscaled = Unscaled(file.scale);
        let all: u64 = counters.flows.iter().map(|flow| flow.delivered).sum();
        let name = |node: usize| topology.nodes[node].name.clone();
        let flow = |(number, counted): (usize, &FlowCounters)| {
            let flow = &topology.flows[number];
            FlowResult {
                name: flow.name.clone(),
                from: name(flow.from),
                to: name(flow.to),
                transport: transport(&flow.transport),
                start_s: unscaled.seconds(flow.start),
                delivered: counted.delivered,
                goodput_bps: unscaled.rate(counters.goodput(number)),
                share: (all > 0).then(|| counted.delivered as f64 / all as f64),
                packets: counted.sent.packets,
                lost: counted.gone.packets,
                retransmitted: counted.sender.retransmitted,
                timeouts: counted.sender.timeouts,
                fast_recoveries: counted.sender.fast_recoveries,
                rtt_s: { simulation.view(number).srtt }.map(|rtt| unscaled.seconds(rtt)),
                completion_s: { counted.sender.completed_at }
                    .map(|at| unscaled.seconds(at.saturating_sub(flow.start))),
                messages: MessageResult::of(&counted.messages),
            }
        };
        let line = |(number, counted): (usize, &LineCounters)| {
            let link = &topology.links[number / 2];
            let dropped = DropReason::ALL.map(|reason| Dropped {
                reason: reason.name(),
                packets: counted.dropped_for(reason).packets,
            });
            LineResult {
                name: topology.line_name(number),
                link: link.name.clone(),
                from: name(link.ends[number % 2]),
                to: name(link.ends[1 - number % 2]),
                watched: topology.is_watched(number),
                rate_bps: unscaled.rate(counted.rate as f64),
                utilisation: counted.utilisation(),
                packets: counted.sent.packets,
                bytes: counted.sent.bytes,
                mean_queue_bytes: counted.mean_queue(),
                longest_queue_bytes: counted.longest,
                drops: counted.drops(),
                dropped: { dropped.into_iter() }
                    .filter(|dropped| dropped.packets > 0)
                    .collect(),
                lost: counted.lost.packets,
            }
        };
        Self {
            schema: SCHEMA,
            npsim: env!("CARGO_PKG_VERSION"),
            network: file.name.clone(),
            scale: file.scale,
            seed: topology.seed,
            from_s: unscaled.seconds(counters.at - counters.time),
            until_s: unscaled.seconds(counters.at),
            jain: counters.jain(topology, 0..topology.flows.len()),
            flows: counters.flows.iter().enumerate().map(flow).collect(),
            transfers: transfer_results::of(topology, &counters, unscaled),
            lines: counters.lines.iter().enumerate().map(line).collect(),
            messages: MessageResult::of(&counters.messages),
            routers: network.chip_reports().map(router).collect(),
            cpus: { counters.cpus.iter() }
                .zip(&topology.cpus)
                .map(|(counted, cpu)| CpuResult {
                    host: name(cpu.node),
                    cores: counted.cores,
                    utilisation: counted.utilisation(),
                })
                .collect(),
        }
    }
}

fn router(report: ChipReport<'_>) -> RouterResult {
    let system = report.system;
    let texts = |list: &[Setting]| list.iter().map(ToString::to_string).collect();
    RouterResult {
        name: report.name.to_owned(),
        project: system.project.name.clone(),
        settings: texts(&system.project.settings),
        routes: system.routes.lines(),
        strange: report.unknown_frames,
        node: report.node,
    }
}

/// Returns a transport's name in files.
fn transport(transport: &Transport) -> &'static str {
    use npsim_transport::Scheme;
    match transport {
        Transport::Rcp { .. } => "rcp",
        Transport::Constant { .. } => "udp",
        Transport::Tcp { scheme, host, .. } => match scheme {
            Scheme::Reno if host.sack => "sack",
            Scheme::Reno => "reno",
            Scheme::Cubic(_) => "cubic",
            Scheme::Xcp(_) => "xcp",
            Scheme::XcpOption(_) => "xcp-option",
            Scheme::QuickStart(_) => "quick-start",
            Scheme::Srp(_) => "srp",
        },
    }
}
