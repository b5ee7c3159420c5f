//! Route lookups by the core in the table that microengines use: the same walk, one access at a
//! time.

use serde::{Deserialize, Serialize};

use super::access::{Access, LongwordAddress};
use super::boot::{RoutesSetup, Space};
use super::routes::{LOCAL, MORE, NEXT_HOP_LONGWORDS};
use crate::Cycle;

/// The location of the routing table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct TablePlace {
    /// The root block.
    pub root: LongwordAddress,
    /// The table of next hops.
    pub next_hops: LongwordAddress,
}

impl TablePlace {
    /// The table's location as set up for the task `routes`.
    #[must_use]
    pub const fn of(setup: &RoutesSetup) -> Self {
        let space = Space::Sram(setup.channel);
        Self {
            root: LongwordAddress {
                space,
                address: setup.root,
            },
            next_hops: LongwordAddress {
                space,
                address: setup.next_hops,
            },
        }
    }
}

/// The destination of packets to an address, from the table.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RouteEntry {
    /// Index in the table of next hops.
    pub index: u32,
    /// The next hop as stored there ([`NextHop::words`](super::routes::NextHop::words)).
    pub words: [u32; NEXT_HOP_LONGWORDS],
}

impl RouteEntry {
    /// The output port.
    #[must_use]
    pub const fn port(&self) -> u8 {
        self.words[0] as u8
    }

    /// The largest IP packet, in bytes.
    #[must_use]
    pub const fn mtu(&self) -> u16 {
        (self.words[0] >> 16) as u16
    }

    /// Whether packets to it leave the router: it is neither the router itself nor discarded.
    #[must_use]
    pub const fn leaves_router(&self) -> bool {
        self.words[0] & 0xff00 == 0
    }

    /// Whether it stands for a next hop whose link-layer address is still to be resolved: marked as
    /// local, but with an address.
    #[must_use]
    pub const fn is_unresolved(&self) -> bool {
        self.words[0] >> 8 & LOCAL != 0 && (self.words[1] | self.words[2] >> 16) != 0
    }

    /// Destination and source address of the Ethernet header.
    #[must_use]
    pub fn link(&self) -> [u8; 12] {
        let mut bytes = [0; 12];
        for (to, word) in bytes.chunks_exact_mut(4).zip(&self.words[1..]) {
            to.copy_from_slice(&word.to_be_bytes());
        }
        bytes
    }
}

/// The result of one access of a lookup.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum LookupStep {
    /// Another access is needed.
    Pending,
    /// There is no route.
    NoRoute,
    /// The next hop.
    Hop(RouteEntry),
}

/// A lookup in progress: at most three reads of the trie and one of the next hop.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lookup {
    table: TablePlace,
    address: u32,
    /// The entry to be read, or the next hop once `index` is known.
    at: LongwordAddress,
    /// Right shift that yields the address bits for the next block.
    shift: u8,
    index: u32,
}

impl Lookup {
    /// Begins a lookup of an address.
    #[must_use]
    pub const fn new(table: TablePlace, address: u32) -> Self {
        Self {
            table,
            address,
            at: table.root.after((address >> 16) * 4),
            shift: 8,
            index: 0,
        }
    }

    /// Makes an access. Returns its result and how long it takes.
    pub fn step(&mut self, access: &mut Access<'_>) -> (LookupStep, Cycle) {
        if self.index != 0 {
            let (words, lasts) = access.read(self.at);
            let index = self.index;
            return (LookupStep::Hop(RouteEntry { index, words }), lasts);
        }
        let ([entry], lasts) = access.read(self.at);
        if entry & MORE != 0 {
            let byte = self.address >> self.shift & 0xff;
            self.shift = 0;
            self.at = self.table.root.after((entry & !MORE) + byte * 4);
        } else if entry == 0 {
            return (LookupStep::NoRoute, lasts);
        } else {
            self.index = entry & 0xffff;
            let bytes = 4 * NEXT_HOP_LONGWORDS as u32;
            self.at = self.table.next_hops.after(self.index * bytes);
        }
        (LookupStep::Pending, lasts)
    }
}
