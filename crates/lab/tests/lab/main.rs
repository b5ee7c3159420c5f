//! Studies from their text to their results.

mod bench;
mod campaigns;
mod comparing;
mod dumbbell;
mod hops;
mod mistakes;
mod networks;
mod one_chip;
mod perturbed;
mod replicated;
mod sensitive;

use std::path::{Path, PathBuf};

/// The root of the repository.
fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}
