//! `--checkpoint`, `--checkpoint-every` and `--resume`.

use std::fmt::Display;
use std::path::PathBuf;
use std::str::FromStr;

use clap::{ArgGroup, Args};

use super::destinations::OutputOption;
use super::file_forms::CHECKPOINT;
use super::value::{parser, replaced_file};

/// How a run is saved and gone on with. Its times are read as `T`.
///
/// What shows a run from its beginning is not in a checkpoint; a command says which of its options
/// do, as conflicts of the group `saved`.
#[derive(Clone, Debug, Args)]
#[command(group(ArgGroup::new("saved").multiple(true)))]
pub struct CheckpointOptions<T>
where
    T: FromStr<Err: Display> + Clone + Send + Sync + 'static,
{
    /// Save the run to FILE periodically (--checkpoint-every) and on Ctrl-C, to be continued with `--resume FILE`
    ///
    /// FILE is replaced atomically, so it is complete whenever the process ends. The
    /// first checkpoint is written before anything runs, the last when --until is
    /// reached. Cannot be combined with --report, --timeline and other options that show
    /// the whole run, whose data are not saved, nor with a compressed capture or
    /// series, which cannot be continued.
    #[arg(long, value_name = "FILE", group = "saved", value_parser = replaced_file())]
    pub checkpoint: Option<PathBuf>,
    /// Simulated time between checkpoints [default: 10ms; for a network a twentieth of the run]
    #[arg(long, value_name = "TIME", requires = "saved", value_parser = parser::<T>())]
    pub checkpoint_every: Option<T>,
    /// Continue the run saved in FILE, with the same results as without interruption
    ///
    /// Everything else is taken from the first command; run both in the same folder. Only
    /// --until, --stats, --quiet, --format, --checkpoint and --checkpoint-every may be given
    /// again, with `npsim run` also --dump, --uart and --message-format, with `npsim network`
    /// also --threads. The run keeps saving to FILE, or to that of --checkpoint.
    #[arg(long, value_name = "FILE", group = "saved")]
    pub resume: Option<PathBuf>,
}

impl<T> CheckpointOptions<T>
where
    T: FromStr<Err: Display> + Clone + Send + Sync + 'static,
{
    /// Overrides these options with those of a later command. A resumed run keeps saving to the file that it was loaded
    /// from.
    pub fn overlay(&mut self, later: &Self) {
        if let Some(file) = later.checkpoint.as_ref().or(later.resume.as_ref()) {
            self.checkpoint = Some(file.clone());
        }
        if later.checkpoint_every.is_some() {
            self.checkpoint_every.clone_from(&later.checkpoint_every);
        }
    }

    /// The checkpoint file as an output, if one is written.
    pub fn output(&self) -> Option<OutputOption> {
        let path = self.checkpoint.as_ref()?;
        Some(OutputOption::new("--checkpoint", path, &CHECKPOINT))
    }
}
