//! Changes of the routing table while packets flow: the core's writes, and their order.
//!
//! A reader goes from an entry of the root to a block and possibly from there to another
//! (`route_lookup` of the microcode). Whenever it reads, the route it finds must be either the one
//! before a change or the one after it. Three rules ensure this:
//!
//! - a longword is written as a whole, and for each address a single longword decides between
//!   before and after;
//! - a block and a next hop are written in full before the entry that leads to them;
//! - a block that has become unreachable stays unchanged until no reader can be in it, and is
//!   reused only then. A next hop is never reused: packets keep its number while they wait in
//!   queues.
//!
//! [`FibWriter`] is the core's own copy of the table. It returns the writes of a change in order;
//! [`super::Routes`] makes them, one access at a time. Free blocks are used in the order in which
//! they became free, so the location of each block follows from the changes alone, regardless of
//! when they were made.

use std::collections::VecDeque;
use std::ops::Range;

use super::changes::{Change, ChangeError, RoutePrefix};
use super::rib::{ROOT_BITS, Rib, RibChange, SECOND_BITS, TrieEntry};
use super::{BLOCK_ENTRIES, MORE, NEXT_HOP_LONGWORDS, ROOT_ENTRIES, RouteError, mask};
use crate::gpp::boot::RouterRoutes;

/// Longwords that the core writes in one access.
const BURST: usize = 8;

/// The table that a write is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Table {
    /// The trie.
    Trie,
    /// The next hops.
    NextHops,
}

/// One access of the core.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TableWrite {
    /// The table written to.
    pub table: Table,
    /// Index of the first longword, from the start of the table.
    pub first: usize,
    words: [u32; BURST],
    count: usize,
}

impl TableWrite {
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

    /// The longwords to be written, up to eight.
    #[must_use]
    pub fn words(&self) -> &[u32] {
        &self.words[..self.count]
    }

    /// Adds one more longword, if it is the next in the same cache line.
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

/// The core's copy of the table in SRAM.
#[derive(Clone, Debug)]
pub struct FibWriter {
    rib: Rib,
    /// The trie as it is in SRAM.
    trie: Vec<u32>,
    /// For each longword of the trie, 1 + the length of the route that owns it, or 0.
    owners: Vec<u8>,
    /// The unreachable blocks, by first longword, in the order in which they became free.
    free: VecDeque<usize>,
}

impl FibWriter {
    /// The table of a router's routes, with room for `room` blocks in total, at least those of the
    /// routes.
    ///
    /// # Errors
    /// Returns an error if there are too many next hops.
    pub fn new(router: &RouterRoutes, room: usize) -> Result<Self, RouteError> {
        let mut sorted = router.routes().to_vec();
        sorted.sort_by_key(|route| (route.length, route.prefix));
        let mut trie = router.table().trie().to_vec();
        let used = trie.len();
        trie.resize(used.max(ROOT_ENTRIES + room * BLOCK_ENTRIES), 0);
        let mut fib = Self {
            rib: Rib::new(router)?,
            owners: vec![0; trie.len()],
            free: (used..trie.len()).step_by(BLOCK_ENTRIES).collect(),
            trie,
        };
        // Shorter prefixes first: a longer one then overwrites its part.
        for route in &sorted {
            let network = route.network();
            let hop = fib.rib.best(route.prefix, route.length).word as u16;
            let (entry, entries) = (TrieEntry::of(route.length, hop), fib.entries(network));
            fib.cover(
                entries,
                |owner| owner <= entry.owner,
                entry,
                &mut Vec::new(),
            );
        }
        Ok(fib)
    }

    /// The trie, as it is once all writes have been made.
    #[must_use]
    pub fn trie(&self) -> &[u32] {
        &self.trie
    }

    /// Number of routes.
    #[must_use]
    pub fn routes(&self) -> usize {
        self.rib.routes.len()
    }

    /// Number of blocks in use.
    #[must_use]
    pub fn blocks(&self) -> usize {
        self.rib.blocks()
    }

    /// Number of free blocks.
    #[must_use]
    pub fn free_blocks(&self) -> usize {
        self.free.len()
    }

    /// Number of free blocks that a change takes into use, in the order in which they became free.
    #[must_use]
    pub fn takes(&self, change: &Change) -> usize {
        self.rib.takes(change)
    }

