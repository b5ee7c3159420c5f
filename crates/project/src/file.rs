//! The project file in written form: names, texts and numbers with their places, before any lookup or
//! default.

use std::collections::BTreeMap;

use npsim_net::load::Load;
use schemars::JsonSchema;
use serde::Deserialize;

use super::chain::ChainSection;
use super::disturb::{DisturbSection, StallSection};
use super::goals::GoalSection;
use crate::keys::{Ids, Spanned};
use crate::registry::{Registry, Sections};
use crate::toml_errors::KeyError;
use crate::toml_reader;

/// `npsim.toml`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ProjectFile {
    /// Name of the project; its folder's name if not given.
    pub name: Option<String>,
    /// Folders for `#include`, relative to the project's folder.
    #[serde(default)]
    #[schemars(extend("x-names" = "folders"))]
    pub include: Vec<Spanned<String>>,
    /// The chip.
    #[serde(default)]
    pub chip: ChipSection,
    /// Which source runs on which microengines.
    #[serde(default)]
    pub me: Vec<MeSection>,
    /// Ports, in order of their numbers; the board's if there are none.
    #[serde(default)]
    pub port: Vec<PortSection>,
    /// The media interface.
    #[serde(default)]
    pub media: MediaSection,
    /// Scratch rings.
    #[serde(default)]
    pub ring: Vec<RingSection>,
    /// SRAM queues.
    #[serde(default)]
    pub queue: Vec<QueueSection>,
    /// Packet buffers.
    pub buffers: Option<Spanned<BuffersSection>>,
    /// Named memory.
    #[serde(default)]
    pub memory: Vec<MemorySection>,
    /// Named counters.
    #[serde(default)]
    pub counter: Vec<CounterSection>,
    /// Longwords that are watched as locks.
    #[serde(default)]
    pub lock: Vec<LockSection>,
    /// Settings of the routing table.
    pub routes: Option<RoutesSection>,
    /// The flow table.
    pub flows: Option<Spanned<FlowsSection>>,
    /// Flows in the flow table.
    #[serde(default)]
    pub flow: Vec<FlowSection>,
    /// Routes.
    #[serde(default)]
    pub route: Vec<RouteSection>,
    /// Changes to the routes while packets flow.
    #[serde(default)]
    pub route_change: Vec<RouteChangeSection>,
    /// The general-purpose core.
    #[serde(default)]
    pub gpp: GppSection,
    /// Traffic to generate in runs without a capture.
    pub load: Option<Load>,
    /// Contexts that stall.
    #[serde(default)]
    pub stall: Vec<StallSection>,
    /// Random delays of the units' completions.
    pub disturb: Option<DisturbSection>,
    /// The links between the routers of a chain.
    #[serde(default)]
    pub chain: ChainSection,
    /// Goals that a run must meet, for exercises.
    #[serde(default)]
    pub goal: Vec<GoalSection>,
    /// The sections of registered kinds of tasks and devices.
    #[serde(skip)]
    pub(crate) sections: Sections,
}

/// `[chip]`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ChipSection {
    /// A chip profile by name or file; the board's chip, or `ixp2400`, if not
    /// given.
    #[schemars(extend("x-names" = "chips"))]
    pub profile: Option<Spanned<String>>,
    /// A board by name or file; the chip's plain board if not given.
    #[schemars(extend("x-names" = "boards"))]
    pub board: Option<Spanned<String>>,
}

/// `[[me]]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MeSection {
    /// The stage's name, for use in sources and overrides.
    pub name: Option<Spanned<String>>,
    /// Microengine indices.
    pub id: Spanned<Ids>,
    /// The source, relative to the project's folder.
    #[schemars(extend("x-names" = "sources"))]
    pub source: Spanned<String>,
    /// Names defined before the first line.
    #[serde(default)]
    pub define: BTreeMap<Spanned<String>, DefineValue>,
    /// Values of import variables.
    #[serde(default)]
    pub import: BTreeMap<Spanned<String>, Spanned<i64>>,
    /// Whether the assembler may copy a register where an instruction needs two registers of the same bank.
    #[serde(default)]
    pub spill_moves: bool,
    /// Number of contexts, 4 or 8; only for a source of bare words.
    pub contexts: Option<Spanned<i64>>,
    /// The writer of the next-neighbour registers; only for a source of bare words.
    pub nn_mode: Option<Spanned<NnModeKind>>,
}

