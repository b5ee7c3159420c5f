//! A network file in written form.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

/// A text with its place.
pub type PlacedText = Spanned<String>;

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkFile {
    /// Name of the network.
    pub name: String,
    /// Divisor of all times and factor of all rates.
    pub scale: Option<Spanned<u64>>,
    /// When the run ends.
    pub until: PlacedText,
    /// Start of the measurement; the beginning if left out.
    pub from: Option<PlacedText>,
    /// Seed of everything random; 1 if left out.
    pub seed: Option<u64>,
    #[serde(default)]
    pub host: Vec<HostSection>,
    #[serde(default)]
    pub switch: Vec<Switch>,
    #[serde(default)]
    pub router: Vec<RouterSection>,
    #[serde(default)]
    pub link: Vec<LinkSection>,
    #[serde(default)]
    pub flow: Vec<FlowSection>,
    #[serde(default)]
    pub transfer: Vec<TransferSection>,
}

/// One host, or several with numbers after the name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostSection {
    pub name: PlacedText,
    /// `stack` or `interface`; one of npsim's own end hosts if left out.
    pub kind: Option<PlacedText>,
    /// Number of hosts; 1 if left out.
    pub count: Option<Spanned<u64>>,
    /// Address of the first host; each further host has the next one. For an interface it may be left out, or
    /// end in the length of the prefix that is routed to it.
    pub address: Option<PlacedText>,
    /// The CPU; without one, work takes no time.
    pub cpu: Option<Spanned<CpuSection>>,
}

/// The CPU of a host, and the core time that its work takes.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpuSection {
    /// Number of cores; 1 if left out.
    pub cores: Option<Spanned<u64>>,
    /// Time for a packet in or out; none if left out.
    pub packet: Option<PlacedText>,
    /// Time for a timer that expires; none if left out.
    pub timer: Option<PlacedText>,
    /// Time for a clock tick in which a timer expires; none if left out.
    pub tick: Option<PlacedText>,
    /// Extra time of a timer for each other busy core; none if left out.
    pub contention: Option<PlacedText>,
}

/// A node that forwards packets without delay.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Switch {
    pub name: PlacedText,
}

/// A router: a model, or a whole chip with its microcode.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RouterSection {
    pub name: PlacedText,
    /// `fifo`, `xcp`, `xcp-option`, `rcp` or `quick-start`.
    pub model: Option<PlacedText>,
    /// A project file or its folder, relative to this file.
    pub system: Option<PlacedText>,
    /// For a system: `network` to replace the project's routes by routes to the network's hosts, or `project`;
    /// `network` if left out.
    pub routes: Option<PlacedText>,
    /// For a system: keys of the project file, taken unchanged.
    pub set: Option<Spanned<toml::Table>>,
    /// For a system: keys of the project file whose values are times or rates of this file.
    pub scaled: Option<Spanned<BTreeMap<String, PlacedText>>>,
    /// Time from a packet's arrival to its entry into a queue.
    pub delay: Option<PlacedText>,
    pub xcp: Option<XcpSection>,
    pub rcp: Option<RcpSection>,
    #[serde(rename = "quick-start")]
    pub quick_start: Option<QuickStartSection>,
}

/// XCP parameters set by the operator.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct XcpSection {
    pub capacity: Option<PlacedText>,
    pub alpha: Option<Spanned<f64>>,
    pub beta: Option<Spanned<f64>>,
    pub gamma: Option<Spanned<f64>>,
    pub initial_interval: Option<PlacedText>,
    pub min_interval: Option<PlacedText>,
    pub max_interval: Option<PlacedText>,
    pub allowed_queue: Option<PlacedText>,
    /// `arrival` or `departure`.
    pub stamp: Option<PlacedText>,
    /// For `xcp-option`: `mantissa-exponent` or `integer`.
    pub format: Option<PlacedText>,
}

/// RCP parameters set by the operator.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RcpSection {
    pub alpha: Option<Spanned<f64>>,
    pub beta: Option<Spanned<f64>>,
    /// Target share of the capacity.
    pub eta: Option<Spanned<f64>>,
    pub period: Option<PlacedText>,
    pub initial_rtt: Option<PlacedText>,
    /// Share of the capacity with which flows begin.
    pub initial_rate: Option<Spanned<f64>>,
}

/// Quick-Start parameters set by the operator.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuickStartSection {
    /// Share of the line up to which requests are granted.
    pub threshold: Option<Spanned<f64>>,
    pub window: Option<PlacedText>,
    /// Number of windows, of which the busiest counts.
    pub samples: Option<u8>,
}

