//! Networks as files: what a network file says, the chips that it asks for with their programs,
//! advice on it, what a run came to in the times and rates of the file, and a run that waits in a
//! file to go on.
//!
//! The network itself, which runs, is that of [`npsim_network`]. Reading and writing files is
//! apart from it, since a network's run takes its time there and none here: this crate is not
//! optimised.

pub mod advisories;
pub mod chain;
pub mod checkpoint;
pub mod chips;
pub mod file;
pub mod results;
pub mod series;
pub mod standing;
pub mod transfer_results;
mod unscaled;
