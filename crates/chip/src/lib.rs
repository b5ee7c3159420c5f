//! The chip: microengines, memories, media interface and their timing.
//!
//! Time is measured in microengine cycles. The chip does not handle capture files: frames arrive
//! and leave through [`kernel::port_io::PortIo`].

/// A time or a duration in microengine cycles.
pub type Cycle = u64;

pub mod chip;
pub mod core;
pub mod gpp;
pub mod kernel;
pub mod periodic_skip;
pub mod state;
pub mod units;
pub mod watch;

#[cfg(test)]
mod rig;
