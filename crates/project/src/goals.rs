//! Goals that a run of the project is to meet, for exercises: what is measured, and
//! between which bounds it has to be. A run is held against them by
//! `npsim check-exercise`.

use schemars::JsonSchema;
use serde::Deserialize;

use crate::keys::Spanned;
use crate::problem::Excerpt;

/// `[[goal]]`.
#[derive(Debug, Deserialize, JsonSchema)]
#[serde(deny_unknown_fields)]
pub struct GoalSection {
    /// What reports and settings call it.
    pub name: Spanned<String>,
    /// What is measured.
    pub measure: Spanned<MeasureKind>,
    /// The least good value.
    pub at_least: Option<Spanned<BoundValue>>,
    /// The largest good value.
    pub at_most: Option<Spanned<BoundValue>>,
    /// The only good value.
    pub equals: Option<Spanned<BoundValue>>,
    /// What is said if it is missed.
    #[serde(default)]
    pub hint: String,
    /// Which latency: `mean` if not given.
    pub of: Option<Spanned<LatencyOf>>,
    /// A `[[memory]]` or `[[counter]]`.
    pub memory: Option<Spanned<String>>,
    /// Byte offset in it; 0 if not given.
    pub offset: Option<Spanned<u32>>,
    /// A stage of the project; all of them if not given.
    pub stage: Option<Spanned<String>>,
    /// A memory: `scratch`, `sram` or `dram`, with all its channels.
    pub unit: Option<Spanned<UnitKind>>,
    /// A `[[lock]]`.
    pub lock: Option<Spanned<String>>,
}

/// A bound as it is typed.
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
    /// As it is typed.
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

/// Which of the latencies of all frames.
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
    /// As units are called, without their channel.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Scratch => "scratch",
            Self::Sram => "sram",
            Self::Dram => "dram",
        }
    }
}

/// What is measured, looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Measure {
    /// Frames that leave in a second, from the first bit out to the last one.
    FrameRate,
    /// Bits of those frames in a second.
    BitRate,
    /// Last bit in to last bit out, in nanoseconds.
    Latency(LatencyOf),
    /// Frames that came in and were lost.
    Drops,
    /// Packets that left after a later one of their flow.
    Reordered,
    /// Pairs of places that update a longword with nothing that keeps them apart.
    Races,
    /// A longword of a memory or counter, after the run.
    Memory {
        /// The name.
        name: String,
        /// Byte offset.
        offset: u32,
    },
    /// Cycles until the run is over.
    Time,
    /// Cycles of microengines that execute, abort or stall; of some microengines, or
    /// of all. For each frame that leaves, where any comes in.
    Cycles(Option<Vec<u8>>),
    /// Instructions that were executed, in the same way.
    Instructions(Option<Vec<u8>>),
    /// Words of control store of the longest program, in the same way.
    Words(Option<Vec<u8>>),
    /// Commands to all units of a kind.
    Commands(UnitKind),
    /// Microengines that have a program.
    Microengines,
    /// Contexts that do something: those that stop at once do not count.
    Contexts,
    /// Mean cycles that a lock is held.
    Held(String),
}

/// A goal, looked up.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Goal {
    /// What reports call it.
    pub name: String,
    /// What the file calls what is measured.
    pub kind: MeasureKind,
    /// What is measured; its unit is that of the bounds.
    pub measure: Measure,
    /// The least good value.
    pub least: Option<u64>,
    /// The largest good value.
    pub most: Option<u64>,
    /// What is said if it is missed; may be empty.
    pub hint: String,
    /// Where it stands.
    pub place: Excerpt,
}

impl Goal {
    /// Whether a figure is as it should be.
    #[must_use]
    pub fn met(&self, figure: u64) -> bool {
        self.least.is_none_or(|least| figure >= least)
            && self.most.is_none_or(|most| figure <= most)
    }
}
