//! The results of a run as plain data, shown by both the summary and the stats
//! file. Nothing in it depends on the host.

mod gather;

use npsim_chip::kernel::fault_injection::Perturbations;
use npsim_inspect::stats::Stats;
use npsim_net::load::Load;
use npsim_project::ProfileChange;
use serde::Serialize;

use crate::registers::RegisterValue;

/// A run: one node, or several in a network.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Name and version of the format.
    pub schema: &'static str,
    /// Version of npsim.
    pub npsim: &'static str,
    /// The project.
    pub project: String,
    /// Delay of the links between nodes, in cycles.
    pub link_cycles: u64,
    /// The seed of the first node's pseudo-random numbers, if one was given.
    pub seed: Option<u64>,
    /// Settings that override the project file, each `PATH=VALUE`.
    pub settings: Vec<String>,
    /// Changes that settings made to the chip profile; such a run says nothing
    /// about the chip that the profile describes.
    pub profile_changes: Vec<ProfileChange>,
    /// Deliberate disturbances of all nodes, with the random numbers of the
    /// first one; absent for a plain run.
    #[serde(skip_serializing_if = "Perturbations::is_none")]
    pub disturbances: Perturbations,
    /// The generated traffic with all its defaults; absent for a capture.
    pub load: Option<Load>,
    /// The worst of the nodes' endings: `fault`, `output-failed`, `input-failed`,
    /// `interrupted`, `reached`, `drained`, `quiet`, or `running` while they run.
    pub ending: &'static str,
    /// Frames into the first node, out of the last one, and lost in between.
    pub packets: Packets,
    /// Why frames were lost, node by node.
    pub drops: Vec<NodeDrop>,
    /// Packets that ended on the slow path, by node and reason.
    pub exceptions: Vec<NodeDrop>,
    /// Rates into the first node and out of the last one.
    pub rates: Rates,
    /// Latency from the last bit into the first node to the last bit out of the
    /// last one; absent if nothing could be traced.
    pub latency: Option<LatencySummary>,
    /// The nodes, in order.
    pub nodes: Vec<NodeReport>,
}

/// Frames lost at a node.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NodeDrop {
    /// The node, from 1.
    pub node: usize,
    /// The loss.
    #[serde(flatten)]
    pub drop: Drop,
}

/// One node of a run.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct NodeReport {
    /// The node, from 1.
    pub node: usize,
    /// The seed of its pseudo-random numbers, if one was given.
    pub seed: Option<u64>,
    /// Deliberate disturbances; absent for a plain run.
    #[serde(skip_serializing_if = "Perturbations::is_none")]
    pub disturbances: Perturbations,
    /// `drained`, `quiet`, `reached`, `fault`, `output-failed`, `input-failed`,
    /// `interrupted`, or `running` while it runs.
    pub ending: &'static str,
    /// The fault that stopped it.
    pub fault: Option<FaultReport>,
    /// Microengines stopped by a breakpoint.
    pub halts: Vec<HaltReport>,
    /// Frames in, out and lost.
    pub packets: Packets,
    /// Why frames were lost.
    pub drops: Vec<Drop>,
    /// Packets that ended on the slow path, by reason.
    pub exceptions: Vec<Drop>,
    /// Rates in and out.
    pub rates: Rates,
    /// Latency from last bit in to last bit out; absent if nothing could be traced.
    pub latency: Option<LatencySummary>,
    /// Latency from the last bit into the first node to the last bit out of
    /// this one; absent if nothing could be traced.
    pub latency_since_entry: Option<LatencySummary>,
    /// The chip's counts.
    pub chip: Stats,
}

/// The format's name; it changes when a field changes its meaning or is removed.
pub const SCHEMA: &str = "npsim-stats-2";

