//! The commands: a single table for the parser, the help and the completion.

/// What the argument of a command can be completed to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CompletionKind {
    /// Nothing is completed.
    Nothing,
    /// Live names, memories, rings.
    Expression,
    /// Source files of the programs.
    File,
    /// Contexts.
    Context,
    /// Checks.
    Check,
    /// Rings and queues.
    Ring,
    /// Commands.
    Command,
}

/// A command.
#[derive(Clone, Copy, Debug)]
pub struct ConsoleCommand {
    /// The name.
    pub name: &'static str,
    /// Shorter names.
    pub aliases: &'static [&'static str],
    /// The syntax of the arguments.
    pub arguments: &'static str,
    /// A description.
    pub help: &'static str,
    /// An example of its use.
    pub example: &'static str,
    /// The group under which it is listed.
    pub group: CommandGroup,
    /// How its argument is completed.
    pub completes: CompletionKind,
    /// The operation that it invokes.
    pub(super) verb: Verb,
}

/// The topics of commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandGroup {
    /// Moving through time.
    Time,
    /// Setting where the run stops.
    BreakpointSet,
    /// Inspecting the state.
    Look,
    /// Questions about the past and the future.
    Questions,
    /// The rest.
    Other,
}

impl CommandGroup {
    /// All groups, in the order in which they are listed.
    pub const ALL: [Self; 5] = [
        Self::Time,
        Self::BreakpointSet,
        Self::Look,
        Self::Questions,
        Self::Other,
    ];

