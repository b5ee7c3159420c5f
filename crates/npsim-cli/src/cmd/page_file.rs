//! The page that `--report DIR` writes.

use std::path::{Path, PathBuf};

use npsim::atomic_file::write_atomically;
use npsim::problem::Problem;

/// The page's file name.
const PAGE: &str = "index.html";

/// The path of the page that `--report` writes in a folder.
pub fn path(folder: &Path) -> PathBuf {
    folder.join(PAGE)
}

/// Creates the folder of a page.
///
/// # Errors
/// Returns an error if it cannot be created.
pub fn make_folder(folder: &Path) -> Result<(), Problem> {
    std::fs::create_dir_all(folder).map_err(|error| Problem::io("make", folder, &error))
}

/// Writes a rendered page, and creates its folder.
///
/// # Errors
/// Returns an error if rendering failed, or the page cannot be written.
pub fn write(folder: &Path, page: anyhow::Result<String>) -> Result<(), Problem> {
    let page =
        page.map_err(|error| Problem::new(format!("the report could not be made: {error:#}")))?;
    make_folder(folder)?;
    let path = path(folder);
    write_atomically(&path, page.as_bytes()).map_err(|error| Problem::io("write", &path, &error))
}
