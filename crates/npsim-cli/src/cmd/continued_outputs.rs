//! Outputs that a resumed run continues.

use std::io;
use std::path::Path;

use npsim::checkpoint::{CheckpointFile, Outputs};
use npsim::problem::Problem;

/// Whether a run's outputs are kept for a later run to continue, and from which position.
#[derive(Debug)]
pub enum OutputContinuation<'a, O> {
    /// Outputs are not kept.
    NotKept,
    /// Outputs are kept from the beginning.
    FromStart,
    /// Outputs are kept from this position.
    From(&'a O),
}

impl<O> Clone for OutputContinuation<'_, O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<O> Copy for OutputContinuation<'_, O> {}

impl<'a, O: Outputs> OutputContinuation<'a, O> {
    /// For a run that is resumed from `before`, or starts and is saved to `checkpoint`. An earlier
    /// run's checkpoint of that name is removed, since its outputs are about to be replaced.
    ///
    /// # Errors
    /// Returns an error if it cannot be removed.
    pub fn of(
        before: Option<&'a CheckpointFile<O>>,
        checkpoint: Option<&Path>,
    ) -> Result<Self, Problem> {
        match (before, checkpoint) {
            (Some(before), _) => Ok(Self::From(before.outputs())),
            (None, Some(path)) => remove_checkpoint(path).map(|()| Self::FromStart),
            (None, None) => Ok(Self::NotKept),
        }
    }
}

fn remove_checkpoint(path: &Path) -> Result<(), Problem> {
    if !path.is_file() {
        return Ok(());
    }
    match std::fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => {
            Err(Problem::io("replace", path, &error))
        }
        _ => Ok(()),
    }
}

/// The error for a checkpoint that does not fit its command.
pub fn incomplete_checkpoint(what: &str) -> Problem {
    Problem::new(format!(
        "the checkpoint does not have all {what} that its command writes"
    ))
    .help("restart the run")
}
