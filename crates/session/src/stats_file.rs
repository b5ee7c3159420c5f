//! The stats file: a [`Report`] as JSON. The same inputs give the same bytes;
//! `docs/src/stats.md` describes every field.

use std::io;
use std::path::Path;

use crate::report::Report;
use npsim_project::atomic_file::write_atomically;

/// The text of a stats file, with a trailing newline.
///
/// # Errors
/// Returns an error if the data cannot be written as JSON, which its types rule
/// out.
pub fn to_json(report: &Report) -> serde_json::Result<String> {
    serde_json::to_string_pretty(report).map(|text| text + "\n")
}

/// Writes a stats file, completely or not at all.
///
/// # Errors
/// Returns an error if the file cannot be written.
pub fn write(path: &Path, report: &Report) -> io::Result<()> {
    let text = to_json(report).map_err(io::Error::other)?;
    write_atomically(path, text.as_bytes())
}
