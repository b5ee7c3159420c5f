//! Explicit congestion control as arithmetic: what a router does to a packet, and what its slow path
//! computes between packets, for Quick-Start ([`quick_start`]), XCP ([`xcp`]) and RCP ([`rcp`]).
//!
//! These are reference models: microcode, slow-path tasks and a coprocessor are held against them.
//! Nothing here knows a chip, and everything is integers, so results are the same on every machine.
//! Where a law has fractions, they are carried exactly and rounded down once, at the end.
//!
//! ```
//! use npsim_congestion::quick_start::{Outcome, Pool, process};
//!
//! // Room for 1 Gbit/s in units of 40 kbit/s; the request asks for 10.24 Mbit/s.
//! let mut pool = Pool { limit: 25_000, granted: 0 };
//! let mut header = [
//!     0x47, 0, 0, 0x30, 0x12, 0x34, 0x40, 0, 0x40, 6, 0x8b, 0x09, 10, 0, 0, 1, 10, 1, 0, 2, // IPv4
//!     0x19, 8, 8, 0x64, 0x56, 0x97, 0x0f, 0x84, // rate request, code 8
//! ];
//! assert_eq!(process(&mut header, &mut pool, 0), Outcome::Approve);
//! assert_eq!(pool.granted, 256);
//! ```

pub mod checksum;
mod parameter;
pub mod quick_start;
pub mod rcp;
pub mod xcp;

pub use parameter::ParameterError;
