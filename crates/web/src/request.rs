//! Requests of a page: objects with `op` and the fields of the request.

use std::collections::BTreeMap;

use npsim::debug::debugger::standpoint::Standpoint;
use serde::Deserialize;
use serde_json::Value;

/// A request.
#[derive(Debug, Deserialize)]
#[serde(tag = "op", rename_all = "snake_case")]
pub enum Request {
    Remove {
        path: String,
    },
    Files {
        under: Option<String>,
    },
    Read {
        path: String,
    },
    Systems,
    Open(OpenRequest),
    Run(RunRequest),
    Step(StepRequest),
    Goto {
        at: Value,
        cycles: Option<u64>,
        stand: Option<Standpoint>,
    },
    Select {
        me: u8,
        context: u8,
    },
    Command {
        line: String,
        cycles: Option<u64>,
    },
    Complete {
        line: String,
    },
    Commands,
    Break(BreakRequest),
    Watch {
        what: String,
    },
    Unbreak {
        number: Value,
    },
    Breakpoints,
    View {
        cycles: Option<u64>,
    },
    Packet {
        number: u64,
        cycles: Option<u64>,
    },
    Why {
        me: Option<u8>,
        context: Option<u8>,
    },
    Who {
        what: String,
        me: Option<u8>,
        context: Option<u8>,
    },
    Memory {
        name: String,
        address: Option<u32>,
        words: Option<u32>,
    },
    Evaluate {
        expression: String,
    },
    Listing {
        path: String,
        me: Option<u8>,
    },
    Cost {
        path: String,
        line: u32,
    },
    Measure {
        cycles: Option<u64>,
        #[serde(default)]
        again: bool,
        observe: Option<bool>,
    },
    Stats,
    Summary,
    Bottleneck,
    Report,
    Departures {
        format: String,
        from: Option<usize>,
        count: Option<usize>,
    },
    Arrivals {
        path: String,
        from: Option<usize>,
        count: Option<usize>,
    },
    Exercise {
        target: String,
    },
    Edit {
        path: String,
        text: String,
    },
    Check {
        path: String,
    },
    Hover(PlaceRequest),
    Completion(PlaceRequest),
    Signature(PlaceRequest),
    Definition(PlaceRequest),
    References(PlaceRequest),
    Highlights(PlaceRequest),
    Renameable(PlaceRequest),
    Rename {
        path: String,
        line: u32,
        column: u32,
        name: String,
    },
    Format {
        path: String,
        range: Option<(u32, u32, u32, u32)>,
    },
    Tokens {
        path: String,
    },
    Outline {
        path: String,
    },
    Folds {
        path: String,
    },
    Hints {
        path: String,
    },
    Expand(PlaceRequest),
}

/// The project to run, and its traffic.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct OpenRequest {
    pub target: String,
    #[serde(default)]
    pub traffic: TrafficRequest,
    pub seed: Option<u64>,
    pub until: Option<Value>,
    pub memory: Option<usize>,
    #[serde(default)]
    pub set: BTreeMap<String, Value>,
    #[serde(default)]
    pub allow: Vec<String>,
}

/// The traffic of a run.
#[derive(Clone, Debug, Default, Deserialize)]
#[serde(tag = "kind", rename_all = "snake_case")]
pub enum TrafficRequest {
    #[default]
    Project,
    None,
    Load {
        load: serde_json::Map<String, Value>,
    },
    Capture {
        path: String,
        pace: Option<Value>,
        ports: Option<Value>,
        #[serde(default)]
        link: bool,
        pad: Option<String>,
    },
}

/// The extent of a run request.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct RunRequest {
    pub cycles: Option<u64>,
    #[serde(default)]
    pub back: bool,
}

/// A step.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StepRequest {
    #[serde(default)]
    pub by: StepKind,
    #[serde(default)]
    pub back: bool,
    pub cycles: Option<u64>,
}

/// The unit of a step.
#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum StepKind {
    Instruction,
    #[default]
    Line,
    Into,
    Out,
    Run,
    Any,
}

/// A breakpoint on a line.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct BreakRequest {
    pub path: String,
    pub line: u32,
    pub condition: Option<String>,
    pub log: Option<String>,
}

/// A place in a file.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct PlaceRequest {
    pub path: String,
    pub line: u32,
    pub column: u32,
}

/// A value as text: numbers are written without quotes.
pub fn text_of(value: &Value) -> String {
    match value {
        Value::String(text) => text.clone(),
        other => other.to_string(),
    }
}
