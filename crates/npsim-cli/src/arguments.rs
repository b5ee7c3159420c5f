//! The command line: the subcommands and their common parts.

use clap::{Parser, Subcommand};

use crate::cmd;
use crate::cmd::format::Format;

const EXAMPLES: &str = "\
Examples:
  npsim run microcode/forward --trace traces/mixed.pcap --out out.pcap
  npsim run firmware.uc --until 1ms        one source, no traffic, one millisecond
  npsim asm firmware.uc --listing          assemble and show the words
  npsim disasm firmware.hex | less         words back to text
  npsim new --from firmware.uc             write a project file to start from
  npsim reproduce baseline --quick         published figures beside measured ones

Exit codes: 0 done; 1 a mistake in a source, project or capture; 2 wrong usage;
3 the microcode did in a run what a check forbids (`npsim checks` lists them);
130 ended by Ctrl-C, with what it had saved.";

/// An open simulator of the Intel IXP2400 and IXP2800 network processors.
#[derive(Debug, Parser)]
#[command(name = "npsim", version, after_help = EXAMPLES, propagate_version = true)]
pub(crate) struct Arguments {
    #[command(subcommand)]
    pub(crate) command: Command,
}

#[derive(Debug, Subcommand)]
#[expect(clippy::large_enum_variant, reason = "made once")]
pub(crate) enum Command {
    Run(cmd::run::Arguments),
    Debug(cmd::debug::Arguments),
    Dap(cmd::dap::Arguments),
    Asm(cmd::asm::Arguments),
    Disasm(cmd::disasm::Arguments),
    Explain(cmd::explain::Arguments),
    Pp(cmd::pp::Arguments),
    Fmt(cmd::fmt::Arguments),
    New(cmd::new::Arguments),
    Network(cmd::network::Arguments),
    Live(cmd::live::Arguments),
    Sweep(cmd::sweep::Arguments),
    Reproduce(cmd::reproduce::Arguments),
    Sensitivity(cmd::sensitivity::Arguments),
    Chip(cmd::chip::Arguments),
    Checks(cmd::checks::Arguments),
    Check(cmd::check::Arguments),
    CheckExercise(cmd::check_exercise::Arguments),
    Codes(cmd::codes::Arguments),
    Isa(cmd::isa::Arguments),
    Docs(cmd::docs::Arguments),
    Completions(cmd::completions::Arguments),
    Man(cmd::man::Arguments),
    Lsp(cmd::lsp::Arguments),
    Bundle(cmd::bundle::Arguments),
    Trace(cmd::trace::Arguments),
    #[command(hide = true)]
    Generate(cmd::generate::Arguments),
}

impl Command {
    /// The format of the results, if the command has several.
    pub(crate) fn format(&self) -> Option<Format> {
        match self {
            Self::Run(it) => Some(it.format),
            Self::Asm(it) => Some(it.format),
            Self::Explain(it) => Some(it.format),
            Self::Check(it) => Some(it.format),
            Self::CheckExercise(it) => Some(it.format),
            Self::Network(it) => Some(it.format),
            Self::Sweep(it) => Some(it.format),
            Self::Reproduce(it) => Some(it.format),
            Self::Sensitivity(it) => Some(it.format),
            Self::Chip(it) => Some(it.format),
            Self::Checks(it) => Some(it.format),
            Self::Codes(it) => Some(it.format),
            Self::Isa(it) => Some(it.format),
            Self::Fmt(it) => Some(it.format),
            Self::New(it) => Some(it.format),
            Self::Trace(it) => Some(it.format()),
            _ => None,
        }
    }

    /// Whether messages are printed as JSON.
    pub(crate) fn messages_are_json(&self) -> bool {
        let own = match self {
            Self::Run(it) => it.system.messages.json(),
            Self::Debug(it) => it.system.messages.json(),
            Self::Live(it) => it.messages.json(),
            Self::Asm(it) => it.messages.json(),
            Self::Explain(it) => it.messages.json(),
            Self::Check(it) => it.options.messages.json(),
            Self::CheckExercise(it) => it.options.messages.json(),
            _ => false,
        };
        own || self.format().is_some_and(Format::is_json)
    }
}
