//! The routes without a table: which ones exist as changes are made, and how many blocks of the
//! table they need.

use std::collections::BTreeMap;

use super::changes::{Change, ChangeError, RouteChange, RoutePrefix};
use super::{NextHop, RouteError, RouteTable, mask};
use crate::gpp::boot::RouterRoutes;

/// Bits of an address that the root, and the blocks of the second level, resolve.
pub(super) const ROOT_BITS: u8 = 16;
pub(super) const SECOND_BITS: u8 = 24;

/// The table resources that routes and their changes need.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct TableNeeds {
    /// Blocks of the routes before the first change.
    pub initial_blocks: usize,
    /// Largest number of blocks in use at one time.
    pub peak_blocks: usize,
    /// Blocks that would be used if none were reused.
    pub blocks_without_reuse: usize,
    /// Number of different next hops.
    pub next_hops: usize,
}

impl TableNeeds {
    /// The maximum of the needs of two routers, for tables of equal size.
    #[must_use]
    pub fn most(self, other: Self) -> Self {
        Self {
            initial_blocks: self.initial_blocks.max(other.initial_blocks),
            peak_blocks: self.peak_blocks.max(other.peak_blocks),
            blocks_without_reuse: self.blocks_without_reuse.max(other.blocks_without_reuse),
            next_hops: self.next_hops.max(other.next_hops),
        }
    }
}

/// Computes the needs of a router's routes and their changes in a table with room for `room`
/// blocks.
///
/// # Errors
/// Returns the position in the list of a change that cannot be made, and why.
pub fn needs(
    router: &RouterRoutes,
    changes: &[RouteChange],
    room: usize,
) -> Result<TableNeeds, (usize, ChangeError)> {
    let mut rib = Rib::new(router).map_err(|error| (0, ChangeError::Route(error)))?;
    let first = rib.blocks();
    let mut needs = TableNeeds {
        initial_blocks: first,
        peak_blocks: first,
        blocks_without_reuse: first,
        next_hops: 0,
    };
    let mut before = 0;
    for (place, RouteChange { at, change }) in changes.iter().enumerate() {
        if *at < before {
            return Err((place, ChangeError::OutOfOrder));
        }
        before = *at;
        let takes = rib.takes(change);
        let needed = rib.blocks() + takes;
        rib.enter(change).map_err(|error| (place, error))?;
        if needed > room {
            return Err((place, ChangeError::Full { needed, room }));
        }
        needs.peak_blocks = needs.peak_blocks.max(needed);
        needs.blocks_without_reuse += takes;
    }
    needs.next_hops = rib.hops.len();
    Ok(needs)
}

/// The routes, without a table.
#[derive(Clone, Debug)]
pub(super) struct Rib {
    /// Index of the next hop by length and prefix.
    pub(super) routes: BTreeMap<(u8, u32), u16>,
    hops: BTreeMap<NextHop, u16>,
    /// Number of routes longer than 16 in each network of 16 bits, and longer than 24 in each of 24
    /// bits: each such network has a block.
    pub(super) deeper: BTreeMap<(u8, u32), u32>,
}

/// The result of entering a change.
pub(super) struct RibChange {
    /// Index of the next hop; 0 if a route was removed.
    pub(super) hop: u16,
    /// The next hop, if it is new.
    pub(super) new_hop: Option<NextHop>,
}

impl Rib {
    pub(super) fn new(router: &RouterRoutes) -> Result<Self, RouteError> {
        let routes = router.routes();
        let mut rib = Self {
            routes: BTreeMap::new(),
            hops: RouteTable::numbered(routes, router.reserved())?,
            deeper: BTreeMap::new(),
        };
        for route in routes {
            let network = route.network();
            let hop = rib.hops.get(&route.next_hop).copied().unwrap_or(0);
            // A route that is listed twice with the same next hop counts once.
            if rib
                .routes
                .insert((route.length, route.prefix), hop)
                .is_none()
            {
                rib.count(network, true);
            }
        }
        Ok(rib)
    }

    /// Number of blocks in use.
    pub(super) fn blocks(&self) -> usize {
        self.deeper.len()
    }

    /// The networks whose blocks a route needs.
    fn above(network: RoutePrefix) -> impl Iterator<Item = (u8, u32)> {
        [ROOT_BITS, SECOND_BITS]
            .into_iter()
            .filter(move |bits| network.length > *bits)
            .map(move |bits| (bits, network.prefix & mask(bits)))
    }

    fn count(&mut self, network: RoutePrefix, more: bool) {
        for key in Self::above(network) {
            let count = self.deeper.entry(key).or_default();
            if more {
                *count += 1;
            } else {
                *count -= 1;
                if *count == 0 {
                    self.deeper.remove(&key);
                }
            }
        }
    }

    /// Number of blocks that a change takes into use.
    pub(super) fn takes(&self, change: &Change) -> usize {
        match change {
            Change::Add(route) => Self::above(route.network())
                .filter(|key| !self.deeper.contains_key(key))
                .count(),
            Change::Redirect(_) | Change::Remove(_) => 0,
        }
    }

    fn hop(&mut self, next_hop: NextHop) -> Result<RibChange, ChangeError> {
        let new = match self.hops.get(&next_hop) {
            Some(&hop) => {
                return Ok(RibChange { hop, new_hop: None });
            }
            None => self.hops.len() + 1,
        };
        let hop =
            u16::try_from(new).map_err(|_| ChangeError::Route(RouteError::TooManyNextHops))?;
        self.hops.insert(next_hop, hop);
        let new_hop = Some(next_hop);
        Ok(RibChange { hop, new_hop })
    }

    pub(super) fn enter(&mut self, change: &Change) -> Result<RibChange, ChangeError> {
        let network = change.network();
        let key = (network.length, network.prefix);
        network.check().map_err(ChangeError::Route)?;
        let there = self.routes.contains_key(&key);
        match change {
            Change::Add(_) if there => Err(ChangeError::AlreadyExists(network)),
            Change::Redirect(_) | Change::Remove(_) if !there => {
                Err(ChangeError::NoSuchRoute(network))
            }
            Change::Add(route) => {
                let entered = self.hop(route.next_hop)?;
                self.routes.insert(key, entered.hop);
                self.count(network, true);
                Ok(entered)
            }
            Change::Redirect(route) => {
                let entered = self.hop(route.next_hop)?;
                self.routes.insert(key, entered.hop);
                Ok(entered)
            }
            Change::Remove(_) => {
                self.routes.remove(&key);
                self.count(network, false);
                let (hop, new_hop) = (0, None);
                Ok(RibChange { hop, new_hop })
            }
        }
    }

    /// The entry for packets to this address, from routes up to a length.
    pub(super) fn best(&self, address: u32, most: u8) -> TrieEntry {
        (0..=most)
            .rev()
            .find_map(|length| {
                let hop = self.routes.get(&(length, address & mask(length)))?;
                Some(TrieEntry::of(length, *hop))
            })
            .unwrap_or_default()
    }
}

/// The contents of a trie entry that leads to no block.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct TrieEntry {
    pub(super) word: u32,
    /// 1 + the length of its route; 0 if it has none.
    pub(super) owner: u8,
}

impl TrieEntry {
    pub(super) const fn of(length: u8, hop: u16) -> Self {
        Self {
            word: hop as u32,
            owner: length + 1,
        }
    }
}
