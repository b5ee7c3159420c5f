//! The `npsim` command: subcommands in `cmd/`, the language server in [`lsp`], the debug adapter
//! in [`dap`], the book in [`docs`].
//!
//! Exit codes: 0 success, 1 an error in the input, 2 wrong usage, 3 the microcode did something in
//! a run that a check forbids.

mod arguments;
mod bundle;
mod cmd;
pub mod dap;
pub mod docs;
pub mod fold;
mod framing;
mod gdb;
pub mod generated;
pub mod lsp;
mod markdown;
#[cfg(test)]
mod option_names;
mod output;
pub mod schemas;
mod usage;

use std::ffi::OsString;
use std::process::ExitCode;

use clap::{CommandFactory, Parser};
use npsim::diagnostics::render_problem;
use npsim::problem::{Problem, Problems};

use crate::arguments::{Arguments, Command};

/// Runs the command with these arguments, the first of which is its name. Exits the process on a
/// usage error.
#[must_use]
pub fn main(arguments: impl IntoIterator<Item = OsString>) -> ExitCode {
    bundle::note_if_asked();
    let given: Vec<_> = arguments.into_iter().collect();
    let arguments = Arguments::try_parse_from(&given).unwrap_or_else(|error| {
        let all = Arguments::command();
        usage::end(&usage::with_subcommands(error, &all, given))
    });
    let json = arguments.command.messages_are_json();
    if json {
        output::enable_json_messages();
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
        Command::Live(arguments) => cmd::live::run(arguments),
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
        Command::Completions(arguments) => cmd::completions::run(arguments, &Arguments::command()),
        Command::Man(arguments) => cmd::man::run(arguments, Arguments::command()),
        Command::Lsp(arguments) => cmd::lsp::run(arguments),
        Command::Bundle(arguments) => cmd::bundle::run(arguments),
        Command::Trace(arguments) => cmd::trace::run(arguments),
        Command::Generate(arguments) => cmd::generate::run(arguments),
    };
    match result {
        Ok(code) => code,
        Err(error) if output::is_broken_pipe(&error) => ExitCode::SUCCESS,
        Err(error) => {
            if let Some(conflict) = error.downcast_ref::<usage::Conflict>() {
                usage::end(&conflict.of(Arguments::command()));
            }
            report(&error, json);
            ExitCode::from(1)
        }
    }
}

/// Prints an error, with its location if it has one.
fn report(error: &anyhow::Error, json: bool) {
    let message = |problem: &Problem| {
        if json {
            cmd::message_options::problem_as_json(problem);
        } else {
            output::message(&render_problem(problem));
        }
    };
    if let Some(problems) = error.downcast_ref::<Problems>() {
        for problem in problems.shown() {
            message(&problem);
        }
    } else if let Some(problem) = error.downcast_ref::<Problem>() {
        message(problem);
    } else {
        let mut text = error.to_string();
        for cause in error.chain().skip(1) {
            let cause = cause.to_string();
            // Some errors already include their cause.
            if !text.contains(&cause) {
                text = format!("{text}: {cause}");
            }
        }
        message(&Problem::new(text));
    }
}