    /// Makes a change: appends its writes to `writes`, in the order in which they have to be made.
    /// Returns the number of blocks that become free with the last one.
    ///
    /// # Errors
    /// Returns an error, with nothing changed, if the change cannot be made.
    pub fn apply(
        &mut self,
        change: &Change,
        writes: &mut Vec<TableWrite>,
    ) -> Result<usize, ChangeError> {
        let takes = self.rib.takes(change);
        if takes > self.free.len() {
            return Err(ChangeError::Full {
                needed: self.blocks() + takes,
                room: self.blocks() + self.free.len(),
            });
        }
        let RibChange { hop, new_hop } = self.rib.enter(change)?;
        if let Some(next_hop) = new_hop {
            let first = usize::from(hop) * NEXT_HOP_LONGWORDS;
            writes.push(TableWrite::new(Table::NextHops, first, &next_hop.words()));
        }
        let network = change.network();
        let own = TrieEntry::of(network.length, hop);
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

    fn add(&mut self, network: RoutePrefix, own: TrieEntry, writes: &mut Vec<TableWrite>) {
        let (mut block, mut bits) = (0, ROOT_BITS);
        let mut new = Vec::new();
        let mut publish = None;
        while network.length > bits {
            let at = block + place(network.prefix, bits);
            block = if let Some(below) = self.block_at(at) {
                below
            } else {
                // There is one, since the blocks that the change takes were counted.
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
                writes.push(TableWrite::new(Table::Trie, first, words));
            }
        }
        self.set(at, leads, writes);
    }

    /// Removes a route. Returns how many blocks became free.
    ///
    /// The walk descends one level at a time: the root by the first [`ROOT_BITS`] bits of the
    /// prefix, then a block for each further eight. `rib.deeper` has the prefixes, cut at a level,
    /// below which routes remain; the RIB has already removed this one. There are two cases:
    ///
    /// - No routes remain below an entry on the way: one write of that entry cuts off the block
    ///   below it, and the block below that if there is one.
    /// - The blocks stay in use: in the block of its level, each entry of the route gets that of
    ///   the next shorter route.
    fn remove(&mut self, network: RoutePrefix, writes: &mut Vec<TableWrite>) -> usize {
        let (mut block, mut bits) = (0, ROOT_BITS);
        while network.length > bits {
            let at = block + place(network.prefix, bits);
            let needed = (bits, network.prefix & mask(bits));
            let Some(below) = self.block_at(at) else {
                return 0;
            };
            if !self.rib.deeper.contains_key(&needed) {
                // Readers may still be in the blocks, so they stay unchanged.
                let entry = self.rib.best(network.prefix, bits);
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
        // All entries of the route fall to the next shorter one.
        let heir = match network.length {
            0 => TrieEntry::default(),
            length => self.rib.best(network.prefix, length - 1),
        };
        let entries = covered(block, network, bits);
        let owned = network.length + 1;
        self.cover(entries, |owner| owner == owned, heir, writes);
        0
    }

    /// The entries of a route in the block of its level.
    fn entries(&self, network: RoutePrefix) -> Range<usize> {
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

    /// Gives the entries whose owners satisfy `which`, here and in the blocks below, to another
    /// route.
    fn cover(
        &mut self,
        entries: Range<usize>,
        which: impl Fn(u8) -> bool + Copy,
        entry: TrieEntry,
        writes: &mut Vec<TableWrite>,
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

    /// Writes an entry if its longword differs.
    fn set(&mut self, at: usize, word: u32, writes: &mut Vec<TableWrite>) {
        if self.trie[at] == word {
            return;
        }
        self.trie[at] = word;
        let grown = writes.last_mut().is_some_and(|last| last.grow(at, word));
        if !grown {
            writes.push(TableWrite::new(Table::Trie, at, &[word]));
        }
    }
}

/// The entry of a block for the last bits of an address up to `bits`.
const fn place(address: u32, bits: u8) -> usize {
    let entries = if bits == ROOT_BITS {
        ROOT_ENTRIES
    } else {
        BLOCK_ENTRIES
    };
    (address >> (32 - bits as u32)) as usize % entries
}

/// The entries that a route covers in a block for the bits up to `bits`.
const fn covered(block: usize, network: RoutePrefix, bits: u8) -> Range<usize> {
    let first = block + place(network.prefix, bits);
    first..first + (1 << (bits - network.length))
}

#[cfg(test)]
mod tests;
