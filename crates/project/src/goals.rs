//! Goals that a run of the project must meet, for exercises: a measure and its bounds. `npsim
//! check-exercise` checks a run against them.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::keys::Spanned;
use crate::problem::Excerpt;

/// `[[goal]]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GoalSection {
    /// The goal's name in reports and settings.
    pub name: Spanned<String>,
    /// What is measured.
    pub measure: Spanned<MeasureKind>,
    /// The lower bound, included.
    pub at_least: Option<Spanned<BoundValue>>,
    /// The upper bound, included.
    pub at_most: Option<Spanned<BoundValue>>,
    /// The exact value required.
    pub equals: Option<Spanned<BoundValue>>,
    /// A sentence shown when the goal is missed.
    #[serde(default)]
    pub hint: String,
    /// Which latency; `mean` if not given.
    pub of: Option<Spanned<LatencyOf>>,
    /// A `[[memory]]` or `[[counter]]`.
    pub memory: Option<Spanned<String>>,
    /// Byte offset in it; 0 if not given.
    pub offset: Option<Spanned<u32>>,
    /// The stage whose microengines count; all stages if not given.
    pub stage: Option<Spanned<String>>,
    /// A memory: `scratch`, `sram` or `dram`, with all its channels.
    pub unit: Option<Spanned<UnitKind>>,
    /// A `[[lock]]`.
    pub lock: Option<Spanned<String>>,
}

/// A bound as written.
#[derive(Clone, Debug, Deserialize, JsonSchema)]
#[serde(
    untagged,
    expecting = "a whole number, or a string with a unit such as \"1.4Mpps\" or \"10us\""
)]
pub enum BoundValue {
    /// A number.
    Integer(i64),
    /// A number with a unit.
    Text(String),
}

/// What is measured, by its name in a project file.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
#[allow(missing_docs)]
pub enum MeasureKind {
    Throughput,
    Latency,
    Drops,
    Reordered,
    Races,
    Memory,
    Time,
    Cycles,
    Instructions,
    Words,
    Commands,
    Microengines,
    Contexts,
    Held,
}

impl MeasureKind {
    /// Returns the name in project files.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Throughput => "throughput",
            Self::Latency => "latency",
            Self::Drops => "drops",
            Self::Reordered => "reordered",
            Self::Races => "races",
            Self::Memory => "memory",
            Self::Time => "time",
            Self::Cycles => "cycles",
            Self::Instructions => "instructions",
            Self::Words => "words",
            Self::Commands => "commands",
            Self::Microengines => "microengines",
            Self::Contexts => "contexts",
            Self::Held => "held",
        }
    }
}

/// Statistic of the latencies of all frames.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum LatencyOf {
    Min,
    #[default]
    Mean,
    P50,
    P90,
    P99,
    Max,
}

/// Kinds of memory units.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, JsonSchema)]
#[serde(rename_all = "lowercase")]
#[allow(missing_docs)]
pub enum UnitKind {
    Scratch,
    Sram,
    Dram,
}

impl UnitKind {
    /// Returns the name of the units, without a channel.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Scratch => "scratch",
            Self::Sram => "sram",
            Self::Dram => "dram",
        }
    }
}

/// The quantity measured, with its names resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Frames per second that leave, from the first bit out to the last one.
    FrameRate,
    /// Bits of those frames per second.
    BitRate,
    /// Latency from last bit in to last bit out, in nanoseconds.
    Latency(LatencyOf),
    /// Frames that arrived and were lost.
    Drops,
    /// Packets that left after a later one of their flow.
    Reordered,
    /// Pairs of places in the microcode that update a longword without synchronisation.
    Races,
    /// Value of a longword of a memory or counter after the run.
    Memory {
        /// The name.
        name: String,
        /// Byte offset.
        offset: u32,
    },
    /// Cycles until the end of the run.
    Time,
    /// Cycles in which microengines execute, abort or stall, for some microengines or for all; per
    /// frame that leaves, if any frames arrive.
    Cycles(Option<Vec<u8>>),
    /// Instructions executed, likewise.
    Instructions(Option<Vec<u8>>),
    /// Control store words of the longest program, of some microengines or of all.
    Words(Option<Vec<u8>>),
    /// Commands to all units of a kind.
    Commands(UnitKind),
    /// Microengines that have a program.
    Microengines,
    /// Contexts that do any work: those that stop at once do not count.
    Contexts,
    /// Mean number of cycles for which a lock is held.
    Held(String),
}

/// A goal with its names resolved.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Goal {
    /// Its name in reports.
    pub name: String,
    /// The measure as named in the project file.
    pub kind: MeasureKind,
    /// The quantity measured; the bounds are in its unit.
    pub measure: Measure,
    /// The smallest acceptable value.
    pub least: Option<u64>,
    /// The largest acceptable value.
    pub most: Option<u64>,
    /// Hint shown if the goal is missed; may be empty.
    pub hint: String,
    /// Its place in the project file.
    pub place: Excerpt,
}

impl Goal {
    /// Whether a value meets the goal.
    #[must_use]
    pub fn is_met(&self, figure: u64) -> bool {
        self.least.is_none_or(|least| figure >= least)
            && self.most.is_none_or(|most| figure <= most)
    }
}
