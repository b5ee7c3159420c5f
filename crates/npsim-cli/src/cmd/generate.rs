//! `npsim generate`: writes the files of the repository that are generated from the tables.

use std::path::PathBuf;
use std::process::ExitCode;

use crate::generated::files;
use clap::Args;
use npsim::atomic_file::write_atomically;
use npsim::problem::Problem;

/// Write the editors' grammars, the instruction reference and the schemas of JSON
///
/// For use after changes to the tables: a test compares these files with them.
#[derive(Debug, Args)]
pub struct Arguments {
    /// The repository's folder
    folder: PathBuf,
}

pub fn run(arguments: &Arguments) -> anyhow::Result<ExitCode> {
    for (name, text) in files() {
        let path = arguments.folder.join(name);
        if let Some(folder) = path.parent() {
            std::fs::create_dir_all(folder).map_err(|error| Problem::io("make", folder, &error))?;
        }
        write_atomically(&path, text.as_bytes())
            .map_err(|error| Problem::io("write", &path, &error))?;
    }
    Ok(ExitCode::SUCCESS)
}
