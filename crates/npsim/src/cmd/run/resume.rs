//! The command of a run that goes on: that of the run before, with what may be
//! said anew.

use std::path::Path;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{CommandFactory, Parser};
use npsim::checkpoint::Checkpoint;
use npsim::problem::Problem;

use super::Arguments;
use crate::output;

/// What may be said anew of a run that goes on: it changes no result that was
/// not asked for.
const ANEW: [&str; 8] = [
    "resume",
    "until",
    "stats",
    "dump",
    "quiet",
    "message_format",
    "checkpoint",
    "every",
];

/// Ends the process with a usage error if there is anything else beside
/// `--resume`.
fn refuse_others() {
    let mut command = crate::Arguments::command();
    command.build();
    let matches = command.clone().get_matches_from(std::env::args_os());
    let (Some(run), Some(given)) = (
        command.find_subcommand_mut("run"),
        matches.subcommand_matches("run"),
    ) else {
        return;
    };
    let other = run.get_arguments().find(|argument| {
        let id = argument.get_id().as_str();
        // A flag that is not given has its default, which is no value of the command line.
        !ANEW.contains(&id) && given.value_source(id) == Some(ValueSource::CommandLine)
    });
    if let Some(other) = other {
        let name = match (other.get_long(), other.get_short()) {
            (Some(long), _) => format!("`--{long}`"),
            (None, Some(short)) => format!("`-{short}`"),
            (None, None) => "a target".to_owned(),
        };
        let message = format!(
            "{name} cannot be given with `--resume`: the run goes on as its first command says"
        );
        run.error(ErrorKind::ArgumentConflict, message).exit();
    }
}

/// What a saved command means.
fn parse(command: &[String], path: &Path) -> Result<Arguments, Problem> {
    let words = std::iter::once("npsim").chain(command.iter().map(String::as_str));
    let reason = match crate::Arguments::try_parse_from(words) {
        Ok(crate::Arguments {
            command: crate::Command::Run(arguments),
        }) => return Ok(arguments),
        Ok(_) => "it is no run".to_owned(),
        Err(error) => error
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

/// Lets a later command say anew what it may.
fn overlay(arguments: &mut Arguments, later: &Arguments, given_every: bool) {
    if later.system.until.is_some() {
        arguments.system.until = later.system.until;
    }
    if later.stats.is_some() {
        arguments.stats.clone_from(&later.stats);
    }
    if !later.dump.is_empty() {
        arguments.dump.clone_from(&later.dump);
    }
    arguments.quiet |= later.quiet;
    arguments
        .system
        .messages
        .take_format(&later.system.messages);
    let file = later.saving.checkpoint.as_ref().or(later.saving.resume());
    if let Some(file) = file {
        arguments.saving.checkpoint = Some(file.clone());
    }
    if given_every {
        arguments.saving.every = later.saving.every;
    }
}

/// The command of a run that goes on, and where it stands.
pub fn resumed(now: &Arguments, path: &Path) -> Result<(Arguments, Checkpoint), Problem> {
    refuse_others();
    let checkpoint = Checkpoint::read(path)?;
    let own = own_command()?;
    let mut commands = checkpoint.origin().commands.iter();
    let Some(first) = commands.next() else {
        return Err(Problem::new(format!(
            "the checkpoint `{}` does not say which command it is from",
            path.display()
        ))
        .help("start the run anew"));
    };
    let mut arguments = parse(first, path)?;
    for command in commands {
        overlay(&mut arguments, &parse(command, path)?, gives_every(command));
    }
    overlay(&mut arguments, now, gives_every(&own));
    Ok((arguments, checkpoint))
}

/// Whether a command names its interval; the default must not replace that of
/// an earlier one.
fn gives_every(command: &[String]) -> bool {
    command
        .iter()
        .any(|word| word == "--every" || word.starts_with("--every="))
}

/// The arguments of this process.
pub fn own_command() -> Result<Vec<String>, Problem> {
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
pub fn tell_folder(checkpoint: &Checkpoint) {
    let folder = &checkpoint.origin().folder;
    if current_folder() != *folder {
        output::line(&format!(
            "note: the run was started in `{folder}`, to which the paths in its command are relative"
        ));
    }
}

pub fn current_folder() -> String {
    std::env::current_dir().map_or_else(|_| String::new(), |folder| folder.display().to_string())
}
