//! Changes of the routing table while packets flow: what the core writes, and in which
//! order.
//!
//! A reader goes from an entry of the root to a block and from there perhaps to another
//! (`route_lookup` of the microcode). Whenever it comes, what it finds has to be the way
//! before a change or the way after it. That follows from three rules:
//!
//! - a longword is written as a whole, and for each address one longword alone decides
//!   between before and after;
//! - a block and a next hop are written in full before the entry that leads to them;
//! - a block that nothing leads to any more stays as it is until nobody can be in it, and
//!   only then takes other entries. A next hop is never used for anything else: packets
//!   keep its number while they wait in queues.
//!
//! [`Ledger`] is the core's own copy of the table. It gives the writes of a change in
//! their order; [`super::Routes`] makes them, one access at a time. Free blocks are used
//! in the order in which they became free, so that which block is where follows from the
//! changes alone and not from when they were made.

use std::collections::{BTreeMap, VecDeque};
use std::fmt;
use std::net::Ipv4Addr;
use std::ops::Range;

use super::{
    BLOCK_ENTRIES, MORE, NEXT_HOP_LONGWORDS, NextHop, ROOT_ENTRIES, Route, RouteError, RouteTable,
    mask,
};
use crate::Cycle;
use crate::gpp::boot::RouterRoutes;

/// Longwords that the core writes in one access.
const BURST: usize = 8;
/// Bits of an address that the root and the blocks of the second level decide.
const ROOT_BITS: u8 = 16;
const SECOND_BITS: u8 = 24;

/// What a route leads packets for: no two routes have the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Network {
    /// Network address; bits below the prefix length must be zero.
    pub prefix: u32,
    /// Prefix length, 0-32.
    pub length: u8,
}

impl Network {
    /// Whether there can be a route to it.
    ///
    /// # Errors
    /// The length is longer than an address, or bits after the prefix are set.
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

impl fmt::Display for Network {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}/{}", Ipv4Addr::from_bits(self.prefix), self.length)
    }
}

/// A change of the routes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Change {
    /// A route that was not there.
    Add(Route),
    /// Another next hop for a route that is there.
    Redirect(Route),
    /// A route goes.
    Remove(Network),
}

impl Change {
    /// The route that it is about.
    #[must_use]
    pub const fn network(&self) -> Network {
        match self {
            Self::Add(route) | Self::Redirect(route) => route.network(),
            Self::Remove(network) => *network,
        }
    }
}

/// A change and when the core is told of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RouteChange {
    /// The cycle from which on the core can make it.
    pub at: Cycle,
    /// What changes.
    pub change: Change,
}

/// Why a change cannot be made.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ChangeError {
    /// It is no route.
    Route(RouteError),
    /// A route that is to be added is there.
    There(Network),
    /// A route that is to be changed or removed is not there.
    NotThere(Network),
    /// The change comes before the one in front of it.
    Early,
    /// So many blocks would be in use, and there is room for fewer.
    Full {
        /// Blocks that would be in use.
        needed: usize,
        /// Blocks that there are.
        room: usize,
    },
}

impl fmt::Display for ChangeError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Route(error) => error.fmt(f),
            Self::There(network) => write!(f, "the route {network} is there already"),
            Self::NotThere(network) => write!(f, "there is no route {network} at that time"),
            Self::Early => f.write_str("the change comes before the one in front of it"),
            Self::Full { needed, room } => write!(
                f,
                "the routing table is full: {needed} blocks would be in use, and there are {room}"
            ),
        }
    }
}

impl std::error::Error for ChangeError {}

/// The table that a write is to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// The trie.
    Trie,
    /// The next hops.
    NextHops,
}

/// One access of the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Write {
    /// Where to.
    pub table: Table,
    /// The first of its longwords, from the start of the table.
    pub first: usize,
    words: [u32; BURST],
    count: usize,
}

impl Write {
    fn new(table: Table, first: usize, words: &[u32]) -> Self {
        let mut all = [0; BURST];
        all[..words.len()].copy_from_slice(words);
        Self {
            table,
            first,
            words: all,
            count: words.len(),
        }
    }

    /// What it writes, up to eight longwords.
    #[must_use]
    pub fn words(&self) -> &[u32] {
        &self.words[..self.count]
    }

    /// Takes in one more longword, if it is the next of the same cache line.
    fn grow(&mut self, at: usize, word: u32) -> bool {
        let next = self.table == Table::Trie
            && at == self.first + self.count
            && at / BURST == self.first / BURST;
        if next {
            self.words[self.count] = word;
            self.count += 1;
        }
        next
    }
}

