//! Outputs that a later run goes on with.

use std::io;
use std::path::Path;

use npsim::checkpoint::{CheckpointFile, Outputs};
use npsim::problem::Problem;

/// Whether the outputs of a run are to be gone on with, and from where.
#[derive(Debug)]
pub enum Keeping<'a, O> {
    /// They are not.
    Not,
    /// They are, and begin now.
    Begun,
    /// They are, and stand there.
    At(&'a O),
}

impl<O> Clone for Keeping<'_, O> {
    fn clone(&self) -> Self {
        *self
    }
}

impl<O> Copy for Keeping<'_, O> {}

impl<'a, O: Outputs> Keeping<'a, O> {
    /// Of a run that goes on from `before`, or begins and is saved to `checkpoint`. An earlier
    /// run's checkpoint of that name is removed, since its outputs are about to be replaced.
    ///
    /// # Errors
    /// It cannot be removed.
    pub fn of(
        before: Option<&'a CheckpointFile<O>>,
        checkpoint: Option<&Path>,
    ) -> Result<Self, Problem> {
        match (before, checkpoint) {
            (Some(before), _) => Ok(Self::At(before.outputs())),
            (None, Some(path)) => forget(path).map(|()| Self::Begun),
            (None, None) => Ok(Self::Not),
        }
    }
}

fn forget(path: &Path) -> Result<(), Problem> {
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

/// A checkpoint that does not fit its command.
pub fn lacks(what: &str) -> Problem {
    Problem::new(format!(
        "the checkpoint does not have all {what} that its command writes"
    ))
    .help("start the run anew")
}
