//! Outputs that a later run goes on with.

use npsim::problem::Problem;
use npsim_network::checkpoint::Outputs as Positions;

/// Whether the outputs of a run are to be gone on with, and from where.
#[derive(Clone, Copy)]
pub enum Keeping<'a> {
    /// They are not.
    Not,
    /// They are, and begin now.
    Begun,
    /// They are, and stand there.
    At(&'a Positions),
}

/// A checkpoint that does not fit its command.
pub fn lacks(what: &str) -> Problem {
    Problem::new(format!(
        "the checkpoint does not have all {what} that its command writes"
    ))
    .help("start the run anew")
}
