//! Live runs: hosts of the real world talk through a simulated chip.
//!
//! A [`LiveSystem`](system::LiveSystem) is what is simulated, an `Interface` (on Linux) what a port of it is joined to,
//! and the [clock](clock::LiveClock) says which simulated time belongs to which time of the host.
//! [`run`](live_run::LiveRun) moves frames between them. What comes in can be recorded, so that
//! the run can be repeated without the hosts, and debugged backwards.
//!
//! All but the interfaces runs anywhere; these need Linux.

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
