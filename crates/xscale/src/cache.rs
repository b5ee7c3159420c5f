//! A cache as a timing model: it records which lines are present, never their contents.
//!
//! Lines of 32 bytes, each in one set determined by its address, replaced round-robin.

use serde::{Deserialize, Serialize};

/// Bytes per line.
pub const LINE: u32 = 32;

/// How accesses to a program's own memory are modelled.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum CacheMode {
    /// Every access goes to DRAM; instruction fetches through two line buffers.
    None,
    /// Accesses go through an instruction cache and a data cache.
    #[default]
    Model,
    /// Every access hits.
    Perfect,
}

/// The lines present in a cache.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cache {
    ways: u32,
    sets: u32,
    /// The number of the line that each way of each set holds, with its lowest bit set; 0 for none.
    lines: Vec<u32>,
    /// Whether each line has been written, by the same indices.
    dirty: Vec<bool>,
    /// The way of each set to be replaced next.
    next: Vec<u32>,
    /// The way of each set that was found last; it only saves searching the others.
    #[serde(skip)]
    last: Vec<u32>,
}

impl Cache {
    /// An empty cache.
    #[must_use]
    pub fn new(bytes: u32, ways: u32) -> Self {
        let ways = ways.max(1);
        let sets = (bytes / LINE / ways).max(1);
        let lines = (sets * ways) as usize;
        Self {
            ways,
            sets,
            lines: vec![0; lines],
            dirty: vec![false; lines],
            next: vec![0; sets as usize],
            last: vec![0; sets as usize],
        }
    }

    /// Whether the line at an address is present. A write marks it dirty.
    #[inline]
    pub fn hit(&mut self, address: u32, write: bool) -> bool {
        let Some(at) = self.find(address) else {
            return false;
        };
        if self.last.is_empty() {
            self.last.resize(self.sets as usize, 0);
        }
        let set = self.place(address).0;
        self.last[set] = at as u32 % self.ways;
        self.dirty[at] |= write;
        true
    }

    /// Brings in the line at an address, which must not be present. Returns the address of the line to be written
    /// back to memory for it.
    pub fn fill(&mut self, address: u32, write: bool) -> Option<u32> {
        let (set, line) = self.place(address);
        let way = self.next[set];
        self.next[set] = (way + 1) % self.ways;
        let at = (set as u32 * self.ways + way) as usize;
        let old = self.lines[at];
        let write_back = (old != 0 && self.dirty[at]).then_some((old >> 1) * LINE);
        self.lines[at] = line;
        self.dirty[at] = write;
        write_back
    }

    fn find(&self, address: u32) -> Option<usize> {
        let (set, line) = self.place(address);
        let first = set * self.ways as usize;
        if let Some(last) = self.last.get(set) {
            let at = first + *last as usize;
            if self.lines[at] == line {
                return Some(at);
            }
        }
        let ways = &self.lines[first..][..self.ways as usize];
        Some(first + ways.iter().position(|held| *held == line)?)
    }

    fn place(&self, address: u32) -> (usize, u32) {
        let number = address / LINE;
        ((number % self.sets) as usize, number << 1 | 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every set as a list of lines, oldest first.
    struct Lists(Vec<Vec<(u32, bool)>>, usize);

    impl Lists {
        /// Whether the line is present, and otherwise the line to be written back.
        fn access(&mut self, address: u32, write: bool) -> (bool, Option<u32>) {
            let number = address / LINE;
            let sets = self.0.len() as u32;
            let set = &mut self.0[(number % sets) as usize];
            if let Some(found) = set.iter_mut().find(|(line, _)| *line == number) {
                found.1 |= write;
                return (true, None);
            }
            let gone = if set.len() == self.1 {
                Some(set.remove(0))
            } else {
                None
            };
            set.push((number, write));
            let written = gone.filter(|(_, dirty)| *dirty);
            (false, written.map(|(line, _)| line * LINE))
        }
    }

    #[test]
    fn cache_lines_are_replaced_round_robin() {
        let mut cache = Cache::new(1024, 4);
        let mut lists = Lists(vec![Vec::new(); 8], 4);
        let mut random = 1_u32;
        for _ in 0..20_000 {
            random = random.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
            let (address, write) = (random >> 20 & 0x7ff, random & 0x100 != 0);
            let hit = cache.hit(address, write);
            let back = if hit {
                None
            } else {
                cache.fill(address, write)
            };
            assert_eq!((hit, back), lists.access(address, write));
        }
    }
}