/// The writer of the next-neighbour registers.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum NnModeKind {
    /// The previous microengine.
    Neighbor,
    /// The microengine itself.
    #[serde(rename = "self")]
    Own,
}

/// The value of a defined name.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(untagged, expecting = "a string or an integer")]
pub enum DefineValue {
    /// A number.
    Integer(i64),
    /// Any text.
    Text(String),
}

impl DefineValue {
    /// Returns the text for the assembler.
    #[must_use]
    pub fn text(&self) -> String {
        match self {
            Self::Integer(number) => number.to_string(),
            Self::Text(text) => text.clone(),
        }
    }
}

/// `[[port]]`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct PortSection {
    /// Line rate; the board's, or `1Gbps`, if not given.
    pub rate: Option<Spanned<String>>,
    /// The router's own MAC address on the port.
    pub mac: Option<Spanned<String>>,
    /// The router's own IPv4 address on the port, or a list with one for each router of a chain.
    pub address: Option<Spanned<Addresses>>,
}

/// One address or several.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "an address in quotes such as \"10.1.0.1/16\", or a list of them"
)]
pub enum Addresses {
    /// `"10.1.0.1/16"`.
    One(String),
    /// One for each router of a chain.
    Several(Vec<String>),
}

/// `[media]`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MediaSection {
    /// Bytes of an RBUF element; 64 if not given.
    pub element_size: Option<Spanned<u16>>,
    /// Bytes of a TBUF element; as for RBUF if not given.
    pub transmit_element_size: Option<Spanned<u16>>,
}

/// `[[ring]]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RingSection {
    /// The name that sources use.
    pub name: Spanned<String>,
    /// Ring number; the next free one if not given.
    pub number: Option<Spanned<u8>>,
    /// Longwords; 128 if not given.
    pub size: Option<Spanned<u16>>,
    /// When the status flag is set; `full` if not given.
    pub status: Option<StatusKind>,
}

/// When a ring's status flag is set.
#[derive(Clone, Copy, Debug, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
pub enum StatusKind {
    /// While it is nearly full, by default from three quarters on.
    Full,
    /// While it is empty.
    Empty,
}

/// `[[queue]]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct QueueSection {
    /// The name that sources use.
    pub name: Spanned<String>,
    /// SRAM channel; 0 if not given.
    pub channel: Option<Spanned<u8>>,
    /// Q-array entry; the next free one if not given.
    pub entry: Option<Spanned<u8>>,
    /// Number of queues, in consecutive entries; 1 if not given.
    pub count: Option<Spanned<u8>>,
}

/// `[buffers]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct BuffersSection {
    /// Number of buffers; 512 if not given.
    pub count: Option<Spanned<u32>>,
    /// Bytes of a buffer in DRAM; 2048 if not given.
    pub size: Option<Spanned<u32>>,
    /// Longwords of a descriptor; 4 if not given.
    pub descriptor: Option<Spanned<u32>>,
    /// SRAM channel of the descriptors; the queue's channel if not given.
    pub channel: Option<Spanned<u8>>,
    /// The queue that holds the free buffers.
    #[schemars(extend("x-names" = "queue"))]
    pub queue: Spanned<String>,
}

/// `[[memory]]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct MemorySection {
    /// The name that sources use.
    pub name: Spanned<String>,
    /// `scratch`, `sram0`, `sram1`, ... or `dram`.
    #[schemars(extend("x-names" = "spaces", "pattern" = "^(scratch|sram[0-9]+|dram)$"))]
    pub space: Spanned<String>,
    /// Size in bytes; the size of `words` if not given.
    pub size: Option<Spanned<u64>>,
    /// Alignment in bytes, a power of two; 4 (8 in DRAM) if not given.
    pub align: Option<Spanned<u64>>,
    /// Byte address; the first gap that fits if not given.
    pub address: Option<Spanned<u64>>,
    /// The first longwords; the others are zero.
    #[serde(default)]
    pub words: Vec<u32>,
}

/// `[[counter]]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct CounterSection {
    /// The name that sources use and reports show.
    pub name: Spanned<String>,
    /// Whether it counts packets that the microcode dropped.
    #[serde(default)]
    pub drop: bool,
    /// A description of what it counts.
    #[serde(default)]
    pub text: String,
}

