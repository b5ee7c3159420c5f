//! Bundles: one file with a command, all files that it read, and its outcome, so that a fault can be
//! reproduced on another machine.
//!
//! To make one, the command runs twice, in a process of its own: first in the current folder,
//! recording what it reads ([`npsim_net::inputs`]), and then among nothing but copies of those
//! files. The outcome of the second run is the one that the bundle records.

mod archive;
mod command_line;
mod guest;
mod manifest;
mod outcome;
mod pack;
mod process;
mod replay;
mod stage;

pub use guest::{check_saved, is_guest, place};
pub use manifest::PackedFile;
pub use pack::pack;
pub use process::note_if_asked;
pub use replay::open;
