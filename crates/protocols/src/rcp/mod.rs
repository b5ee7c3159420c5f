//! RCP: routers write the rate allowed to every flow into packets.
//!
//! A packet carries a congestion [`RcpHeader`]. The fast path counts it ([`Counters::arrive`]) and lowers
//! its rate to the link's ([`header::process`]); the slow path computes that rate ([`LinkRate`]).
//!
//! Rates are in bytes per second; times are in nanoseconds, except in the header (2^-14 s).

pub mod counters;
pub mod header;
pub mod keys;
pub mod rate;
pub mod task;
mod words;

pub use counters::Counters;
pub use header::RcpHeader;
pub use rate::{LinkRate, RcpSettings};
