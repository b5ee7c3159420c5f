//! Observers of whole runs.

mod faults;
mod order;
mod profiles;
mod programs;
mod runs;
mod silence;
mod spared;
mod timelines;
