//! Bundles: one file with a command, all files that it read, and what came of it, so that a fault is
//! found again on another machine.
//!
//! To make one, the command runs twice as a process of its own: where it was given, noting what it
//! reads ([`npsim_net::inputs`]), and then among nothing but copies of that. What came of the second
//! time is what the bundle promises.

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
