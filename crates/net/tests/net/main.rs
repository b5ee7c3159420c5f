//! Frames from outside: captures read and written, replays, loads, and metrics of order.

mod capture_damage;
mod capture_formats;
mod compressed_captures;
mod egress_files;
mod erf;
mod handmade;
mod order;
mod recording;
mod replay;
mod repository_traces;
mod trace_files;

use std::path::{Path, PathBuf};

/// The folder of the repository's captures.
fn traces() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../traces")
}