/// What the routes and their changes need of the table.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Needs {
    /// Blocks of the routes before the first change.
    pub first_blocks: usize,
    /// Blocks that are in use at one time, at most.
    pub most_blocks: usize,
    /// Blocks that would be used if each was used once.
    pub all_blocks: usize,
    /// Different next hops.
    pub next_hops: usize,
}

impl Needs {
    /// What two routers need whose tables are as large.
    #[must_use]
    pub fn most(self, other: Self) -> Self {
        Self {
            first_blocks: self.first_blocks.max(other.first_blocks),
            most_blocks: self.most_blocks.max(other.most_blocks),
            all_blocks: self.all_blocks.max(other.all_blocks),
            next_hops: self.next_hops.max(other.next_hops),
        }
    }
}

/// What a router's routes and their changes need of a table with room for so many blocks.
///
/// # Errors
/// A change cannot be made: its place in the list.
pub fn needs(
    router: &RouterRoutes,
    changes: &[RouteChange],
    room: usize,
) -> Result<Needs, (usize, ChangeError)> {
    let mut book = Book::new(router).map_err(|error| (0, ChangeError::Route(error)))?;
    let first = book.blocks();
    let mut needs = Needs {
        first_blocks: first,
        most_blocks: first,
        all_blocks: first,
        next_hops: 0,
    };
    let mut before = 0;
    for (place, RouteChange { at, change }) in changes.iter().enumerate() {
        if *at < before {
            return Err((place, ChangeError::Early));
        }
        before = *at;
        let takes = book.takes(change);
        let needed = book.blocks() + takes;
        book.enter(change).map_err(|error| (place, error))?;
        if needed > room {
            return Err((place, ChangeError::Full { needed, room }));
        }
        needs.most_blocks = needs.most_blocks.max(needed);
        needs.all_blocks += takes;
    }
    needs.next_hops = book.hops.len();
    Ok(needs)
}

/// The routes, without a table.
#[derive(Clone, Debug)]
struct Book {
    /// Index of the next hop by length and prefix.
    routes: BTreeMap<(u8, u32), u16>,
    hops: BTreeMap<NextHop, u16>,
    /// How many routes are longer than 16 in a network of 16 bits, and longer than 24
    /// in one of 24: each network has a block.
    deeper: BTreeMap<(u8, u32), u32>,
}

/// What entering a change came to.
struct Entered {
    /// Index of the next hop; 0 where a route went.
    hop: u16,
    /// The next hop, if it is new.
    new_hop: Option<NextHop>,
}

impl Book {
    fn new(router: &RouterRoutes) -> Result<Self, RouteError> {
        let routes = router.routes();
        let mut book = Self {
            routes: BTreeMap::new(),
            hops: RouteTable::numbered(routes, router.reserved())?,
            deeper: BTreeMap::new(),
        };
        for route in routes {
            let network = route.network();
            let hop = book.hops.get(&route.next_hop).copied().unwrap_or(0);
            // One that is given twice with the same next hop counts once.
            if book
                .routes
                .insert((route.length, route.prefix), hop)
                .is_none()
            {
                book.count(network, true);
            }
        }
        Ok(book)
    }

    /// Blocks in use.
    fn blocks(&self) -> usize {
        self.deeper.len()
    }

    /// The networks whose blocks a route needs.
    fn above(network: Network) -> impl Iterator<Item = (u8, u32)> {
        [ROOT_BITS, SECOND_BITS]
            .into_iter()
            .filter(move |bits| network.length > *bits)
            .map(move |bits| (bits, network.prefix & mask(bits)))
    }

