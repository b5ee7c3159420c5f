//! When packets leave: due times, the clock of a host's timers, and the CPU time that packets need.
//!
//! A sender with a rate computes when its next packet is due, and its [`TimerClock`] determines when a
//! timer set for that time fires; everything due by then leaves. [`HostCpu`] is for simulations of hosts:
//! a packet leaves once a core has processed it.

mod clock;
mod cpu;
mod pacer;

pub use clock::TimerClock;
pub use cpu::{CpuCost, HostCpu};
pub(crate) use pacer::Pacer;
