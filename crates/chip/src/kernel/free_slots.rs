//! The set of free slots for commands in flight.
//!
//! The lowest free slot is always used next. The slot of a command therefore depends only on which
//! others are in use, and on no earlier history: if the same commands are in flight again, they
//! have the same slots again.

use std::num::NonZeroU64;

use serde::{Deserialize, Serialize};

use crate::kernel::command::CommandId;
use crate::kernel::snapshot::bits;

/// A set of slots.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub(crate) struct FreeSlots {
    /// Bit s: slot s is free. Few chips have more commands in flight than these.
    #[serde(with = "bits")]
    first: u64,
    /// Bit s % 64 of word s / 64 - 1: slot s is free.
    #[serde(with = "bits")]
    behind: Vec<u64>,
}

impl FreeSlots {
    /// The free slots among the first 64, which nearly all commands get, if any of them is free.
    #[inline]
    pub fn first(&self) -> Option<NonZeroU64> {
        NonZeroU64::new(self.first)
    }

    /// The lowest of these slots.
    #[inline]
    pub fn lowest(first: NonZeroU64) -> CommandId {
        CommandId(first.trailing_zeros())
    }

    /// Takes the lowest of the first 64 slots, given all of them that are free.
    #[inline]
    pub fn take_from(&mut self, first: NonZeroU64) -> CommandId {
        self.first = first.get() & (first.get() - 1);
        Self::lowest(first)
    }

    /// Takes the lowest free slot.
    #[inline]
    pub fn pop(&mut self) -> Option<CommandId> {
        match self.first() {
            Some(first) => Some(self.take_from(first)),
            None => self.pop_high(),
        }
    }

    #[inline(never)]
    fn pop_high(&mut self) -> Option<CommandId> {
        let (at, word) = (1..).zip(&mut self.behind).find(|(_, word)| **word != 0)?;
        let bit = word.trailing_zeros();
        *word &= *word - 1;
        Some(CommandId(at * 64 + bit))
    }

    /// Adds a slot that is not in the set.
    #[inline]
    pub fn push(&mut self, slot: CommandId) {
        if slot.0 < 64 {
            debug_assert_eq!(self.first >> slot.0 & 1, 0, "freed twice");
            self.first |= 1 << slot.0;
        } else {
            self.push_high(slot);
        }
    }

    #[inline(never)]
    fn push_high(&mut self, slot: CommandId) {
        let at = slot.0 as usize / 64 - 1;
        if at >= self.behind.len() {
            self.behind.resize(at + 1, 0);
        }
        debug_assert_eq!(self.behind[at] >> (slot.0 % 64) & 1, 0, "freed twice");
        self.behind[at] |= 1 << (slot.0 % 64);
    }

    fn words(&self) -> impl Iterator<Item = u64> {
        std::iter::once(self.first).chain(self.behind.iter().copied())
    }

    /// The number of free slots.
    pub fn len(&self) -> usize {
        self.words().map(|word| word.count_ones() as usize).sum()
    }

    /// All free slots, in ascending order.
    pub fn iter(&self) -> impl Iterator<Item = CommandId> {
        (0..).zip(self.words()).flat_map(|(at, word)| {
            (0..64)
                .filter(move |bit| word >> bit & 1 == 1)
                .map(move |bit| CommandId(at * 64 + bit))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::{CommandId, FreeSlots};

    #[test]
    fn lowest_free_slot_is_taken_first() {
        let mut free = FreeSlots::default();
        assert_eq!(free.pop(), None);
        for slot in [70, 3, 200, 64] {
            free.push(CommandId(slot));
        }
        assert_eq!(free.len(), 4);
        assert_eq!(free.pop(), Some(CommandId(3)));
        free.push(CommandId(0));
        let all: Vec<_> = free.iter().map(|slot| slot.0).collect();
        assert_eq!(all, [0, 64, 70, 200]);
        assert_eq!(
            [free.pop(), free.pop()],
            [Some(CommandId(0)), Some(CommandId(64))]
        );
        assert_eq!(free.len(), 2);
    }
}
