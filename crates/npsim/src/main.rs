//! The `npsim` command.
//!
//! Exit codes: 0 done, 1 a mistake in what was given, 2 wrong usage, 3 the
//! microcode did in a run what a check forbids.

mod cmd;
mod markdown;
#[cfg(test)]
mod option_names;
mod output;
mod usage;

use std::process::ExitCode;

use clap::{Parser, Subcommand};
use cmd::format::Format;
use npsim::diagnostics::render_problem;
use npsim::problem::{Problem, Problems};

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
struct Arguments {
    #[command(subcommand)]
    command: Command,
}

#[derive(Debug, Subcommand)]
#[expect(clippy::large_enum_variant, reason = "made once")]
enum Command {
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
    Trace(cmd::trace::Arguments),
    #[command(hide = true)]
    Generate(cmd::generate::Arguments),
}

impl Command {
    /// The form of its results, if it has several.
    fn format(&self) -> Option<Format> {
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

    /// Whether its messages are for programs.
    fn messages_are_json(&self) -> bool {
        let own = match self {
            Self::Run(it) => it.system.messages.json(),
            Self::Debug(it) => it.system.messages.json(),
            Self::Asm(it) => it.messages.json(),
            Self::Explain(it) => it.messages.json(),
            Self::Check(it) => it.options.messages.json(),
            Self::CheckExercise(it) => it.options.messages.json(),
            _ => false,
        };
        own || self.format().is_some_and(Format::is_json)
    }
}

fn main() -> ExitCode {
    let arguments = Arguments::try_parse().unwrap_or_else(|error| usage::end(error));
    let json = arguments.command.messages_are_json();
    if json {
        output::write_for_programs();
    }
    let result = match &arguments.command {
        Command::Run(arguments) => cmd::run::run(arguments),
        Command::Debug(arguments) => cmd::debug::run(arguments),
        Command::Dap(arguments) => cmd::dap::run(arguments),
        Command::Asm(arguments) => cmd::asm::run(arguments),
        Command::Disasm(arguments) => cmd::disasm::run(arguments),
        Command::Explain(arguments) => cmd::explain::run(arguments),
        Command::Pp(arguments) => cmd::pp::run(arguments),
        Command::Fmt(arguments) => cmd::fmt::run(arguments),
        Command::New(arguments) => cmd::new::run(arguments),
        Command::Network(arguments) => cmd::network::run(arguments),
        Command::Sweep(arguments) => cmd::sweep::run(arguments),
        Command::Reproduce(arguments) => cmd::reproduce::run(arguments),
        Command::Sensitivity(arguments) => cmd::sensitivity::run(arguments),
        Command::Chip(arguments) => cmd::chip::run(arguments),
        Command::Checks(arguments) => cmd::checks::run(arguments),
        Command::Check(arguments) => cmd::check::run(arguments),
        Command::CheckExercise(arguments) => cmd::check_exercise::run(arguments),
        Command::Codes(arguments) => cmd::codes::run(arguments),
        Command::Isa(arguments) => cmd::isa::run(arguments),
        Command::Docs(arguments) => cmd::docs::run(arguments),
        Command::Completions(arguments) => cmd::completions::run(arguments),
        Command::Man(arguments) => cmd::man::run(arguments),
        Command::Lsp(arguments) => cmd::lsp::run(arguments),
        Command::Trace(arguments) => cmd::trace::run(arguments),
        Command::Generate(arguments) => cmd::generate::run(arguments),
    };
    match result {
        Ok(code) => code,
        Err(error) if output::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            report(&error, json);
            ExitCode::from(1)
        }
    }
}

/// Shows a mistake, with its place where it has one.
fn report(error: &anyhow::Error, json: bool) {
    let message = |problem: &Problem| {
        if json {
            cmd::message_options::problem_as_json(problem);
        } else {
            output::message(&render_problem(problem));
        }
    };
    if let Some(Problems(problems)) = error.downcast_ref() {
        for problem in problems {
            message(problem);
        }
    } else if let Some(problem) = error.downcast_ref::<Problem>() {
        message(problem);
    } else {
        let mut text = error.to_string();
        for cause in error.chain().skip(1) {
            let cause = cause.to_string();
            // Some errors print their cause themselves.
            if !text.contains(&cause) {
                text = format!("{text}: {cause}");
            }
        }
        message(&Problem::new(text));
    }
}