/// `[[lock]]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct LockSection {
    /// The name that reports show.
    pub name: Spanned<String>,
    /// The `[[memory]]` that contains it.
    #[schemars(extend("x-names" = "memory"))]
    pub memory: Spanned<String>,
    /// Byte offset in it; 0 if not given.
    pub offset: Option<Spanned<u64>>,
}

/// `[routes]`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RoutesSection {
    /// SRAM channel; if not given, 1 if there is one, or else 0.
    pub channel: Option<Spanned<u8>>,
    /// A file of route changes, relative to the project's folder.
    pub changes: Option<Spanned<String>>,
    /// Number of blocks of 256 entries behind the root; as many as the changes need if not given.
    pub blocks: Option<Spanned<u32>>,
    /// Time after which no lookup can still be using a released block; `100us` if not given.
    pub grace: Option<Spanned<String>>,
    /// Whether packets for the broadcast addresses of the ports' own networks are forwarded (RFC 2644).
    #[serde(default)]
    pub directed_broadcasts: bool,
}

/// `[flows]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowsSection {
    /// SRAM channel of the table; the routing table's default if not given.
    pub channel: Option<Spanned<u8>>,
    /// Buckets of two flows; 256 if not given.
    pub buckets: Option<Spanned<u32>>,
}

/// `[[flow]]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct FlowSection {
    /// Source address.
    pub source: Spanned<String>,
    /// Destination address.
    pub destination: Spanned<String>,
    /// IP protocol number.
    pub protocol: u8,
    /// Source port, for TCP and UDP.
    #[serde(default)]
    pub source_port: u16,
    /// Destination port, for TCP and UDP.
    #[serde(default)]
    pub destination_port: u16,
    /// The class of service, which the microcode reads.
    pub class: u8,
    /// Number of such flows, with consecutive source ports; 1 if not given.
    pub count: Option<Spanned<u32>>,
    /// Whether packets of the opposite direction are found as well.
    #[serde(default)]
    pub reverse: bool,
}

/// `[[route]]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RouteSection {
    /// `10.0.0.0/8`.
    pub prefix: Spanned<String>,
    /// Output port.
    pub port: Option<Spanned<u8>>,
    /// The next hop's MAC address, or `arp` for the task of that name to find it.
    pub mac: Option<Spanned<String>>,
    /// The next hop's IPv4 address, for the task `arp` to resolve on the link.
    pub next_hop: Option<Spanned<String>>,
    /// Largest IP packet in bytes; 1500 if not given.
    pub mtu: Option<Spanned<u16>>,
    /// Whether the addresses are the router's own.
    #[serde(default)]
    pub local: bool,
    /// Whether packets that match the route are dropped.
    #[serde(default)]
    pub discard: bool,
}

/// `[[route_change]]`, or a line of the file of changes.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct RouteChangeSection {
    /// Time of the change.
    pub at: Spanned<String>,
    /// The prefix of the route to add.
    pub add: Option<Spanned<String>>,
    /// The prefix of the route to give a new next hop.
    pub change: Option<Spanned<String>>,
    /// The prefix of the route to remove.
    pub remove: Option<Spanned<String>>,
    /// Output port.
    pub port: Option<Spanned<u8>>,
    /// The next hop's MAC address.
    pub mac: Option<Spanned<String>>,
    /// The next hop's IPv4 address, for the task `arp`, in place of `mac`.
    pub next_hop: Option<Spanned<String>>,
    /// Largest IP packet in bytes; 1500 if not given.
    pub mtu: Option<Spanned<u16>>,
    /// Whether the addresses are the router's own.
    #[serde(default)]
    pub local: bool,
    /// Whether packets that match the route are dropped.
    #[serde(default)]
    pub discard: bool,
}

impl RouteChangeSection {
    /// Creates a change at a time, with nothing else specified yet.
    pub fn at(at: Spanned<String>) -> Self {
        Self {
            at,
            add: None,
            change: None,
            remove: None,
            port: None,
            mac: None,
            next_hop: None,
            mtu: None,
            local: false,
            discard: false,
        }
    }
}