/// A fault.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct FaultReport {
    /// Name of the check; absent for operations that no chip could perform.
    pub check: Option<&'static str>,
    /// Description of the fault.
    pub message: String,
    /// The cycle of the fault.
    pub cycle: u64,
    /// Microengine.
    pub me: Option<u8>,
    /// Context.
    pub context: Option<u8>,
    /// Word address.
    pub pc: Option<u16>,
    /// The source line and the macros that it was expanded from.
    pub place: Option<String>,
    /// Explanations.
    pub notes: Vec<String>,
    /// Other related places.
    pub also: Vec<PlaceReport>,
    /// The registers that matter where the context stands.
    pub registers: Vec<RegisterValue>,
    /// The place of the registers, if the context has moved on since the faulting instruction.
    pub registers_at: Option<String>,
}

/// A place in a program and what happens there.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct PlaceReport {
    /// Microengine.
    pub me: u8,
    /// Context.
    pub context: u8,
    /// Word address.
    pub pc: u16,
    /// The source line and the macros that it was expanded from.
    pub place: String,
    /// What happens there.
    pub what: String,
}

/// A microengine stopped by a breakpoint.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct HaltReport {
    /// Microengine.
    pub me: u8,
    /// The context that reached the breakpoint.
    pub context: u8,
    /// The first cycle in which nothing runs there.
    pub cycle: u64,
    /// Word address.
    pub pc: u16,
    /// The source line and the macros that it was expanded from.
    pub place: String,
    /// The registers of this context that matter there.
    pub registers: Vec<RegisterValue>,
}

/// Frames, counted where they are first and last seen.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Packets {
    /// Frames put on the lines.
    pub offered: u64,
    /// Bytes of these frames without preamble, gap and check sequence.
    pub offered_bytes: u64,
    /// Frames that left the chip.
    pub sent: u64,
    /// Bytes of these frames.
    pub sent_bytes: u64,
    /// Frames that left the chip and could not be traced to a frame that arrived.
    pub untraced: u64,
    /// Frames lost at the media interface.
    pub dropped_media: u64,
    /// Frames counted by the microcode's drop counters.
    pub dropped_microcode: u64,
    /// Packets that ended on the slow path.
    pub exceptions: u64,
    /// Frames made by the general-purpose core.
    #[serde(skip_serializing_if = "is_none")]
    pub made: u64,
    /// Frames that had left a node and not begun to arrive at the next one; 0 for one node.
    pub on_links: u64,
    /// Offered and made frames less all of the other counts above except `untraced`: still inside,
    /// or dropped without a counter. Negative if the microcode makes packets.
    pub unaccounted: i64,
    /// Unaccounted frames that will not leave any more: the run has come to rest, or a check at its
    /// end found why they stay. 0 if frames may still be in flight.
    pub lost: u64,
}

/// Whether a count is left out of files, so that runs without it have the same files as before it
/// was introduced.
#[allow(
    clippy::trivially_copy_pass_by_ref,
    reason = "serde hands over a reference"
)]
fn is_none(count: &u64) -> bool {
    *count == 0
}

/// A number of frames and why they were lost.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Drop {
    /// `media`, `microcode` or `slow-path`.
    pub by: &'static str,
    /// The port, for drops at the media interface.
    pub port: Option<u8>,
    /// The counter, for drops by the microcode.
    pub counter: Option<String>,
    /// Reason in words.
    pub reason: String,
    /// Number of frames.
    pub frames: u64,
}

/// Rates, rounded down, each over its own duration.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Rates {
    /// Time from first bit in to last bit in.
    pub offered_nanoseconds: u64,
    /// Offered frames per second.
    pub offered_packets_per_second: u64,
    /// Offered bits per second, of frames without preamble, gap and check sequence.
    pub offered_bits_per_second: u64,
    /// Time from first bit out to last bit out.
    pub sent_nanoseconds: u64,
    /// Sent frames per second.
    pub sent_packets_per_second: u64,
    /// Sent bits per second.
    pub sent_bits_per_second: u64,
}

/// Latencies in nanoseconds, rounded down; percentiles by nearest rank, to 1/4096 of their value.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[allow(missing_docs)]
pub struct LatencySummary {
    pub packets: u64,
    pub min_ns: u64,
    pub mean_ns: u64,
    pub p50_ns: u64,
    pub p90_ns: u64,
    pub p99_ns: u64,
    pub max_ns: u64,
}
