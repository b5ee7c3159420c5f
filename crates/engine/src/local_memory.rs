//! Local memory and the registers that address it, including the delay of their writes.

use npsim_isa::{CONTEXTS, Context};
use serde::{Deserialize, Serialize};

use crate::operation::SpecialOperand;
use npsim_chip::Cycle;
use npsim_chip::core::{IndexName, IndexWrite};

/// A register whose writes through local CSRs take effect only some instructions later.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum PendingIndex {
    /// `LM_ADDR_0` or `LM_ADDR_1`, in longwords.
    Pointer(u8),
    /// `T_INDEX`, a register number.
    Transfer,
    /// `BYTE_INDEX`.
    Byte,
}

#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
struct StagedWrite {
    index: PendingIndex,
    value: u32,
    issued: Cycle,
    effective: Cycle,
}

/// The words, the pointers and the pending writes of the pointers.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct LocalMemory {
    pub words: Vec<u32>,
    /// Working copies of the running context, as longword addresses.
    pub pointers: [u32; 2],
    /// The pointers that each context gets back when it runs again.
    pub saved: [[u32; 2]; CONTEXTS as usize],
    /// Whether each pointer is shared by all contexts.
    pub global: [bool; 2],
    /// `T_INDEX` as a register number.
    pub transfer_index: u32,
    /// The cycle at which each pointer's value took effect, if it came from a write.
    effective: [Cycle; 2],
    pending: Vec<StagedWrite>,
}

impl LocalMemory {
    pub fn new(words: u16) -> Self {
        Self {
            words: vec![0; words as usize],
            pointers: [0; 2],
            saved: [[0; 2]; CONTEXTS as usize],
            global: [false; 2],
            transfer_index: 0,
            effective: [0; 2],
            // There is at most one write per cycle, pending for a gap of at most 16.
            pending: Vec::with_capacity(32),
        }
    }

    /// Starts a write at `now` that takes effect after `gap` instructions.
    pub fn write(&mut self, index: PendingIndex, value: u32, now: Cycle, gap: Cycle) {
        self.pending.push(StagedWrite {
            index,
            value,
            issued: now,
            effective: now + gap + 1,
        });
    }

    pub fn has_pending(&self) -> bool {
        !self.pending.is_empty()
    }

