//! A network file as it is typed.

use std::collections::BTreeMap;

use serde::Deserialize;
use toml::Spanned;

/// A text whose place is known.
pub type PlacedText = Spanned<String>;

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct NetworkFile {
    /// Name of the network.
    pub name: String,
    /// All times are divided by it and all rates multiplied.
    pub scale: Option<Spanned<u64>>,
    /// When the run ends.
    pub until: PlacedText,
    /// From when on is measured; from the beginning if left out.
    pub from: Option<PlacedText>,
    /// Draws what is random; 1 if left out.
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

/// One host, or several with numbers behind the name.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct HostSection {
    pub name: PlacedText,
    /// `stack` or `interface`; an end host of npsim's own if left out.
    pub kind: Option<PlacedText>,
    /// How many; 1 if left out.
    pub count: Option<Spanned<u64>>,
    /// Address of the first; each has the next one. That of an interface may be left out, or end in
    /// the length of the prefix that is routed to it.
    pub address: Option<PlacedText>,
    /// What it computes with; without one nothing takes time.
    pub cpu: Option<Spanned<CpuSection>>,
}

/// The CPU of a host, and what it needs of a core's time.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct CpuSection {
    /// Cores; 1 if left out.
    pub cores: Option<Spanned<u64>>,
    /// A packet in or out; nothing if left out.
    pub packet: Option<PlacedText>,
    /// A timer that fires; nothing if left out.
    pub timer: Option<PlacedText>,
    /// A tick of the clock in which a timer fires; nothing if left out.
    pub tick: Option<PlacedText>,
    /// What a timer takes longer for each other core that is busy; nothing if left out.
    pub contention: Option<PlacedText>,
}

/// Passes packets on at once.
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
    /// Of a system: `network`, routes to the network's hosts in place of the project's, or `project`; `network`
    /// if left out.
    pub routes: Option<PlacedText>,
    /// Of a system: keys of the project file, as they are.
    pub set: Option<Spanned<toml::Table>>,
    /// Of a system: keys of the project file that are times or rates of this file.
    pub scaled: Option<Spanned<BTreeMap<String, PlacedText>>>,
    /// Time from a packet's arrival to its place in a queue.
    pub delay: Option<PlacedText>,
    pub xcp: Option<XcpSection>,
    pub rcp: Option<RcpSection>,
    #[serde(rename = "quick-start")]
    pub quick_start: Option<QuickStartSection>,
}

/// What an operator of XCP sets.
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
    /// Of `xcp-option`: `mantissa-exponent` or `integer`.
    pub format: Option<PlacedText>,
}

/// What an operator of RCP sets.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RcpSection {
    pub alpha: Option<Spanned<f64>>,
    pub beta: Option<Spanned<f64>>,
    /// Share of the capacity that is to be used.
    pub eta: Option<Spanned<f64>>,
    pub period: Option<PlacedText>,
    pub initial_rtt: Option<PlacedText>,
    /// Share of the capacity that flows begin with.
    pub initial_rate: Option<Spanned<f64>>,
}

/// What an operator of Quick-Start sets.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct QuickStartSection {
    /// Share of the line that may be granted up to.
    pub threshold: Option<Spanned<f64>>,
    pub window: Option<PlacedText>,
    /// Windows of which the busiest counts.
    pub samples: Option<u8>,
}

/// A link, or as many as a group of hosts has members.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LinkSection {
    pub name: Option<PlacedText>,
    pub between: Spanned<[PlacedText; 2]>,
    pub rate: PlacedText,
    pub delay: PlacedText,
    /// Bytes on the line besides each IP packet.
    pub overhead: Option<u32>,
    /// Before the line from the first end; that back is endless.
    pub queue: Option<QueueSection>,
    /// Before the line back.
    pub queue_back: Option<QueueSection>,
    pub loss: Option<LossSection>,
    /// When it carries nothing, from one time until another.
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
    /// RED: as a share of the limit.
    pub least: Option<Spanned<f64>>,
    pub most: Option<Spanned<f64>>,
    pub weight: Option<Spanned<f64>>,
    pub chance: Option<Spanned<f64>>,
    pub gentle: Option<bool>,
    /// Bytes of a typical packet; 1000 if left out.
    pub packet: Option<u32>,
}

/// Shares of packets that are lost on a link.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct LossSection {
    pub forward: Option<Spanned<f64>>,
    pub back: Option<Spanned<f64>>,
}

/// Packets that come late, and are overtaken.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct ReorderSection {
    /// Shares of the packets.
    pub forward: Option<Spanned<f64>>,
    pub back: Option<Spanned<f64>>,
    /// How much later than others they come.
    pub by: PlacedText,
}

/// What hosts with a stack exchange, or as many as the groups that it joins have members.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct TransferSection {
    pub name: Option<String>,
    /// The client, which connects and asks.
    pub from: PlacedText,
    /// The server, which answers.
    pub to: PlacedText,
    /// When the first one connects; at once if left out.
    pub start: Option<PlacedText>,
    /// From one to the next.
    pub step: Option<PlacedText>,
    pub request: Spanned<Size>,
    pub response: Spanned<Size>,
    /// How many, each after the response to the one before; 1 if left out.
    pub requests: Option<Spanned<u64>>,
    /// From a response to the next request; none if left out.
    pub gap: Option<PlacedText>,
    /// Of each socket, for what was sent and not acknowledged, and came and was not read.
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

/// A flow, or as many as the groups that it joins have members.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlowSection {
    pub name: Option<String>,
    pub from: PlacedText,
    pub to: PlacedText,
    pub transport: PlacedText,
    /// When the first one opens; at once if left out.
    pub start: Option<PlacedText>,
    /// From one to the next.
    pub step: Option<PlacedText>,
    /// Each opens up to so much later, as the seed and its name draw it: a time, or `0.5rtt`.
    pub spread: Option<PlacedText>,
    /// `endless`, or a number of bytes.
    pub bytes: Option<Spanned<Bytes>>,
    /// Of `udp`.
    pub rate: Option<PlacedText>,
    /// Of `udp`: when it ends.
    pub until: Option<PlacedText>,
    /// Bytes of a full packet with its IP header; 1500 if left out.
    pub packet: Option<Spanned<u32>>,
    /// Time to live of what the sender sends; 64 if left out.
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

/// What the hosts of a flow are set to.
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
    /// Whether selective acknowledgements are agreed on; those of `reno` never are.
    pub sack: Option<Spanned<bool>>,
    /// Of XCP: `halve` or `ignore`.
    pub loss: Option<PlacedText>,
    /// Of XCP: whether no more is asked for than may be in flight.
    pub cap_request: Option<Spanned<bool>>,
    /// Of `xcp-option`: `mantissa-exponent` or `integer`.
    pub format: Option<PlacedText>,
}
