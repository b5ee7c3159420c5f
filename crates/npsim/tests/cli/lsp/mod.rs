//! The language server as an editor meets it.

mod client;

mod completing;
mod diagnosing;
mod hovering;
mod navigating;
mod process;
mod renaming;
mod robustness;