    /// The pending writes, in issue order.
    pub fn pending_writes(&self) -> impl Iterator<Item = IndexWrite> + '_ {
        self.pending.iter().map(|write| IndexWrite {
            index: match write.index {
                PendingIndex::Pointer(pointer) => IndexName::LocalMemory(pointer),
                PendingIndex::Transfer => IndexName::Transfer,
                PendingIndex::Byte => IndexName::Byte,
            },
            value: write.value,
            issued: write.issued,
            effective: write.effective,
        })
    }

    /// Whether a write of an index register is pending.
    #[cold]
    #[inline(never)]
    pub fn awaits(&self, index: PendingIndex) -> bool {
        self.pending.iter().any(|write| write.index == index)
    }

    /// Applies the writes that are due by `now`.
    #[inline(never)]
    pub fn commit(&mut self, now: Cycle, byte_index: &mut u32) {
        // Nearly always there is only one, and nothing has to be moved up.
        if let [write] = self.pending[..] {
            if write.effective <= now {
                self.pending.clear();
                self.take_effect(write, byte_index);
            }
            return;
        }
        let mut at = 0;
        while at < self.pending.len() {
            if self.pending[at].effective > now {
                at += 1;
                continue;
            }
            let write = self.pending.remove(at);
            self.take_effect(write, byte_index);
        }
    }

    #[inline]
    fn take_effect(&mut self, write: StagedWrite, byte_index: &mut u32) {
        match write.index {
            PendingIndex::Pointer(pointer) => {
                self.pointers[usize::from(pointer & 1)] = write.value;
                self.effective[usize::from(pointer & 1)] = write.effective;
            }
            PendingIndex::Transfer => self.transfer_index = write.value,
            PendingIndex::Byte => *byte_index = write.value,
        }
    }

    /// The longword index of an operand, which may lie beyond the memory; `None` if the operand is
    /// not in local memory.
    #[inline]
    pub fn place(&self, special: SpecialOperand) -> Option<usize> {
        let (pointer, offset) = match special {
            SpecialOperand::Local { pointer, offset } => (pointer, offset),
            SpecialOperand::LocalStep { pointer, .. } => (pointer, 0),
            _ => return None,
        };
        Some((self.pointers[usize::from(pointer & 1)] | u32::from(offset)) as usize & 1023)
    }

    /// The word at a pointer and an offset; `None` if there is none.
    #[inline]
    pub fn word_at(&mut self, (pointer, offset): (u8, u8)) -> Option<&mut u32> {
        let at = (self.pointers[usize::from(pointer & 1)] | u32::from(offset)) as usize & 1023;
        self.words.get_mut(at)
    }

    /// The word of an operand in local memory; `None` if there is none.
    #[inline]
    pub fn word(&self, special: SpecialOperand) -> Option<u32> {
        self.words.get(self.place(special)?).copied()
    }

    /// Writes the word of an operand in local memory, if it exists.
    #[inline]
    pub fn set_word(&mut self, special: SpecialOperand, value: u32) {
        let place = self.place(special);
        if let Some(word) = place.and_then(|at| self.words.get_mut(at)) {
            *word = value;
        }
    }

    /// Moves each pointer that is stepped by operands of one instruction, once.
    #[cold]
    pub fn step(&mut self, specials: [SpecialOperand; 3]) {
        let mut steps = [0; 2];
        for special in specials {
            if let SpecialOperand::LocalStep { pointer, step } = special {
                steps[usize::from(pointer & 1)] = i32::from(step);
            }
        }
        for (pointer, step) in self.pointers.iter_mut().zip(steps) {
            *pointer = pointer.wrapping_add_signed(step) & 1023;
        }
    }

    /// The cycle of a pending write to a pointer whose effect a use at this moment would miss. If
    /// the pointer's present value was itself still pending when the next was written, the use is
    /// part of a pipeline, which is sound.
    pub fn early(&self, pointer: u8) -> Option<Cycle> {
        let next = self
            .pending
            .iter()
            .find(|write| write.index == PendingIndex::Pointer(pointer))?;
        (self.effective[pointer as usize] <= next.issued).then_some(next.issued)
    }

    /// Applies all writes.
    pub fn commit_all_index_writes(&mut self, byte_index: &mut u32) {
        self.commit(Cycle::MAX, byte_index);
    }

    /// Saves the context's pointers, with all writes completed. Later writes treat the present values
    /// as if they had always been in effect.
    #[inline]
    pub fn swap_out(&mut self, context: Context) {
        debug_assert!(!self.has_pending(), "writes are in flight");
        self.effective = [0; 2];
        let context = context.index();
        if self.global == [false; 2] {
            self.saved[context] = self.pointers;
            return;
        }
        for pointer in 0..2 {
            if !self.global[pointer] {
                self.saved[context][pointer] = self.pointers[pointer];
            }
        }
    }

    /// Restores the context's pointers.
    #[inline]
    pub fn swap_in(&mut self, context: Context) {
        let context = context.index();
        if self.global == [false; 2] {
            self.pointers = self.saved[context];
            return;
        }
        for pointer in 0..2 {
            if !self.global[pointer] {
                self.pointers[pointer] = self.saved[context][pointer];
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use npsim_isa::Context;

    use super::{LocalMemory, PendingIndex};

    #[test]
    fn index_write_takes_effect_after_its_gap() {
        let (mut memory, mut byte) = (LocalMemory::new(640), 0);
        memory.write(PendingIndex::Pointer(0), 64, 10, 3);
        for now in 11..14 {
            memory.commit(now, &mut byte);
            assert_eq!(memory.pointers[0], 0);
            assert_eq!(memory.early(0), Some(10));
            assert_eq!(memory.early(1), None);
        }
        memory.commit(14, &mut byte);
        assert_eq!(memory.pointers[0], 64);
        assert_eq!(memory.early(0), None);
    }

    #[test]
    fn back_to_back_index_writes_are_pipelined() {
        let (mut memory, mut byte) = (LocalMemory::new(640), 0);
        for k in 0..4 {
            memory.write(PendingIndex::Pointer(1), 16 * (k + 1), 20 + u64::from(k), 3);
        }
        for k in 0..4 {
            memory.commit(24 + u64::from(k), &mut byte);
            assert_eq!(memory.pointers[1], 16 * (k + 1));
            assert_eq!(memory.early(1), None);
        }
    }

    #[test]
    fn local_memory_pointers_are_per_context_unless_global() {
        let mut memory = LocalMemory::new(640);
        memory.global[1] = true;
        memory.pointers = [5, 6];
        let (one, other) = (Context::FIRST, Context::LAST);
        memory.swap_out(one);
        memory.swap_in(other);
        assert_eq!(memory.pointers, [0, 6]);
        memory.pointers = [7, 8];
        memory.swap_out(other);
        memory.swap_in(one);
        assert_eq!(memory.pointers, [5, 8]);
    }
}
