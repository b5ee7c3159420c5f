//! `--checkpoint`, `--checkpoint-every` and `--resume`.

use std::path::PathBuf;

use clap::{ArgGroup, Args};
use npsim::quantity::Time;

use crate::cmd::value::{parser, replaced_file};

/// How a run is saved and gone on with.
#[derive(Clone, Debug, Args)]
#[command(group(
    ArgGroup::new("saved")
        .multiple(true)
        // What they show begins where the run begins, and is not in a checkpoint.
        .conflicts_with_all(["report", "profile", "flame", "flame_waits", "timeline", "packets", "packet"])
))]
pub struct Options {
    /// Save the run to FILE again and again (--checkpoint-every), and on Ctrl-C, so that `--resume FILE` can go on with it
    ///
    /// FILE is replaced as a whole, whenever the process ends. The first time is
    /// before the first cycle, the last when --until is reached. Not with --report
    /// and the options under Watching: what they show is not saved.
    #[arg(long, value_name = "FILE", group = "saved", value_parser = replaced_file())]
    pub(super) checkpoint: Option<PathBuf>,
    /// Time from one checkpoint to the next, in simulated time
    #[arg(long = "checkpoint-every", alias = "every", value_name = "TIME", default_value = "10ms", requires = "saved", value_parser = parser::<Time>())]
    pub(super) every: Time,
    /// Go on with the run that was saved to FILE, to the same results as without a break
    ///
    /// Target, options and files are those of the first command, from the same
    /// folder. Only --until, --stats, --dump, --quiet, --message-format, --format,
    /// --checkpoint and --checkpoint-every may be given anew. The run goes on saving to FILE.
    #[arg(long, value_name = "FILE", group = "saved")]
    pub(super) resume: Option<PathBuf>,
}

impl Options {
    /// The checkpoint to go on from.
    pub fn resume(&self) -> Option<&PathBuf> {
        self.resume.as_ref()
    }

    /// Where checkpoints go.
    pub fn checkpoint(&self) -> Option<&PathBuf> {
        self.checkpoint.as_ref()
    }
}
