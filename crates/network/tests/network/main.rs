//! Networks from end to end.
#![allow(clippy::disallowed_methods, reason = "tests look at files as they are")]

mod agreement;
mod checkpoint;
mod chips;
mod conservation;
mod cpu;
mod dumbbell;
mod file;
mod laws;
mod messages;
mod mistakes;
mod pacing;
mod reference;
mod rig;
mod scale;
mod xcp_option;
