//! Where `--report DIR` writes its page.

use std::path::{Path, PathBuf};

use npsim::problem::Problem;
use npsim::whole_file::write_whole;

/// The page's name in its folder.
const PAGE: &str = "index.html";

/// The file that `--report` writes in a folder.
pub fn path(folder: &Path) -> PathBuf {
    folder.join(PAGE)
}

/// Makes the folder of a page.
///
/// # Errors
/// It cannot be made.
pub fn make_folder(folder: &Path) -> Result<(), Problem> {
    std::fs::create_dir_all(folder).map_err(|error| Problem::io("make", folder, &error))
}

/// Writes a page that was made, and its folder.
///
/// # Errors
/// It could not be made, or cannot be written.
pub fn write(folder: &Path, page: anyhow::Result<String>) -> Result<(), Problem> {
    let page =
        page.map_err(|error| Problem::new(format!("the report could not be made: {error:#}")))?;
    make_folder(folder)?;
    let path = path(folder);
    write_whole(&path, page.as_bytes()).map_err(|error| Problem::io("write", &path, &error))
}
