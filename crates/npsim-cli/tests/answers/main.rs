//! What the general-purpose core answers, as hosts would see it: captures go through the shipped
//! routers and what comes back is read by others' readers of packets, etherparse and, where it is
//! installed, tshark.

#[path = "../cli/harness.rs"]
#[allow(
    dead_code,
    reason = "the harness of another test, of which this one needs a part"
)]
mod harness;

mod arp;
mod capture;
mod icmp;
mod in_c;
mod in_rust;
mod probes;
mod saved;
mod tshark;
