//! Explicit congestion control: Quick-Start ([`quick_start`]), XCP ([`xcp`]) and RCP ([`rcp`]); TCP
//! paced at a computed rate, SRP ([`srp`]); and the messages of a router itself: ICMP ([`icmp`]) and
//! ARP ([`arp`]).
//!
//! Each protocol has a folder with its reference model (what a router does to a packet, and what its
//! slow path computes between packets), the slow-path task that runs it on the chip's core, the
//! module of the [feedback coprocessor](feedback), the keys of project files, and its text in
//! summaries. [`registry`] lists all of them, for loading projects. To add a protocol, add a folder,
//! its `pub mod` and a line in [`registry`].
//!
//! The models do not depend on a chip and use only integers, so results are the same on every
//! machine; microcode, tasks and the coprocessor are tested against them. Fractions are carried
//! exactly and rounded down once, at the end.
//!
//! ```
//! use npsim_protocols::quick_start::{GrantPool, RequestOutcome, process};
//!
//! // Room for 1 Gbit/s in units of 40 kbit/s; the request asks for 10.24 Mbit/s.
//! let mut pool = GrantPool { limit: 25_000, granted: 0 };
//! let mut header = [
//!     0x47, 0, 0, 0x30, 0x12, 0x34, 0x40, 0, 0x40, 6, 0x8b, 0x09, 10, 0, 0, 1, 10, 1, 0, 2, // IPv4
//!     0x19, 8, 8, 0x64, 0x56, 0x97, 0x0f, 0x84, // rate request, code 8
//! ];
//! assert_eq!(process(&mut header, &mut pool, 0), RequestOutcome::Approve);
//! assert_eq!(pool.granted, 256);
//! ```

pub mod arp;
pub mod checksum;
pub mod feedback;
pub mod icmp;
mod job;
mod keys;
mod parameter;
mod queue_lengths;
pub mod quick_start;
pub mod rcp;
pub mod round_trip;
pub mod routed_reply;
pub mod srp;
pub mod thread_counters;
pub mod time;
pub mod xcp;

use npsim_project::registry::Registry;

pub use parameter::ParameterError;

/// Returns the registry with everything that this crate adds to projects, and what projects have
/// without it.
#[must_use]
pub fn registry() -> Registry {
    let registry = Registry::default()
        .with_task(quick_start::keys::QuickStartKind)
        .with_task(xcp::keys::XcpKind)
        .with_task(rcp::keys::RcpKind)
        .with_task(srp::keys::SrpKind)
        .with_task(arp::keys::ArpKind)
        .with_task(icmp::keys::IcmpKind)
        .with_device(feedback::keys::CoprocessorKind);
    npsim_xscale::with_program(registry)
}
