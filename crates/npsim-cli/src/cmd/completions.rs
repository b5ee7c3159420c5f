//! `npsim completions`: completion scripts for shells.

use std::process::ExitCode;

use clap::builder::PossibleValuesParser;
use clap::{Arg, Args, Command, ValueHint};
use clap_complete::Shell;
use npsim::vocabulary;
use npsim_asm::codes;
use npsim_chip::kernel::check::Check;
use npsim_lab::studies;
use npsim_profile::{Board, Profile};

use crate::output;

const EXAMPLES: &str = "\
Examples:
  npsim completions bash > ~/.local/share/bash-completion/completions/npsim
  npsim completions zsh > ~/.zfunc/_npsim
  npsim completions fish > ~/.config/fish/completions/npsim.fish";

/// Print a completion script for a shell
///
/// The script completes the commands and options, and the names of the chips, boards, checks,
/// messages, instructions and studies in this build.
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// The shell
    shell: Shell,
}

/// Writes the script for `command`, which is all of `npsim`.
pub fn run(arguments: &Arguments, command: &Command) -> anyhow::Result<ExitCode> {
    let mut script = Vec::new();
    let mut command = with_names(without_hidden(command), "")?;
    clap_complete::generate(arguments.shell, &mut command, "npsim", &mut script);
    output::print(&String::from_utf8(script)?)?;
    Ok(ExitCode::SUCCESS)
}

/// What of the command a script is made from, without what its help does not list either: `clap_complete` takes all.
fn without_hidden(command: &Command) -> Command {
    let shown = command.get_subcommands().filter(|it| !it.is_hide_set());
    Command::new("npsim")
        .version(env!("CARGO_PKG_VERSION"))
        .args(command.get_arguments())
        .subcommands(shown)
}

/// The command with the names that its arguments may be. They are for completion only: an
/// argument takes users' own files as well, and has better messages for mistakes.
fn with_names(command: Command, parent: &str) -> anyhow::Result<Command> {
    let name = command.get_name().to_owned();
    let below: Vec<_> = command.get_subcommands().map(Command::get_name).collect();
    let below: Vec<_> = below.into_iter().map(str::to_owned).collect();
    let mut command = command;
    for sub in below {
        let mut made = Ok(());
        command = command.mut_subcommand(sub, |it| {
            let plain = it.clone();
            with_names(it, &name).unwrap_or_else(|error| {
                made = Err(error);
                plain
            })
        });
        made?;
    }
    let ids: Vec<_> = command
        .get_arguments()
        .map(|it| it.get_id().clone())
        .collect();
    for id in ids {
        let names = names(&name, parent, id.as_str())?;
        command = command.mut_arg(id, |it| completed(it, names));
    }
    Ok(command)
}

fn completed(argument: Arg, names: Vec<String>) -> Arg {
    if !names.is_empty() {
        // The process ends when the script is written.
        let names = names.into_iter().map(|name| &*name.leak());
        return argument.value_parser(PossibleValuesParser::new(names));
    }
    let file = |name: &str| name.starts_with("FILE") || name.starts_with("IN.");
    let value = argument.get_value_names().and_then(<[_]>::first);
    let hint = match value.map(clap::builder::Str::as_str) {
        Some("DIR") => ValueHint::DirPath,
        Some("TARGET" | "PROJECT" | "PATH") => ValueHint::AnyPath,
        Some(name) if file(name) => ValueHint::FilePath,
        _ => return argument,
    };
    argument.value_hint(hint)
}

/// The names that an argument of a command may be, if they are known.
fn names(command: &str, parent: &str, argument: &str) -> anyhow::Result<Vec<String>> {
    let owned = |names: &mut dyn Iterator<Item = &str>| names.map(str::to_owned).collect();
    Ok(match (command, argument) {
        ("chip", "name") => owned(&mut Profile::names().chain(Board::names())),
        (_, "chip") => owned(&mut Profile::names()),
        (_, "board") => owned(&mut Board::names()),
        ("checks", "name") => owned(&mut Check::ALL.iter().map(|it| it.name())),
        ("codes", "name") | (_, "warn" | "allow_warning" | "deny_warning") => {
            owned(&mut codes::all().iter().map(|it| it.name))
        }
        // `fmt` and others have an argument of this name that is a flag.
        (_, "allow") => owned(&mut Check::ALL.iter().map(|it| it.name())),
        ("isa", "page") => {
            let words = npsim_isa::reference::names().chain(vocabulary::names());
            let mut words: Vec<String> = words.map(str::to_owned).collect();
            words.sort_unstable();
            words.dedup();
            words
        }
        ("reproduce" | "sensitivity", "study") if parent == "npsim" => {
            studies::all()?.into_iter().map(|it| it.name).collect()
        }
        _ => Vec::new(),
    })
}
