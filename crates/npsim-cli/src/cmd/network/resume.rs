//! The command of a run of a network that goes on.

use std::path::Path;

use npsim::problem::Problem;
use npsim_network::checkpoint::Checkpoint;

use super::arguments::Arguments;
use crate::cmd::saved_command;

const SUBCOMMAND: &str = "network";
/// What may be said anew of a run that goes on: it changes no result that was not asked for.
const ANEW: [&str; 8] = [
    "format",
    "resume",
    "until",
    "stats",
    "threads",
    "quiet",
    "checkpoint",
    "checkpoint_every",
];

/// Lets a later command say anew what it may.
fn overlay(arguments: &mut Arguments, later: &Arguments, _: &[String]) {
    arguments.until = later.until.or(arguments.until);
    arguments.threads = later.threads.or(arguments.threads);
    if later.stats.is_some() {
        arguments.stats.clone_from(&later.stats);
    }
    arguments.quiet |= later.quiet;
    arguments.format = later.format;
    let (saving, later) = (&mut arguments.saving, &later.saving);
    let file = later.checkpoint.as_ref().or(later.resume.as_ref());
    if let Some(file) = file {
        saving.checkpoint = Some(file.clone());
    }
    saving.checkpoint_every = later.checkpoint_every.or(saving.checkpoint_every);
}

/// The command of a run that goes on, and where it stands.
pub fn resumed(now: &Arguments, path: &Path) -> Result<(Arguments, Checkpoint), Problem> {
    saved_command::refuse_others::<Arguments>(SUBCOMMAND, &ANEW);
    let checkpoint = Checkpoint::read(path)?;
    let arguments = saved_command::resumed(now, path, checkpoint.origin(), SUBCOMMAND, overlay)?;
    Ok((arguments, checkpoint))
}
