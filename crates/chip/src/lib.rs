//! The chip: microengines, memories, media interface and their timing.
//!
//! Time is microengine cycles. The chip knows nothing of capture files: frames
//! come and go through [`lines::Lines`].

/// A time or a duration in microengine cycles.
pub type Cycle = u64;

pub mod board;
pub mod bus;
pub mod cap;
pub mod check;
pub mod chip;
pub mod coprocessor;
pub mod disturb;
pub mod dram;
pub mod event;
pub mod fabric;
pub mod gpp;
pub mod happening;
pub mod hash;
pub mod lines;
pub mod lock;
pub mod me;
pub mod memory;
pub mod msf;
pub mod probe;
pub mod profile;
pub mod ring_status;
pub mod scratch;
pub mod sram;
pub mod state;
pub mod stats;
pub mod unit_counters;
pub mod watch;

#[cfg(test)]
mod rig;
