//! ARP (RFC 826) as a router speaks it: it answers for its ports' addresses, learns from what it
//! hears, and asks for next hops of which the project knows the IPv4 address alone.
//!
//! [`message`] reads and makes frames; [`Neighbours`] is what is known of next hops, which packet
//! waits for which, and when a request is due. Neither knows a chip. [`task`] is the slow-path task.

pub(crate) mod keys;
pub mod message;
mod neighbours;
pub mod task;
mod words;

pub use neighbours::{DueWork, Neighbour, Neighbours};
