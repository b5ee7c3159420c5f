//! Networks as files: parses network files, loads the chips that they name with their programs,
//! gives advice on them, reports the results of a run in the times and rates of the file, and saves
//! runs to continue them later.
//!
//! The simulation itself is in [`npsim_network`]. File handling is separate because only the
//! simulation takes significant time: this crate is not optimised.

pub mod advisories;
pub mod chain;
pub mod checkpoint;
pub mod chips;
pub mod file;
pub mod results;
pub mod run_progress;
pub mod series;
pub mod transfer_results;
mod unscaled;
