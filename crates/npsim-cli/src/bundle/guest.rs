//! What a command does otherwise while it runs among the files of a bundle: it leaves out what differs from
//! host to host, and goes on with no run that names places outside.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use npsim::problem::Problem;

use super::command_line::{below, check_places};

/// The variable that has the folder with the files of the bundle.
pub const FOLDER: &str = "NPSIM_BUNDLE_FOLDER";

/// The folder with the files of the bundle, if this process runs among them.
fn folder() -> Option<&'static Path> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = || env::var_os(FOLDER).map(PathBuf::from);
    FOUND.get_or_init(found).as_deref()
}

/// Whether this process runs among the files of a bundle.
pub fn is_guest() -> bool {
    folder().is_some()
}

/// The current folder within the bundle; none outside of one.
pub fn place() -> Option<String> {
    let current = env::current_dir().ok()?;
    folder().map(|folder| below(folder, &current))
}

/// Refuses a command line that a file of the bundle has, such as a checkpoint, if it names a place outside.
///
/// # Errors
/// It does.
pub fn check_saved(words: &[String]) -> Result<(), Problem> {
    place().map_or(Ok(()), |place| check_places(words, &place))
}

/// Whether a variable of the environment changes what a command does or prints.
pub fn changes_output(name: &OsStr) -> bool {
    const OTHERS: [&str; 4] = ["COLUMNS", "NO_COLOR", "CLICOLOR_FORCE", "RUST_BACKTRACE"];
    let name = name.to_string_lossy();
    OTHERS.contains(&&*name) || name.starts_with("SLURM")
}
