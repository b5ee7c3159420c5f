//! What a run came to, in the times and rates of its file.

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

/// The version of the document's form.
const SCHEMA: &str = "npsim-network-1";

/// A run, as it stands in a file of statistics.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Results {
    /// The form of this document.
    pub schema: &'static str,
    /// Version of npsim.
    pub npsim: &'static str,
    /// The network's name.
    pub network: String,
    /// What times were divided by and rates multiplied while it ran. All below is undone.
    pub scale: u64,
    /// What all that is random was drawn from.
    pub seed: u64,
    /// When the measurement began.
    pub from_s: f64,
    /// When it ended.
    pub until_s: f64,
    /// Jain's index of what the flows delivered that were open; none if that is nothing.
    pub jain: Option<f64>,
    /// The flows.
    pub flows: Vec<FlowResult>,
    /// What hosts with a stack have exchanged.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub transfers: Vec<TransferResult>,
    /// The links: two lines each.
    pub lines: Vec<LineResult>,
    /// The routers that are chips.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub routers: Vec<RouterResult>,
    /// The CPUs of hosts that have one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub cpus: Vec<CpuResult>,
    /// Messages that reached hosts, while it was measured, if any did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<MessageResult>,
}

/// Messages that reached hosts.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
pub struct MessageResult {
    /// A packet's time to live was over.
    pub time_exceeded: u64,
    /// A destination is unreachable.
    pub unreachable: u64,
    /// A packet was larger than a link takes, and must not be fragmented.
    pub too_big: u64,
    /// Answers to echo requests.
    pub echo_replies: u64,
    /// Messages of ARP.
    pub arp: u64,
    /// All others.
    pub others: u64,
}

impl MessageResult {
    /// What was counted; none if that is nothing.
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

    /// What there was, in words: `2 unreachable, 1 time exceeded`.
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

/// A chip in the network. All in its report is in its own time, which the scale is not undone of.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct RouterResult {
    /// The name.
    pub name: String,
    /// The project.
    pub project: String,
    /// Settings over the project file, `PATH=VALUE` each: the file's, then the network's.
    pub settings: Vec<String>,
    /// The routes that the network gave it in place of its project's.
    pub routes: Vec<String>,
    /// Frames that left and that the network does not carry: they are neither a host's nor a message
    /// to one, or left where there is no link.
    pub strange: u64,
    /// What it counted from the beginning on, as the stats file of a run has it of a node.
    pub node: NodeReport,
}

/// The CPU of a host.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct CpuResult {
    /// The host.
    pub host: String,
    /// Cores.
    pub cores: u64,
    /// What it was given to do as a share of what all cores could: above 1 where they fell behind.
    pub utilisation: f64,
}

/// A flow.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct FlowResult {
    /// The name.
    pub name: String,
    /// Host that sends.
    pub from: String,
    /// Host that receives.
    pub to: String,
    /// The transport.
    pub transport: &'static str,
    /// When it opened.
    pub start_s: f64,
    /// Bytes that were delivered for good while it was measured.
    pub delivered: u64,
    /// `delivered` as a rate.
    pub goodput_bps: f64,
    /// Share of what all flows delivered; none if that is nothing.
    pub share: Option<f64>,
    /// Packets of both its hosts, while it was measured.
    pub packets: u64,
    /// Packets that queues dropped or lines lost.
    pub lost: u64,
    /// Segments that were sent again.
    pub retransmitted: u64,
    /// Retransmission timeouts.
    pub timeouts: u64,
    /// Fast recoveries.
    pub fast_recoveries: u64,
    /// Smoothed round-trip time at the end.
    pub rtt_s: Option<f64>,
    /// From its start until all data was acknowledged, if it was.
    pub completion_s: Option<f64>,
    /// Messages about its packets that reached the hosts which had sent them, while it was measured, if
    /// any did.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub messages: Option<MessageResult>,
}

/// One direction of a link.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct LineResult {
    /// The name: the link's, with `back` behind it for the way from the link's second end.
    pub name: String,
    /// The link's name.
    pub link: String,
    /// Node that it leaves.
    pub from: String,
    /// Node that it leads to.
    pub to: String,
    /// Whether it has a limit or loses packets: others only join nodes.
    pub watched: bool,
    /// Bits per second.
    pub rate_bps: f64,
    /// Share of the time in which it sent.
    pub utilisation: f64,
    /// Packets sent.
    pub packets: u64,
    /// The IP bytes of these frames.
    pub bytes: u64,
    /// Mean length of the queue.
    pub mean_queue_bytes: f64,
    /// Longest queue.
    pub longest_queue_bytes: u64,
    /// Packets dropped, all.
    pub drops: u64,
    /// `drops` by reason.
    pub dropped: Vec<Dropped>,
    /// Packets lost on the line.
    pub lost: u64,
}

/// Packets that were dropped for a reason.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
pub struct Dropped {
    /// Why.
    pub reason: &'static str,
    /// How many.
    pub packets: u64,
}

impl Results {
    /// What happened between two times of a run; `begin` is what was counted at the first.
    #[must_use]
    pub fn of(file: &NetworkFile, network: &Network, begin: &NetworkCounters) -> Self {
        let simulation = network.outside();
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

/// A transport's name as files have it.
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
