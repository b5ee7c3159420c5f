//! ICMP (RFC 792) as a router sends it: what is said about packets that are not forwarded, and
//! answers to echo requests for the router's own addresses.
//!
//! [`rules`] decides whether anything may be said about a packet (RFC 1812, 4.3.2.7), [`TokenBucket`] how
//! often (4.3.2.8), [`message`] makes messages. None of them knows a chip. [`task`] is the slow-path
//! task that does it at the core's cost.

mod datagram;
pub(crate) mod keys;
mod limit;
pub mod message;
pub mod rules;
pub mod task;
mod words;

pub use datagram::{Datagram, ICMP, IPV4, LINK_HEADER};
pub use limit::TokenBucket;