    fn count(&mut self, network: Network, more: bool) {
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

    /// Blocks that a change takes into use.
    fn takes(&self, change: &Change) -> usize {
        match change {
            Change::Add(route) => Self::above(route.network())
                .filter(|key| !self.deeper.contains_key(key))
                .count(),
            Change::Redirect(_) | Change::Remove(_) => 0,
        }
    }

    fn hop(&mut self, next_hop: NextHop) -> Result<Entered, ChangeError> {
        let new = match self.hops.get(&next_hop) {
            Some(&hop) => {
                return Ok(Entered { hop, new_hop: None });
            }
            None => self.hops.len() + 1,
        };
        let hop =
            u16::try_from(new).map_err(|_| ChangeError::Route(RouteError::TooManyNextHops))?;
        self.hops.insert(next_hop, hop);
        let new_hop = Some(next_hop);
        Ok(Entered { hop, new_hop })
    }

    fn enter(&mut self, change: &Change) -> Result<Entered, ChangeError> {
        let network = change.network();
        let key = (network.length, network.prefix);
        network.check().map_err(ChangeError::Route)?;
        let there = self.routes.contains_key(&key);
        match change {
            Change::Add(_) if there => Err(ChangeError::There(network)),
            Change::Redirect(_) | Change::Remove(_) if !there => {
                Err(ChangeError::NotThere(network))
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
                Ok(Entered { hop, new_hop })
            }
        }
    }

    /// What an entry has that packets for this address find, of routes up to a length.
    fn best(&self, address: u32, most: u8) -> Entry {
        (0..=most)
            .rev()
            .find_map(|length| {
                let hop = self.routes.get(&(length, address & mask(length)))?;
                Some(Entry::of(length, *hop))
            })
            .unwrap_or_default()
    }
}

/// What an entry of the trie that leads to no block has.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
struct Entry {
    word: u32,
    /// 1 + the length of its route; 0 without one.
    owner: u8,
}

impl Entry {
    const fn of(length: u8, hop: u16) -> Self {
        Self {
            word: hop as u32,
            owner: length + 1,
        }
    }
}

/// The table as the core keeps it beside the one in SRAM.
#[derive(Clone, Debug)]
pub struct Ledger {
    book: Book,
    /// As it stands in SRAM.
    trie: Vec<u32>,
    /// Of each longword of the trie 1 + the length of the route that it has, or 0.
    owners: Vec<u8>,
    /// The blocks that nothing leads to, first longword each, in the order in which they
    /// became free.
    free: VecDeque<usize>,
}

impl Ledger {
    /// The table of a router's routes, with room for so many blocks in all, at least those of
    /// the routes.
    ///
    /// # Errors
    /// There are too many next hops.
    pub fn new(router: &RouterRoutes, room: usize) -> Result<Self, RouteError> {
        let mut sorted = router.routes().to_vec();
        sorted.sort_by_key(|route| (route.length, route.prefix));
        let mut trie = router.table().trie().to_vec();
        let used = trie.len();
        trie.resize(used.max(ROOT_ENTRIES + room * BLOCK_ENTRIES), 0);
        let mut ledger = Self {
            book: Book::new(router)?,
            owners: vec![0; trie.len()],
            free: (used..trie.len()).step_by(BLOCK_ENTRIES).collect(),
            trie,
        };
        // Shorter prefixes first: a longer one then overwrites its part.
        for route in &sorted {
            let network = route.network();
            let hop = ledger.book.best(route.prefix, route.length).word as u16;
            let (entry, entries) = (Entry::of(route.length, hop), ledger.entries(network));
            ledger.cover(
                entries,
                |owner| owner <= entry.owner,
                entry,
                &mut Vec::new(),
            );
        }
        Ok(ledger)
    }

    /// The trie as it is, or will be when all writes are made.
    #[must_use]
    pub fn trie(&self) -> &[u32] {
        &self.trie
    }

    /// How many routes there are.
    #[must_use]
    pub fn routes(&self) -> usize {
        self.book.routes.len()
    }

    /// How many blocks are in use.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.book.blocks()
    }

    /// How many blocks nothing leads to.
    #[must_use]
    pub fn free_blocks(&self) -> usize {
        self.free.len()
    }

    /// How many free blocks a change takes into use, the ones that became free first.
    #[must_use]
    pub fn takes(&self, change: &Change) -> usize {
        self.book.takes(change)
    }

    /// Makes a change: puts its writes behind `writes`, in the order in which they have
    /// to be made. Gives how many blocks are free when the last one is made.
    ///
    /// # Errors
    /// The change cannot be made; nothing has changed then.
    pub fn apply(
        &mut self,
        change: &Change,
        writes: &mut Vec<Write>,
    ) -> Result<usize, ChangeError> {
        let takes = self.book.takes(change);
        if takes > self.free.len() {
            return Err(ChangeError::Full {
                needed: self.blocks() + takes,
                room: self.blocks() + self.free.len(),
            });
        }
        let Entered { hop, new_hop } = self.book.enter(change)?;
        if let Some(next_hop) = new_hop {
            let first = usize::from(hop) * NEXT_HOP_LONGWORDS;
            writes.push(Write::new(Table::NextHops, first, &next_hop.words()));
        }
        let network = change.network();
        let own = Entry::of(network.length, hop);
        match change {
            Change::Add(_) => {
                self.add(network, own, writes);
                Ok(0)
            }
            Change::Redirect(_) => {
                let entries = self.entries(network);
                self.cover(entries, |owner| owner == own.owner, own, writes);
                Ok(0)
            }
            Change::Remove(_) => Ok(self.remove(network, writes)),
        }
    }

