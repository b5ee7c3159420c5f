//! How a command behaves differently while it runs among the files of a bundle: it omits output that
//! depends on the host, and does not resume a saved run that refers to places outside.

use std::env;
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

use npsim::problem::Problem;

use super::command_line::{below, check_places};

/// The environment variable with the folder of the bundle's files.
pub const FOLDER: &str = "NPSIM_BUNDLE_FOLDER";

/// The folder of the bundle's files, if this process runs among them.
fn folder() -> Option<&'static Path> {
    static FOUND: OnceLock<Option<PathBuf>> = OnceLock::new();
    let found = || env::var_os(FOLDER).map(PathBuf::from);
    FOUND.get_or_init(found).as_deref()
}

/// Whether this process runs among the files of a bundle.
pub fn is_guest() -> bool {
    folder().is_some()
}

/// The current folder within the bundle; `None` outside a bundle.
pub fn place() -> Option<String> {
    let current = env::current_dir().ok()?;
    folder().map(|folder| below(folder, &current))
}

/// Rejects a command line stored in a file of the bundle, such as a checkpoint, if it refers to a place
/// outside.
///
/// # Errors
/// Returns an error if it does.
pub fn check_saved(words: &[String]) -> Result<(), Problem> {
    place().map_or(Ok(()), |place| check_places(words, &place))
}

/// Whether an environment variable affects what a command does or prints.
pub fn changes_output(name: &OsStr) -> bool {
    const OTHERS: [&str; 4] = ["COLUMNS", "NO_COLOR", "CLICOLOR_FORCE", "RUST_BACKTRACE"];
    let name = name.to_string_lossy();
    OTHERS.contains(&&*name) || name.starts_with("SLURM")
}
