//! The command of a run that goes on.

use std::path::Path;

use npsim::checkpoint::Checkpoint;
use npsim::problem::Problem;

use super::Arguments;
use crate::cmd::saved_command;

const SUBCOMMAND: &str = "run";
/// What may be said anew of a run that goes on: it changes no result that was
/// not asked for.
const ANEW: [&str; 9] = [
    "format",
    "resume",
    "until",
    "stats",
    "dump",
    "quiet",
    "message_format",
    "checkpoint",
    "every",
];

/// Lets a later command say anew what it may.
fn overlay(arguments: &mut Arguments, later: &Arguments, words: &[String]) {
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
    arguments.format = later.format;
    arguments
        .system
        .messages
        .take_format(&later.system.messages);
    let file = later.saving.checkpoint.as_ref().or(later.saving.resume());
    if let Some(file) = file {
        arguments.saving.checkpoint = Some(file.clone());
    }
    if gives_every(words) {
        arguments.saving.every = later.saving.every;
    }
}

/// The command of a run that goes on, and where it stands.
pub fn resumed(now: &Arguments, path: &Path) -> Result<(Arguments, Checkpoint), Problem> {
    saved_command::refuse_others::<Arguments>(SUBCOMMAND, &ANEW);
    let checkpoint = Checkpoint::read(path)?;
    let arguments = saved_command::resumed(now, path, checkpoint.origin(), SUBCOMMAND, overlay)?;
    Ok((arguments, checkpoint))
}

/// Whether a command names its interval; the default must not replace that of
/// an earlier one.
fn gives_every(command: &[String]) -> bool {
    command.iter().any(|word| {
        let name = word.split_once('=').map_or(word.as_str(), |(name, _)| name);
        matches!(name, "--checkpoint-every" | "--every")
    })
}
