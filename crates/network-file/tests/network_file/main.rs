//! Network files from end to end, including those with chips.
#![allow(clippy::disallowed_methods, reason = "tests look at files as they are")]

mod agreement;
mod chain;
mod checkpoint;
mod chips;
mod cpu;
mod file;
mod interfaces;
mod laws;
mod messages;
mod mistakes;
mod pacing;
mod stacks;
mod xcp_option;
