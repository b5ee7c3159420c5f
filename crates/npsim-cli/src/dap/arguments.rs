//! The arguments of requests.

use serde::Deserialize;
use serde_json::Value;

/// A source, given by path or by name.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct SourceArgument {
    pub path: Option<String>,
    pub name: Option<String>,
}

/// A breakpoint on a line.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SourceBreakpoint {
    pub line: u32,
    pub condition: Option<String>,
    pub hit_condition: Option<String>,
    pub log_message: Option<String>,
}

/// `setBreakpoints`. Each breakpoint is parsed separately, so that an invalid one does not affect
/// the others.
#[derive(Debug, Deserialize)]
pub(super) struct SetBreakpoints {
    pub source: SourceArgument,
    #[serde(default)]
    pub breakpoints: Vec<Value>,
}

/// `gotoTargets`
#[derive(Debug, Deserialize)]
pub(super) struct GotoTargets {
    pub source: SourceArgument,
    pub line: u32,
}

/// `goto`
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Goto {
    pub thread_id: i64,
    pub target_id: i64,
}

/// `breakpointLocations`
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Locations {
    pub source: SourceArgument,
    pub line: u32,
    pub end_line: Option<u32>,
}

/// `setExceptionBreakpoints`
#[derive(Debug, Deserialize)]
pub(super) struct SetExceptions {
    pub filters: Vec<String>,
}

/// A breakpoint on an instruction.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct InstructionBreakpoint {
    pub instruction_reference: String,
    #[serde(default)]
    pub offset: i64,
    pub condition: Option<String>,
    pub hit_condition: Option<String>,
}

/// `setInstructionBreakpoints`
#[derive(Debug, Deserialize)]
pub(super) struct SetInstructions {
    pub breakpoints: Vec<Value>,
}

/// `dataBreakpointInfo`
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DataInfo {
    pub variables_reference: Option<i64>,
    pub name: String,
    pub frame_id: Option<i64>,
    #[serde(default)]
    pub as_address: bool,
    /// The number of bytes from the address on.
    pub bytes: Option<i64>,
}

/// A breakpoint on data.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct DataBreakpoint {
    pub data_id: String,
    pub access_type: Option<String>,
    pub condition: Option<String>,
    pub hit_condition: Option<String>,
}

/// `setDataBreakpoints`
#[derive(Debug, Deserialize)]
pub(super) struct SetData {
    pub breakpoints: Vec<Value>,
}

/// Requests about a thread.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ThreadArguments {
    pub thread_id: i64,
    pub granularity: Option<String>,
}

/// `stackTrace`
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct StackTrace {
    pub thread_id: i64,
    #[serde(default)]
    pub start_frame: usize,
    #[serde(default)]
    pub levels: usize,
}

/// `scopes`
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Scopes {
    pub frame_id: i64,
}

/// The format of values.
#[derive(Debug, Default, Deserialize)]
#[serde(default)]
pub(super) struct ValueFormat {
    pub hex: bool,
}

/// `variables`
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
#[expect(clippy::struct_field_names, reason = "the protocol calls it so")]
pub(super) struct Variables {
    pub variables_reference: i64,
    #[serde(default)]
    pub start: usize,
    #[serde(default)]
    pub count: usize,
    #[serde(default)]
    pub format: ValueFormat,
}

/// `setVariable`
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct SetVariable {
    pub variables_reference: i64,
    pub name: String,
    pub value: String,
}

/// `evaluate`
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Evaluate {
    pub expression: String,
    pub frame_id: Option<i64>,
    #[serde(default)]
    pub context: String,
    #[serde(default)]
    pub format: ValueFormat,
}

/// `completions`
#[derive(Debug, Deserialize)]
pub(super) struct Completions {
    pub text: String,
    pub column: usize,
}

/// `disassemble`
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct Disassemble {
    pub memory_reference: String,
    #[serde(default)]
    pub offset: i64,
    #[serde(default)]
    pub instruction_offset: i64,
    pub instruction_count: i64,
}

/// `readMemory`
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct ReadMemory {
    pub memory_reference: String,
    #[serde(default)]
    pub offset: i64,
    pub count: i64,
}

/// `writeMemory`
#[derive(Debug, Deserialize)]
#[serde(rename_all = "camelCase")]
pub(super) struct WriteMemory {
    pub memory_reference: String,
    #[serde(default)]
    pub offset: i64,
    pub data: String,
}

/// `source`
#[derive(Debug, Deserialize)]
pub(super) struct SourceText {
    #[serde(default)]
    pub source: SourceArgument,
}