    /// The heading.
    #[must_use]
    pub const fn title(self) -> &'static str {
        match self {
            Self::Time => {
                "Through time (`back` before it, or `r` before its letter, goes the other way)"
            }
            Self::BreakpointSet => "Where the run stops",
            Self::Look => "What there is",
            Self::Questions => "Questions",
            Self::Other => "Other",
        }
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Verb {
    Continue,
    Next,
    Step,
    Out,
    Instruction,
    Run,
    Any,
    Back,
    Goto,
    Break,
    Watch,
    WatchRead,
    WatchWrite,
    WatchAny,
    Log,
    Delete,
    Enable,
    Disable,
    Breakpoints,
    Stop,
    Pass,
    Where,
    Context,
    Contexts,
    List,
    Disassemble,
    Print,
    Names,
    Registers,
    Signals,
    Memory,
    Rings,
    Ring,
    Flights,
    Rbuf,
    Tbuf,
    Cam,
    Csrs,
    Hash,
    Files,
    Status,
    Why,
    Wake,
    Who,
    History,
    Packet,
    Buffer,
    Set,
    Help,
    Quit,
}

macro_rules! commands {
    ($($group:ident: $($name:literal $aliases:expr, $arguments:literal, $completes:ident, $verb:ident, $help:literal, $example:literal;)+)+) => {
        /// All commands, in the order in which they are listed.
        pub const COMMANDS: &[ConsoleCommand] = &[$($(ConsoleCommand {
            name: $name,
            aliases: &$aliases,
            arguments: $arguments,
            help: $help,
            example: $example,
            group: CommandGroup::$group,
            completes: CompletionKind::$completes,
            verb: Verb::$verb,
        },)+)+];
    };
}

commands! {
Time:
    "continue" ["c"], "", Nothing, Continue,
        "Goes on to the next breakpoint, the next check that stops the run, or the end", "continue";
    "next" ["n"], "[COUNT]", Nothing, Next,
        "Goes to the next line of the context, over macros that this line uses", "next 3";
    "step" ["s"], "[COUNT]", Nothing, Step,
        "Goes into the macro that the line uses, or to the next line", "step";
    "out" ["o"], "[COUNT]", Nothing, Out,
        "Goes out of the macro", "out";
    "instruction" ["i"], "[COUNT]", Nothing, Instruction,
        "Goes to the next instruction of the context", "instruction 4";
    "run" ["u"], "[COUNT]", Nothing, Run,
        "Goes to when the context gets the pipeline again", "run";
    "any" ["a"], "[COUNT]", Nothing, Any,
        "Goes to when any context of the microengine gets the pipeline", "any";
    "back" ["b"], "COMMAND [COUNT]", Command, Back,
        "Goes the other way: `back next` takes a `next` back, `back continue` goes to the last breakpoint", "back next";
    "goto" ["g"], "CYCLE | TIME | +CYCLES | -CYCLES | start | end | packet N [@EVENT]", Nothing, Goto,
        "Goes to a cycle or time of the run, or to where a packet was", "goto 1.25ms";
BreakpointSet:
    "break" [], "[FILE:]LINE | *ADDRESS | LABEL# [in ME[.CONTEXT],..] [hit N] [if EXPRESSION]", File, Break,
        "stops before a line, an address of a microengine or a label; at the Nth time from the beginning of the run, where a condition holds", "break wire8.uc:46 in 0.3 if bytes > 64";
    "watch" [], "EXPRESSION [hit N] [if EXPRESSION]", Expression, Watch,
        "stops when the value changes: of a register, a longword, a signal, a ring, a CAM entry or what is computed from them", "watch ring(RX_RING).fill";
    "write-watch" ["ww"], "LONGWORD [in ..] [hit N] [if EXPRESSION]", Expression, WatchWrite,
        "stops when anything writes a longword of scratch, SRAM or DRAM", "write-watch scratch[0x100]";
    "read-watch" ["rw"], "LONGWORD [in ..] [hit N] [if EXPRESSION]", Expression, WatchRead,
        "stops when a command that reads a longword is done", "read-watch sram0[0x40]";
    "access-watch" ["aw"], "LONGWORD [in ..] [hit N] [if EXPRESSION]", Expression, WatchAny,
        "stops when a command that reads a longword is done, or anything writes it", "access-watch dram[0x200]";
    "log" [], "[FILE:]LINE | *ADDRESS | LABEL# [in ..] [hit N] [if EXPRESSION] say TEXT", File, Log,
        "Says a text there and goes on; `{EXPRESSION}` in it is its value, `{EXPRESSION:x}` in hexadecimal. It is said once, however often one goes through", "log wire8.uc:46 say got {bytes} bytes";
    "breakpoints" ["bl"], "", Nothing, Breakpoints, "Lists all of these", "breakpoints";
    "delete" ["d"], "NUMBER", Nothing, Delete, "Removes one", "delete 1";
    "disable" [], "NUMBER", Nothing, Disable, "Disables one", "disable 1";
    "enable" [], "NUMBER", Nothing, Enable, "Enables one again", "enable 1";
    "stop-on" [], "CHECK", Check, Stop, "Lets a check stop the run, as all do that were not allowed", "stop-on ring-overflow";
    "pass" [], "CHECK", Check, Pass, "Lets a check pass, from the beginning of the run on", "pass uninitialised-read";
Look:
    "where" ["w"], "[CONTEXT]", Context, Where, "Shows where a context is, through all macros", "where 0.3";
    "context" ["x"], "CONTEXT", Context, Context, "Looks at another context", "context 0.3";
    "contexts" ["cs"], "[MICROENGINE]", Nothing, Contexts, "Lists the contexts and what each does", "contexts 0";
    "list" ["l"], "[[FILE:]LINE]", File, List, "Shows the source around a line", "list";
    "disassemble" ["dis"], "[COUNT]", Nothing, Disassemble, "Shows the words around the context's", "disassemble 8";
    "print" ["p"], "EXPRESSION", Expression, Print, "Shows a value", "print bytes << 2";
    "names" [], "", Nothing, Names, "Lists the names that are live where the context is, with registers, values and owners", "names";
    "registers" ["regs"], "", Nothing, Registers, "Shows the registers of the context by number", "registers";
    "signals" [], "", Nothing, Signals, "Shows the signals of the context", "signals";
    "memory" ["m"], "LONGWORD [COUNT]", Expression, Memory, "Shows longwords of a memory", "memory scratch[0] 8";
    "rings" [], "", Nothing, Rings, "Lists rings and queues with what is on them", "rings";
    "ring" [], "RING", Ring, Ring, "Shows the contents of a ring or queue", "ring 0";
    "flights" [], "[UNIT]", Nothing, Flights, "Lists the commands that are in flight, and where each is", "flights";
    "rbuf" [], "", Nothing, Rbuf, "Lists the elements of RBUF that are taken", "rbuf";
    "tbuf" [], "", Nothing, Tbuf, "Lists the elements of TBUF that are valid", "tbuf";
    "cam" [], "", Nothing, Cam, "Shows the CAM of the microengine", "cam";
    "csrs" [], "", Nothing, Csrs, "Shows the local CSRs as the context reads them", "csrs";
    "hash" [], "", Nothing, Hash, "Shows the multipliers of the hash unit", "hash";
    "files" [], "", Nothing, Files, "Lists the files of the programs", "files";
    "status" [], "", Nothing, Status, "Shows the cycle, how far the run was seen, and the memory that this takes", "status";
Questions:
    "why" [], "[CONTEXT]", Context, Why, "Says why a context does not go on", "why";
    "wake" [], "[CONTEXT]", Context, Wake, "Runs ahead to what wakes a context, and says what it was", "wake";
    "who" [], "NAME | LONGWORD | SIGNAL [COUNT]", Expression, Who, "Says who wrote it or raised it, the last one and the one before", "who scratch[0x100]";
    "history" [], "NAME | LONGWORD [COUNT]", Expression, History, "Lists the last values with who wrote them, the oldest first", "history bytes 4";
    "packet" [], "NUMBER", Nothing, Packet, "Lists the events of a packet; packets are numbered from 0 as they arrive", "packet 3";
    "buffer" [], "HANDLE", Expression, Buffer, "Says who has a packet buffer, and who had it before", "buffer 0x1f3";
Other:
    "set" [], "NAME | LONGWORD = EXPRESSION", Expression, Set, "Changes a register or a longword; the past stays, and the future becomes another one", "set bytes = 64";
    "help" ["?"], "[COMMAND | expressions]", Command, Help, "Explains commands", "help break";
    "quit" ["q"], "", Nothing, Quit, "Ends", "quit";
}

/// The commands of a console, without `quit` if the user cannot end it.
pub fn commands(ends: bool) -> impl Iterator<Item = &'static ConsoleCommand> {
    let known = COMMANDS.iter();
    known.filter(move |it| ends || it.verb != Verb::Quit)
}

/// Finds a command by its name, an alias, or an unambiguous prefix of its name.
pub(super) fn find(word: &str, ends: bool) -> Result<&'static ConsoleCommand, Vec<&'static str>> {
    let exact = |it: &&ConsoleCommand| it.name == word || it.aliases.contains(&word);
    if let Some(found) = commands(ends).find(exact) {
        return Ok(found);
    }
    let begins: Vec<_> = commands(ends)
        .filter(|it| it.name.starts_with(word))
        .collect();
    match begins[..] {
        [one] => Ok(one),
        _ => Err(begins.iter().map(|it| it.name).collect()),
    }
}

/// Finds the command whose reverse is `r` followed by its letter.
pub(super) fn reversed(word: &str) -> Option<&'static ConsoleCommand> {
    let letter = word.strip_prefix('r')?;
    COMMANDS
        .iter()
        .find(|it| it.verb.goes() && it.aliases.contains(&letter))
}

impl Verb {
    /// Whether it can be reversed.
    pub(super) const fn goes(self) -> bool {
        matches!(
            self,
            Self::Continue
                | Self::Next
                | Self::Step
                | Self::Out
                | Self::Instruction
                | Self::Run
                | Self::Any
        )
    }
}
