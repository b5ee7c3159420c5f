//! Packets whose fate was worked out by hand, through whole routers: frames on the
//! lines of the shipped projects, bytes in to bytes out. A packet for the slow path
//! gets there as it came, with its reason.

mod bench;
mod checksum;
mod quick_start;
mod rcp;
mod xcp;
