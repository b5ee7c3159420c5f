//! ARP (RFC 826) in a router: it answers requests for its ports' addresses, learns from the messages
//! that it receives, and resolves next hops for which the project gives only the IPv4 address.
//!
//! [`message`] reads and makes frames; [`Neighbours`] holds the state of the next hops, the packets
//! waiting for them, and the times of requests. Neither depends on a chip. [`task`] is the slow-path
//! task.

pub(crate) mod keys;
pub mod message;
mod neighbours;
pub mod task;
mod words;

pub use neighbours::{DueWork, Neighbour, Neighbours};