/// `[gpp]`.
#[derive(Debug, Default, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GppSection {
    /// Tasks of the core: `routes`, `exceptions`, and the registered kinds.
    #[serde(default)]
    #[schemars(extend("x-names" = "tasks"))]
    pub tasks: Vec<Spanned<String>>,
    /// Tasks whose work the core's program does instead: they do not run, but their sections remain valid.
    #[serde(default)]
    #[schemars(extend("x-names" = "tasks"))]
    pub replaced: Vec<Spanned<String>>,
    /// The slow path.
    pub exceptions: Option<ExceptionsSection>,
}

/// `[gpp.exceptions]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct ExceptionsSection {
    /// The ring on which exception packets arrive.
    #[schemars(extend("x-names" = "ring"))]
    pub ring: Spanned<String>,
    /// Time between two polls of the ring; `2us` if not given.
    pub period: Option<Spanned<String>>,
    /// The meanings of reason codes 0, 1, 2, ...
    #[serde(default)]
    pub reasons: Vec<String>,
}

/// Parses the text of a project file that may have sections of the registered kinds.
///
/// # Errors
/// Returns an error if the text is not TOML, or has invalid keys or values.
pub fn parse(text: &str, registry: &Registry) -> Result<ProjectFile, KeyError> {
    let mut root = toml_reader::parse(text)?;
    let sections = registry.take(&mut root)?;
    let file = toml_reader::from_table(root).map_err(|error: KeyError| {
        // The registry's sections are valid keys, too.
        let error = error.with_known(&[], registry.devices());
        error.with_known(&["gpp"], registry.tasks())
    })?;
    Ok(ProjectFile { sections, ..file })
}

#[cfg(test)]
mod tests {
    use super::{Ids, Registry};

    fn parse(text: &str) -> Result<super::ProjectFile, super::KeyError> {
        super::parse(text, &Registry::default())
    }

    #[test]
    fn every_section_of_a_project_file_parses() {
        let text = r#"
            name = "x"
            include = ["../lib"]
            [chip]
            profile = "ixp2400"
            board = "enp-2611"
            [[me]]
            id = "0-2,4"
            source = "a.uc"
            define = { QS = "atomic", N = 4 }
            [[me]]
            id = 3
            source = "b.uc"
            [[port]]
            rate = "1Gbps"
            mac = "02:00:00:00:01:00"
            [media]
            element_size = 64
            [[ring]]
            name = "R"
            number = 1
            size = 128
            status = "empty"
            [[queue]]
            name = "Q"
            channel = 0
            entry = 2
            [buffers]
            count = 16
            size = 2048
            channel = 0
            queue = "Q"
            [[memory]]
            name = "M"
            space = "sram1"
            size = 64
            align = 16
            address = 1024
            words = [1, 2]
            [[counter]]
            name = "C"
            drop = true
            text = "counts"
            [[lock]]
            name = "L"
            memory = "M"
            offset = 16
            [routes]
            channel = 1
            [[route]]
            prefix = "0.0.0.0/0"
            port = 0
            mac = "02:00:00:00:00:01"
            mtu = 1400
            local = false
            [gpp]
            tasks = ["routes", "exceptions"]
            [gpp.exceptions]
            ring = "R"
            period = "2us"
            reasons = ["", "ttl"]
            [load]
            rate = 0.33
            size = "imix"
            [load.special]
            tcp = 0.1
            [[stall]]
            me = "0-1"
            context = 3
            from = "100us"
            for = "1ms"
            [disturb]
            seed = 7
            dram = 400
            sram = 200
            scratch = 100
        "#;
        let file = parse(text).unwrap();
        assert_eq!(file.me.len(), 2);
        assert!(matches!(file.me[1].id.get_ref(), Ids::One(3)));
        let (key, value) = file.me[0].define.iter().next_back().unwrap();
        assert_eq!(
            (key.get_ref().as_str(), value.text().as_str()),
            ("QS", "atomic")
        );
        assert_eq!(&text[key.span()], "QS");
    }

    #[test]
    fn unknown_keys_have_a_position() {
        let text = "[chip]\nprofil = \"ixp2400\"\n";
        let error = parse(text).unwrap_err();
        assert_eq!(
            error.unknown_key(),
            Some(("profil", &["profile", "board"][..]))
        );
        assert_eq!(&text[error.span()], "profil");
        let error = parse("[gpp]\ntask = []\n").unwrap_err();
        assert_eq!(
            error.unknown_key(),
            Some(("task", &["tasks", "replaced", "exceptions"][..]))
        );
    }
}
