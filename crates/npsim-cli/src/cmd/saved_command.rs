//! The commands of saved and resumed runs: a resumed run has the command of the original run, some
//! options of which may be overridden.

use std::path::Path;
use std::process::ExitCode;

use clap::error::ErrorKind;
use clap::parser::ValueSource;
use clap::{Args, Command};
use npsim::checkpoint::inputs::{self, CheckpointInput};
use npsim::checkpoint::{CheckpointFile, Outputs, RunOrigin};
use npsim::problem::Problem;

use crate::{bundle, output};

/// Options that any resumed run may override, since they change no result of the original command.
const OVERRIDABLE: [&str; 7] = [
    "checkpoint",
    "checkpoint_every",
    "format",
    "quiet",
    "resume",
    "stats",
    "until",
];

/// The arguments of a command whose runs can be saved and resumed.
pub trait Resumable: Args {
    /// The subcommand of `npsim`.
    const SUBCOMMAND: &'static str;
    /// A description of its target.
    const TARGET: &'static str;
    /// Further options that may be overridden, specific to this command.
    const ALSO_OVERRIDABLE: &'static [&'static str];
    /// The state of outputs in its checkpoints.
    type Outputs: Outputs;

    /// The checkpoint to resume from.
    fn resume(&self) -> Option<&Path>;

    /// Overrides options with those of a later command.
    fn overlay(&mut self, later: &Self);
}

/// Runs from the start, or from the checkpoint named in the arguments.
///
/// # Errors
/// Returns an error if the checkpoint cannot be read, or the run fails.
pub fn run_or_resume<A: Resumable>(
    now: &A,
    run: impl FnOnce(&A, Option<&CheckpointFile<A::Outputs>>) -> anyhow::Result<ExitCode>,
) -> anyhow::Result<ExitCode> {
    let Some(path) = now.resume() else {
        return run(now, None);
    };
    refuse_fixed_options::<A>();
    let checkpoint = CheckpointFile::read(path)?;
    let arguments = resumed(now, path, checkpoint.origin())?;
    run(&arguments, Some(&checkpoint)).inspect_err(|_| note_folder(checkpoint.origin()))
}

/// The subcommand of `npsim` with these arguments, as a command of its own.
fn command_of<A: Resumable>() -> Command {
    let mut command =
        A::augment_args(Command::new(A::SUBCOMMAND)).bin_name(format!("npsim {}", A::SUBCOMMAND));
    command.build();
    command
}

/// Exits the process with a usage error if `--resume` is combined with an option that may not be
/// overridden.
fn refuse_fixed_options<A: Resumable>() {
    let mut run = command_of::<A>();
    let given = run.clone().get_matches_from(std::env::args_os().skip(1));
    let other = run.get_arguments().find(|argument| {
        let id = argument.get_id().as_str();
        // A flag that is not given has its default value, which does not come from the command line.
        !(OVERRIDABLE.contains(&id) || A::ALSO_OVERRIDABLE.contains(&id))
            && given.value_source(id) == Some(ValueSource::CommandLine)
    });
    if let Some(other) = other {
        let name = match (other.get_long(), other.get_short()) {
            (Some(long), _) => format!("`--{long}`"),
            (None, Some(short)) => format!("`-{short}`"),
            (None, None) => A::TARGET.to_owned(),
        };
        let message = format!(
            "{name} cannot be given with `--resume`: the run goes on as its first command says"
        );
        run.error(ErrorKind::ArgumentConflict, message).exit();
    }
}

/// Parses a saved command.
fn parse<A: Resumable>(command: &[String], path: &Path) -> Result<A, Problem> {
    let is_own = { command.first() }.is_some_and(|word| word == A::SUBCOMMAND);
    let parsed = || {
        let matches = command_of::<A>().try_get_matches_from(command)?;
        A::from_arg_matches(&matches)
    };
    let reason = match is_own.then(parsed) {
        Some(Ok(arguments)) => return Ok(arguments),
        None => "it is another command".to_owned(),
        Some(Err(error)) => error
            .to_string()
            .lines()
            .next()
            .unwrap_or_default()
            .to_owned(),
    };
    Err(Problem::new(format!(
        "the command saved in `{}` cannot be parsed: {reason}",
        path.display()
    ))
    .help("go on with the npsim that wrote it, or restart the run"))
}

/// The command of a resumed run: the first one that led to the checkpoint, overridden by the later
/// ones and by `now`.
fn resumed<A: Resumable>(now: &A, path: &Path, origin: &RunOrigin) -> Result<A, Problem> {
    let Some((first, others)) = origin.commands.split_first() else {
        return Err(Problem::new(format!(
            "the checkpoint `{}` does not contain the command that wrote it",
            path.display()
        ))
        .help("restart the run"));
    };
    for command in &origin.commands {
        bundle::check_saved(command)?;
    }
    let mut arguments: A = parse(first, path)?;
    for command in others {
        arguments.overlay(&parse(command, path)?);
    }
    arguments.overlay(now);
    Ok(arguments)
}

/// The origin of a run that starts now, or that is resumed from `before`, which requires the same
/// inputs.
pub fn origin(
    before: Option<&RunOrigin>,
    inputs: Vec<CheckpointInput>,
) -> Result<RunOrigin, Problem> {
    let mut commands = Vec::new();
    if let Some(before) = before {
        inputs::compare(&before.inputs, &inputs)?;
        commands.clone_from(&before.commands);
    }
    commands.push(own_command()?);
    Ok(RunOrigin {
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

/// Prints a note about an error in a run that is resumed in another folder than before.
fn note_folder(origin: &RunOrigin) {
    let folder = &origin.folder;
    if current_folder() != *folder {
        output::line(&format!(
            "note: the run was started in `{folder}`, to which the paths in its command are relative"
        ));
    }
}

fn current_folder() -> String {
    if let Some(place) = bundle::place() {
        return format!("<bundle>/{place}");
    }
    std::env::current_dir().map_or_else(|_| String::new(), |folder| folder.display().to_string())
}
