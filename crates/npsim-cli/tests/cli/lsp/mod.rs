//! The language server as an editor sees it.

mod client;

mod completing;
mod diagnosing;
mod hinting;
mod hovering;
mod large;
mod navigating;
mod neovim;
mod process;
mod projects;
mod quick_fixes;
mod reading;
mod renaming;
mod robustness;
mod setting;
mod streams;
