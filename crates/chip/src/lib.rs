//! The chip: microengines, memories, media interface and their timing.
//!
//! Time is microengine cycles. The chip knows nothing of capture files: frames
//! come and go through [`lines::Lines`].

/// A time or a duration in microengine cycles.
pub type Cycle = u64;

pub mod bus;
pub mod check;
pub mod chip;
pub mod event;
pub mod fabric;
pub mod gpp;
pub mod lines;
pub mod memory;
pub mod profile;
pub mod stats;
