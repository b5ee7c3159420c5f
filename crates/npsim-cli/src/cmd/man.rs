//! `npsim man`: manual pages.

use std::path::PathBuf;
use std::process::ExitCode;

use clap::{Args, Command};
use npsim::problem::Problem;

use super::value::folder;

const EXAMPLES: &str = "\
Examples:
  npsim man ~/.local/share/man/man1        then `man npsim-run`";

/// Write manual pages, one for each command
#[derive(Debug, Args)]
#[command(after_help = EXAMPLES)]
pub struct Arguments {
    /// Folder for the pages, which is made if it is not there
    #[arg(value_name = "DIR", value_parser = folder())]
    folder: PathBuf,
}

/// Writes the pages of `command`, which is all of `npsim`.
pub fn run(arguments: &Arguments, command: Command) -> anyhow::Result<ExitCode> {
    let folder = &arguments.folder;
    std::fs::create_dir_all(folder).map_err(|error| Problem::io("make", folder, &error))?;
    clap_mangen::generate_to(command, folder)
        .map_err(|error| Problem::io("write", folder, &error))?;
    Ok(ExitCode::SUCCESS)
}