/// A link, or one for each member of a group of hosts.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkSection {
    pub name: Option<PlacedText>,
    pub between: Spanned<[PlacedText; 2]>,
    pub rate: PlacedText,
    pub delay: PlacedText,
    /// Bytes on the line besides each IP packet.
    pub overhead: Option<u32>,
    /// Queue of the line from the first end; the queue back is unlimited by default.
    pub queue: Option<QueueSection>,
    /// Queue of the line back.
    pub queue_back: Option<QueueSection>,
    pub loss: Option<LossSection>,
    /// Periods in which it carries nothing, from one time until another.
    pub down: Option<Vec<[PlacedText; 2]>>,
    pub reorder: Option<Spanned<ReorderSection>>,
}

/// A queue.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QueueSection {
    /// `fifo` or `red`.
    pub kind: Option<PlacedText>,
    /// `100 packets`, `64KB`, or `2bdp` with `rtt`.
    pub limit: PlacedText,
    /// The round-trip time of a bandwidth-delay product.
    pub rtt: Option<PlacedText>,
    /// For RED: share of the limit.
    pub least: Option<Spanned<f64>>,
    pub most: Option<Spanned<f64>>,
    pub weight: Option<Spanned<f64>>,
    pub chance: Option<Spanned<f64>>,
    pub gentle: Option<bool>,
    /// Bytes of a typical packet; 1000 if left out.
    pub packet: Option<u32>,
}

/// Shares of packets lost on a link.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LossSection {
    pub forward: Option<Spanned<f64>>,
    pub back: Option<Spanned<f64>>,
}

/// Packets that arrive late and are overtaken.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReorderSection {
    /// Shares of the packets, by direction.
    pub forward: Option<Spanned<f64>>,
    pub back: Option<Spanned<f64>>,
    /// Extra delay of these packets.
    pub by: PlacedText,
}

/// An exchange between hosts with a stack, or one for each member of the groups that it connects.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransferSection {
    pub name: Option<String>,
    /// The client, which connects and sends requests.
    pub from: PlacedText,
    /// The server, which responds.
    pub to: PlacedText,
    /// When the first one connects; at once if left out.
    pub start: Option<PlacedText>,
    /// Time from one start to the next.
    pub step: Option<PlacedText>,
    pub request: Spanned<Size>,
    pub response: Spanned<Size>,
    /// Number of requests, each sent after the response to the previous one; 1 if left out.
    pub requests: Option<Spanned<u64>>,
    /// Time from a response to the next request; none if left out.
    pub gap: Option<PlacedText>,
    /// Size of each socket buffer, for data sent but not acknowledged, and data received but not read.
    pub buffer: Option<Spanned<Size>>,
}

/// A number of bytes.
#[derive(Debug, Deserialize)]
#[serde(
    untagged,
    expecting = "a number of bytes, or a size in quotes such as \"5MB\""
)]
pub enum Size {
    Number(u64),
    Text(String),
}

/// A flow, or one for each member of the groups that it connects.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowSection {
    pub name: Option<String>,
    pub from: PlacedText,
    pub to: PlacedText,
    pub transport: PlacedText,
    /// When the first one opens; at once if left out.
    pub start: Option<PlacedText>,
    /// Time from one start to the next.
    pub step: Option<PlacedText>,
    /// Largest random delay of each start, drawn from the seed and the flow's name: a time, or `0.5rtt`.
    pub spread: Option<PlacedText>,
    /// `endless`, or a number of bytes.
    pub bytes: Option<Spanned<Bytes>>,
    /// For `udp`.
    pub rate: Option<PlacedText>,
    /// For `udp`: when it stops.
    pub until: Option<PlacedText>,
    /// Bytes of a full packet with its IP header; 1500 if left out.
    pub packet: Option<Spanned<u32>>,
    /// Time to live of the sender's packets; 64 if left out.
    pub ttl: Option<Spanned<u8>>,
    pub host: Option<Spanned<HostKeys>>,
}

/// Data of a flow.
#[derive(Debug, Deserialize)]
#[serde(untagged, expecting = "a number of bytes or \"endless\"")]
pub enum Bytes {
    Number(u64),
    Word(String),
}

/// Parameters of the hosts of a flow.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostKeys {
    pub initial_window: Option<Spanned<u8>>,
    pub window_limit: Option<u64>,
    pub receive_buffer: Option<u32>,
    pub min_rto: Option<PlacedText>,
    /// `off`, or a time.
    pub delayed_ack: Option<PlacedText>,
    pub sack_blocks: Option<Spanned<u8>>,
    pub limited_transmit: Option<bool>,
    pub restart_after_idle: Option<bool>,
    /// `exact`, `ring`, `ring-sdk`, or an interrupt such as `250Hz`.
    pub pacing: Option<PlacedText>,
    /// Whether selective acknowledgements are negotiated; never with `reno`.
    pub sack: Option<Spanned<bool>>,
    /// For XCP: `halve` or `ignore`.
    pub loss: Option<PlacedText>,
    /// For XCP: whether requests are limited to what may be in flight.
    pub cap_request: Option<Spanned<bool>>,
    /// For `xcp-option`: `mantissa-exponent` or `integer`.
    pub format: Option<PlacedText>,
}