    fn add(&mut self, network: Network, own: Entry, writes: &mut Vec<Write>) {
        let (mut block, mut bits) = (0, ROOT_BITS);
        let mut new = Vec::new();
        let mut publish = None;
        while network.length > bits {
            let at = block + place(network.prefix, bits);
            block = if let Some(below) = self.block_at(at) {
                below
            } else {
                // There is one, as many as the change takes were counted.
                let Some(below) = self.free.pop_front() else {
                    return;
                };
                let (word, owner) = (self.trie[at], self.owners[at]);
                self.trie[below..below + BLOCK_ENTRIES].fill(word);
                self.owners[below..below + BLOCK_ENTRIES].fill(owner);
                let leads = MORE | (below * 4) as u32;
                if publish.is_none() {
                    publish = Some((at, leads));
                } else {
                    self.trie[at] = leads;
                }
                new.push(below);
                below
            };
            bits += 8;
        }
        let entries = covered(block, network, bits);
        let shorter = |owner| owner < own.owner;
        let Some((at, leads)) = publish else {
            self.cover(entries, shorter, own, writes);
            return;
        };
        self.cover(entries, shorter, own, &mut Vec::new());
        for below in new.into_iter().rev() {
            for first in (below..below + BLOCK_ENTRIES).step_by(BURST) {
                let words = &self.trie[first..first + BURST];
                writes.push(Write::new(Table::Trie, first, words));
            }
        }
        self.set(at, leads, writes);
    }

    /// Gives how many blocks became free.
    fn remove(&mut self, network: Network, writes: &mut Vec<Write>) -> usize {
        let (mut block, mut bits) = (0, ROOT_BITS);
        while network.length > bits {
            let at = block + place(network.prefix, bits);
            let needed = (bits, network.prefix & mask(bits));
            let Some(below) = self.block_at(at) else {
                return 0;
            };
            if !self.book.deeper.contains_key(&needed) {
                // Readers may still be in the blocks: they stay as they are.
                let entry = self.book.best(network.prefix, bits);
                let deeper = (network.length > SECOND_BITS && bits == ROOT_BITS)
                    .then(|| self.block_at(below + place(network.prefix, SECOND_BITS)))
                    .flatten();
                self.owners[at] = entry.owner;
                self.set(at, entry.word, writes);
                self.free.push_back(below);
                self.free.extend(deeper);
                return 1 + usize::from(deeper.is_some());
            }
            block = below;
            bits += 8;
        }
        // Everything that the route had falls to the next shorter one.
        let heir = match network.length {
            0 => Entry::default(),
            length => self.book.best(network.prefix, length - 1),
        };
        let entries = covered(block, network, bits);
        let owned = network.length + 1;
        self.cover(entries, |owner| owner == owned, heir, writes);
        0
    }

    /// The entries of a route in the block of its level.
    fn entries(&self, network: Network) -> Range<usize> {
        let (mut block, mut bits) = (0, ROOT_BITS);
        while network.length > bits
            && let Some(below) = self.block_at(block + place(network.prefix, bits))
        {
            block = below;
            bits += 8;
        }
        covered(block, network, bits)
    }

    /// The block to which an entry leads.
    fn block_at(&self, at: usize) -> Option<usize> {
        let word = self.trie[at];
        (word & MORE != 0).then_some(((word & !MORE) / 4) as usize)
    }

    /// Gives the entries with such owners, here and in the blocks below, another route.
    fn cover(
        &mut self,
        entries: Range<usize>,
        which: impl Fn(u8) -> bool + Copy,
        entry: Entry,
        writes: &mut Vec<Write>,
    ) {
        for at in entries {
            if let Some(below) = self.block_at(at) {
                self.cover(below..below + BLOCK_ENTRIES, which, entry, writes);
            } else if which(self.owners[at]) {
                self.owners[at] = entry.owner;
                self.set(at, entry.word, writes);
            }
        }
    }

    /// Writes an entry, if that is another longword.
    fn set(&mut self, at: usize, word: u32, writes: &mut Vec<Write>) {
        if self.trie[at] == word {
            return;
        }
        self.trie[at] = word;
        let grown = writes.last_mut().is_some_and(|last| last.grow(at, word));
        if !grown {
            writes.push(Write::new(Table::Trie, at, &[word]));
        }
    }
}

/// The entry of a block that decides the last bits of an address up to `bits`.
const fn place(address: u32, bits: u8) -> usize {
    let entries = if bits == ROOT_BITS {
        ROOT_ENTRIES
    } else {
        BLOCK_ENTRIES
    };
    (address >> (32 - bits as u32)) as usize % entries
}

/// The entries that a route has in a block which decides bits up to `bits`.
const fn covered(block: usize, network: Network, bits: u8) -> Range<usize> {
    let first = block + place(network.prefix, bits);
    first..first + (1 << (bits - network.length))
}

#[cfg(test)]
mod tests;
