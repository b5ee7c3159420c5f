//! Changes of the routes, and why one cannot be made.

use std::fmt;
use std::net::Ipv4Addr;

use super::{Route, RouteError, mask};
use crate::Cycle;

/// The prefix of a route; no two routes have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RoutePrefix {
    /// Network address; bits below the prefix length must be zero.
    pub prefix: u32,
    /// Prefix length, 0-32.
    pub length: u8,
}

impl RoutePrefix {
    /// Checks that a route can have this prefix.
    ///
    /// # Errors
    /// Returns an error if the length exceeds that of an address, or bits after the prefix are set.
    pub const fn check(self) -> Result<(), RouteError> {
        if self.length > 32 {
            return Err(RouteError::Length(self));
        }
        if self.prefix & !mask(self.length) != 0 {
            return Err(RouteError::HostBits(self));
        }
        Ok(())
    }
}

impl fmt::Display for RoutePrefix {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", Ipv4Addr::from_bits(self.prefix), self.length)
    }
}

/// A change of the routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// Adds a route that does not exist.
    Add(Route),
    /// Changes the next hop of an existing route.
    Redirect(Route),
    /// Removes a route.
    Remove(RoutePrefix),
}

impl Change {
    /// The prefix of the route that it affects.
    #[must_use]
    pub const fn network(&self) -> RoutePrefix {
        match self {
            Self::Add(route) | Self::Redirect(route) => route.network(),
            Self::Remove(network) => *network,
        }
    }
}

/// A change and when the core receives it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteChange {
    /// The cycle from which the core can make it.
    pub at: Cycle,
    /// The change.
    pub change: Change,
}

/// Why a change cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeError {
    /// The change's route is not valid.
    Route(RouteError),
    /// A route to be added already exists.
    AlreadyExists(RoutePrefix),
    /// A route to be changed or removed does not exist.
    NoSuchRoute(RoutePrefix),
    /// The change is earlier than the one before it.
    OutOfOrder,
    /// The chip has passed the cycle of the change.
    TooLate {
        /// The cycle of the change.
        at: Cycle,
        /// The cycle of the chip.
        now: Cycle,
    },
    /// The routing table takes no changes while the chip runs.
    Closed,
    /// There is no room for another next hop.
    TooManyNextHops {
        /// Number of next hops for which there is room.
        room: usize,
    },
    /// The blocks in use would exceed the room for them.
    Full {
        /// Number of blocks that would be in use.
        needed: usize,
        /// Number of blocks available.
        room: usize,
    },
}

impl fmt::Display for ChangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Route(error) => error.fmt(f),
            Self::AlreadyExists(network) => write!(f, "the route {network} already exists"),
            Self::NoSuchRoute(network) => write!(f, "there is no route {network} at that time"),
            Self::OutOfOrder => f.write_str("the change comes before the one in front of it"),
            Self::TooLate { at, now } => {
                write!(f, "the change is for cycle {at}, and the chip is at {now}")
            }
            Self::Closed => f.write_str("the routing table takes no changes while the chip runs"),
            Self::TooManyNextHops { room } => write!(
                f,
                "the table of next hops is full: there are places for {room}, and places are not reused"
            ),
            Self::Full { needed, room } => write!(
                f,
                "the routing table is full: {needed} blocks would be in use, and there are {room}"
            ),
        }
    }
}

impl std::error::Error for ChangeError {}
