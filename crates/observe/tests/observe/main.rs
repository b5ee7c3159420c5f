//! Observers of whole runs.

mod faults;
mod idle_periods;
mod order;
mod profiles;
mod programs;
mod runs;
mod timelines;
mod unwanted_events;
