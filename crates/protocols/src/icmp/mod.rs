//! ICMP (RFC 792) in a router: error messages about packets that are not forwarded, and answers to echo
//! requests for the router's own addresses.
//!
//! [`rules`] decides whether an error message about a packet is permitted (RFC 1812, 4.3.2.7),
//! [`TokenBucket`] limits their rate (4.3.2.8), [`message`] makes messages. None of them depends on a
//! chip. [`task`] is the slow-path task that does this at the core's cost.

mod datagram;
pub(crate) mod keys;
mod limit;
pub mod message;
pub mod rules;
pub mod task;
mod words;

pub use datagram::{Datagram, ICMP, IPV4, LINK_HEADER};
pub use limit::TokenBucket;
