//! When packets leave: due times, the clock that a host's timers go by, and what its CPU needs.
//!
//! A sender with a rate computes when its next packet is due and asks its [`TimerClock`] when a timer set
//! for then fires; whatever is due by that time leaves. [`HostCpu`] is for simulations of hosts: a packet
//! leaves when a core has got round to it.

mod clock;
mod cpu;
mod pacer;

pub use clock::TimerClock;
pub use cpu::{CpuCost, HostCpu};
pub(crate) use pacer::Pacer;
