//! Packets whose outcome was worked out by hand, through whole routers: frames on the lines of the
//! shipped projects, bytes in to bytes out. A packet for the slow path arrives there unchanged,
//! with its reason.

mod bench;
mod checksum;
mod quick_start;
mod rcp;
mod xcp;
