//! The language server as an editor sees it.

mod client;

mod completing;
mod diagnosing;
mod hinting;
mod hovering;
mod large;
mod mending;
mod navigating;
mod neovim;
mod process;
mod projects;
mod reading;
mod renaming;
mod robustness;
mod setting;
mod streams;
