//! The command of a run that is saved, and of one that goes on: that of the run before, with what
//! may be said anew.

use std::path::Path;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Args, Command};
use npsim::checkpoint::Origin;
use npsim::checkpoint::inputs::{self, Input};
use npsim::problem::Problem;

use crate::output;

/// The subcommand of `npsim` with arguments of this kind, alone.
fn command_of<A: Args>(subcommand: &'static str) -> Command {
    let mut command =
        A::augment_args(Command::new(subcommand)).bin_name(format!("npsim {subcommand}"));
    command.build();
    command
}

/// Ends the process with a usage error if there is anything else than `anew` beside `--resume`.
pub fn refuse_others<A: Args>(subcommand: &'static str, anew: &[&str]) {
    let mut run = command_of::<A>(subcommand);
    let given = run.clone().get_matches_from(std::env::args_os().skip(1));
    let other = run.get_arguments().find(|argument| {
        let id = argument.get_id().as_str();
        // A flag that is not given has its default, which is no value of the command line.
        !anew.contains(&id) && given.value_source(id) == Some(ValueSource::CommandLine)
    });
    if let Some(other) = other {
        let name = match (other.get_long(), other.get_short()) {
            (Some(long), _) => format!("`--{long}`"),
            (None, Some(short)) => format!("`-{short}`"),
            (None, None) if subcommand == "network" => "a file".to_owned(),
            (None, None) => "a target".to_owned(),
        };
        let message = format!(
            "{name} cannot be given with `--resume`: the run goes on as its first command says"
        );
        run.error(ErrorKind::ArgumentConflict, message).exit();
    }
}

/// What a saved command of a subcommand means.
fn parse<A: Args>(command: &[String], path: &Path, subcommand: &'static str) -> Result<A, Problem> {
    let is_own = command.first().is_some_and(|word| word == subcommand);
    let parsed = || {
        let matches = command_of::<A>(subcommand).try_get_matches_from(command)?;
        A::from_arg_matches(&matches)
    };
    let reason = match is_own.then(parsed) {
        Some(Ok(arguments)) => return Ok(arguments),
        None => "it is no such run".to_owned(),
        Some(Err(error)) => error
            .to_string()
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned(),
    };
    Err(Problem::new(format!(
        "the command that is saved in `{}` is not understood: {reason}",
        path.display()
    ))
    .help("go on with the npsim that wrote it, or start the run anew"))
}

/// The command of a run that goes on: the first that led to the checkpoint, then what the others and
/// this one, `now`, said anew. `overlay` takes a command over the earlier ones, with its words.
pub fn resumed<A: Args>(
    now: &A,
    path: &Path,
    origin: &Origin,
    subcommand: &'static str,
    overlay: impl Fn(&mut A, &A, &[String]),
) -> Result<A, Problem> {
    let own_words = own_command()?;
    let Some((first, others)) = origin.commands.split_first() else {
        return Err(Problem::new(format!(
            "the checkpoint `{}` does not say which command it is from",
            path.display()
        ))
        .help("start the run anew"));
    };
    let mut arguments = parse(first, path, subcommand)?;
    for command in others {
        overlay(&mut arguments, &parse(command, path, subcommand)?, command);
    }
    overlay(&mut arguments, now, &own_words);
    Ok(arguments)
}

/// Where a run comes from that begins now, or goes on from where `before` says, which it may only do
/// with the same inputs.
pub fn origin(before: Option<&Origin>, inputs: Vec<Input>) -> Result<Origin, Problem> {
    let mut commands = Vec::new();
    if let Some(before) = before {
        inputs::compare(&before.inputs, &inputs)?;
        commands.clone_from(&before.commands);
    }
    commands.push(own_command()?);
    Ok(Origin {
        commands,
        folder: current_folder(),
        inputs,
    })
}

/// The arguments of this process.
fn own_command() -> Result<Vec<String>, Problem> {
    let words = std::env::args_os().skip(1).map(|word| {
        word.into_string().map_err(|word| {
            Problem::new(format!(
                "the argument `{}` cannot be saved: it is not UTF-8",
                word.display()
            ))
            .help("give the file another name")
        })
    });
    words.collect()
}

/// Told beside a mistake in a run that goes on in another folder than before.
pub fn tell_folder(origin: &Origin) {
    let folder = &origin.folder;
    if current_folder() != *folder {
        output::line(&format!(
            "note: the run was started in `{folder}`, to which the paths in its command are relative"
        ));
    }
}

fn current_folder() -> String {
    std::env::current_dir().map_or_else(|_| String::new(), |folder| folder.display().to_string())
}

/// Removes the checkpoint of an earlier run, because the outputs that it goes on with are about to
/// be replaced.
pub fn forget(path: &Path) -> Result<(), Problem> {
    if !path.is_file() {
        return Ok(());
    }
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(Problem::io("replace", path, &error))
        }
        _ => Ok(()),
    }
}
