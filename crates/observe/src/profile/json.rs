//! The profile as a machine-readable file; `docs/src/profile.md` describes it.

use serde::Serialize;

use super::lines::stages;
use super::{
    CycleBreakdown, MicroengineProfile, Profile, ProgramCycleBreakdown, ProgramProfile, Wait,
    WaitEnd,
};
use crate::names;

/// The format identifier in the file.
const FORMAT: &str = "npsim-profile-1";

#[derive(Serialize)]
struct ProfileFile<'a> {
    format: &'static str,
    cycles: u64,
    packets: u64,
    microengines: Vec<MicroengineOut<'a>>,
    stages: Vec<StageOut<'a>>,
    #[serde(skip_serializing_if = "Vec::is_empty")]
    programs: Vec<ProgramOut<'a>>,
}

#[derive(Clone, Copy, Serialize)]
struct ProgramCycles {
    instructions: u64,
    accesses: u64,
    polling: u64,
    waiting: u64,
    held: u64,
    ended: u64,
}

impl From<&ProgramCycleBreakdown> for ProgramCycles {
    fn from(it: &ProgramCycleBreakdown) -> Self {
        Self {
            instructions: it.instructions,
            accesses: it.accesses,
            polling: it.polling,
            waiting: it.waiting,
            held: it.held,
            ended: it.ended,
        }
    }
}

#[derive(Serialize)]
struct ProgramOut<'a> {
    name: &'a str,
    #[serde(flatten)]
    cycles: ProgramCycles,
    functions: Vec<FunctionOut>,
    stacks: Vec<StackOut<'a>>,
}

#[derive(Serialize)]
struct FunctionOut {
    function: String,
    calls: u64,
    own: ProgramCycles,
    with_called: ProgramCycles,
}

#[derive(Serialize)]
struct StackOut<'a> {
    stack: Vec<&'a str>,
    calls: u64,
    #[serde(flatten)]
    cycles: ProgramCycles,
}

#[derive(Clone, Copy, Serialize)]
struct Cycles {
    issued: u64,
    aborted: u64,
    stalled: u64,
    ready: u64,
    waiting: u64,
    killed: u64,
    inactive: u64,
}

impl From<&CycleBreakdown> for Cycles {
    fn from(it: &CycleBreakdown) -> Self {
        Self {
            issued: it.issued,
            aborted: it.aborted,
            stalled: it.stalled,
            ready: it.ready,
            waiting: it.waiting,
            killed: it.killed,
            inactive: it.inactive,
        }
    }
}

#[derive(Serialize)]
struct MicroengineOut<'a> {
    index: u8,
    source: &'a str,
    issued: u64,
    aborted: u64,
    stalled: u64,
    idle: u64,
    contexts: Vec<ContextOut>,
    words: Vec<WordOut>,
    waits: Vec<WaitOut>,
}

#[derive(Serialize)]
struct ContextOut {
    context: u8,
    #[serde(flatten)]
    cycles: Cycles,
}

#[derive(Serialize)]
struct WordOut {
    address: usize,
    place: String,
    #[serde(flatten)]
    cycles: Cycles,
}

#[derive(Serialize)]
struct WaitOut {
    address: u16,
    /// `signal`, `end-of-run` or `csr`.
    ended_by: &'static str,
    cause: Option<String>,
    signals: String,
    /// The instruction with which the context issued the command that ended the wait.
    issued_at: Option<u16>,
    count: u64,
    cycles: u64,
}

#[derive(Serialize)]
struct StageOut<'a> {
    source: &'a str,
    microengines: Vec<u8>,
    lines: Vec<LineOut>,
    macros: Vec<MacroOut>,
}

#[derive(Serialize)]
struct LineOut {
    file: String,
    line: u32,
    words: u32,
    own: Cycles,
    with_macros: Cycles,
}

