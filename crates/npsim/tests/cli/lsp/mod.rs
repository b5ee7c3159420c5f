//! The language server as an editor meets it.

mod client;

mod completing;
mod diagnosing;
mod hinting;
mod hovering;
mod mending;
mod navigating;
mod process;
mod projects;
mod reading;
mod renaming;
mod robustness;
mod setting;
