//! Which places of commands in flight are free.
//!
//! The lowest free place is always the next one. Which place a command has then
//! depends on which others are taken, and on nothing further back: where the same
//! commands are in flight again, they have the same places again.

use serde::{Deserialize, Serialize};

use crate::kernel::command::Slot;
use crate::quiescence::bits;

/// A set of places.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct FreeSlots {
    /// Bit s % 64 of longword s / 64: place s is free.
    #[serde(with = "bits")]
    words: Vec<u64>,
    len: usize,
}

impl FreeSlots {
    /// Takes the lowest place out.
    #[inline]
    pub fn pop(&mut self) -> Option<Slot> {
        let (at, word) = (0..).zip(&mut self.words).find(|(_, word)| **word != 0)?;
        let bit = word.trailing_zeros();
        *word &= *word - 1;
        self.len -= 1;
        Some(Slot(at * 64 + bit))
    }

    /// Adds a place that is not in it.
    #[inline]
    pub fn push(&mut self, slot: Slot) {
        let at = slot.0 as usize / 64;
        if at >= self.words.len() {
            self.words.resize(at + 1, 0);
        }
        debug_assert_eq!(self.words[at] >> (slot.0 % 64) & 1, 0, "freed twice");
        self.words[at] |= 1 << (slot.0 % 64);
        self.len += 1;
    }

    /// How many there are.
    pub const fn len(&self) -> usize {
        self.len
    }

    /// Whether there are as many as it says.
    pub fn is_whole(&self) -> bool {
        let count: u32 = self.words.iter().map(|word| word.count_ones()).sum();
        count as usize == self.len
    }

    /// All of them, the lowest first.
    pub fn iter(&self) -> impl Iterator<Item = Slot> + '_ {
        (0..).zip(&self.words).flat_map(|(at, word)| {
            (0..64)
                .filter(move |bit| word >> bit & 1 == 1)
                .map(move |bit| Slot(at * 64 + bit))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{FreeSlots, Slot};

    #[test]
    fn the_lowest_is_the_next() {
        let mut free = FreeSlots::default();
        assert_eq!(free.pop(), None);
        for slot in [70, 3, 200, 64] {
            free.push(Slot(slot));
        }
        assert_eq!(free.len(), 4);
        assert_eq!(free.pop(), Some(Slot(3)));
        free.push(Slot(0));
        let all: Vec<_> = free.iter().map(|slot| slot.0).collect();
        assert_eq!(all, [0, 64, 70, 200]);
        assert_eq!([free.pop(), free.pop()], [Some(Slot(0)), Some(Slot(64))]);
        assert_eq!(free.len(), 2);
    }
}