#[derive(Serialize)]
struct MacroOut {
    name: String,
    uses: usize,
    words: u32,
    #[serde(flatten)]
    cycles: Cycles,
}

/// The text of a profile file, with a trailing newline. Instructions, lines and
/// macros that took no cycles are left out.
///
/// # Errors
/// Returns an error if the data cannot be written as JSON, which its types rule
/// out.
pub fn to_json(profile: &Profile) -> serde_json::Result<String> {
    let file = ProfileFile {
        format: FORMAT,
        cycles: profile.cycles,
        packets: profile.packets,
        microengines: profile.microengines.iter().map(microengine).collect(),
        stages: stages(profile)
            .into_iter()
            .map(|stage| StageOut {
                source: stage.source,
                microengines: stage.microengines.iter().map(|me| me.index).collect(),
                lines: stage
                    .lines
                    .into_iter()
                    .filter(|line| line.all.total() > 0)
                    .map(|line| LineOut {
                        own: (&line.own).into(),
                        with_macros: (&line.all).into(),
                        file: line.file,
                        line: line.line,
                        words: line.words,
                    })
                    .collect(),
                macros: stage
                    .macros
                    .into_iter()
                    .filter(|it| it.all.total() > 0)
                    .map(|it| MacroOut {
                        cycles: (&it.all).into(),
                        name: it.name,
                        uses: it.uses,
                        words: it.words,
                    })
                    .collect(),
            })
            .collect(),
        programs: profile.programs.iter().map(program).collect(),
    };
    serde_json::to_string_pretty(&file).map(|text| text + "\n")
}

fn program(it: &ProgramProfile) -> ProgramOut<'_> {
    let functions = it.functions().into_iter();
    let stacks = it.stacks.iter().enumerate();
    ProgramOut {
        name: &it.name,
        cycles: (&it.spent()).into(),
        functions: functions
            .filter(|function| function.all.total() > 0)
            .map(|function| FunctionOut {
                calls: function.calls,
                own: (&function.own).into(),
                with_called: (&function.all).into(),
                function: function.function,
            })
            .collect(),
        stacks: stacks
            .filter(|(_, stack)| stack.own.total() > 0)
            .map(|(index, stack)| StackOut {
                stack: it.path(index),
                calls: stack.calls,
                cycles: (&stack.own).into(),
            })
            .collect(),
    }
}

fn microengine(me: &MicroengineProfile) -> MicroengineOut<'_> {
    let spent = me.spent();
    MicroengineOut {
        index: me.index,
        source: &me.image.name,
        issued: spent.issued,
        aborted: spent.aborted,
        stalled: spent.stalled,
        idle: me.idle,
        contexts: (0..)
            .zip(&me.contexts)
            .map(|(context, cycles)| ContextOut {
                context,
                cycles: cycles.into(),
            })
            .collect(),
        words: me
            .words
            .iter()
            .enumerate()
            .filter(|(_, word)| word.total() > 0)
            .map(|(address, word)| WordOut {
                address,
                place: me.image.place(address as u16),
                cycles: word.into(),
            })
            .collect(),
        waits: me.waits.iter().map(|wait| wait_out(me, wait)).collect(),
    }
}

fn wait_out(me: &MicroengineProfile, wait: &Wait) -> WaitOut {
    let (ended_by, cause, signals, issued_at) = match wait.waited {
        WaitEnd::Signalled {
            signal,
            cause,
            issued,
        } => (
            "signal",
            Some(names::cause(cause)),
            names::signal(&me.image, signal, wait.pc),
            issued,
        ),
        WaitEnd::Unfinished(mask) => (
            "end-of-run",
            None,
            names::signals(&me.image, mask, false, wait.pc),
            None,
        ),
        WaitEnd::ConditionChanged => ("csr", None, String::new(), None),
    };
    WaitOut {
        address: wait.pc,
        ended_by,
        cause,
        signals,
        issued_at,
        count: wait.count,
        cycles: wait.cycles,
    }
}
