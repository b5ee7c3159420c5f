//! Live runs: real hosts communicate through a simulated chip.
//!
//! A [`LiveSystem`](system::LiveSystem) is simulated, an `Interface` (on Linux) joins one of its ports to the host, and
//! the [clock](clock::LiveClock) maps host time to simulated time. [`run`](live_run::LiveRun) moves frames between
//! them. Arriving frames can be recorded, so that the run can be repeated without the hosts, and debugged backwards.
//!
//! Everything except the interfaces is portable; these need Linux.

mod chip_counts;
mod chip_observations;
pub mod chip_watch;
pub mod clock;
pub mod live_run;
pub mod offload;
pub mod one_chip;
pub mod open_ends;
pub mod open_network;
pub mod port_lines;
pub mod port_option;
mod requests;
pub mod status;
pub mod system;

#[cfg(target_os = "linux")]
pub mod linux;
