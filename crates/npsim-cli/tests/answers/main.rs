//! The answers of the general-purpose core as hosts would see them: captures go through the shipped
//! routers, and third-party packet readers parse the frames that come back: etherparse and, if
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
