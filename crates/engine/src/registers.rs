//! The flat register file, and ranges of neighbouring registers in it.

use npsim_chip::kernel::snapshot::bits;
use npsim_isa::{Bank, Operand};
use serde::{Deserialize, Serialize};

use npsim_chip::kernel::fabric::TransferKind;

pub(crate) const A: u16 = 0;
pub(crate) const B: u16 = 128;
pub(crate) const S_IN: u16 = 256;
pub(crate) const D_IN: u16 = 384;
pub(crate) const S_OUT: u16 = 512;
pub(crate) const D_OUT: u16 = 640;
pub(crate) const NN: u16 = 768;
/// Slots in a file of transfer registers.
pub(crate) const TRANSFER_FILE: usize = 128;
/// Temporaries for operands that are not plain registers.
pub(crate) const TEMP_A: u16 = 896;
pub(crate) const TEMP_B: u16 = 897;
pub(crate) const TEMP_D: u16 = 898;
/// Slot for results without a destination.
pub(crate) const SINK: u16 = 899;
/// Constants 0-255 at their own slots, so that they are read like registers.
pub(crate) const CONSTANT: u16 = 1024;
/// `KEEP + m`: the longword mask of the bytes not selected by byte enables `m`.
pub(crate) const KEEP: u16 = 1280;
/// Number of slots in the file; a power of two, so that an index is masked rather than checked.
pub(crate) const SLOTS: usize = 2048;
/// Marks a slot as relative to the running context.
pub(crate) const RELATIVE: u16 = 0x8000;

/// Creates a file with its constants in place.
pub(crate) fn new_file() -> [u32; SLOTS] {
    let mut file = [0; SLOTS];
    for k in 0..256 {
        file[CONSTANT as usize + k] = k as u32;
    }
    for mask in 0..16_u32 {
        file[KEEP as usize + mask as usize] = !byte_mask(mask as u8);
    }
    file
}

/// For `#[serde(with)]` of a file: omits the constants, which are the same in every file.
pub(crate) mod saved_file {
    use super::{CONSTANT, SLOTS, new_file};
    use npsim_chip::kernel::snapshot::stamp::registers;
    use serde::{Deserialize, Deserializer, Serialize, Serializer};

    const WRITTEN: usize = CONSTANT as usize;

    #[derive(Serialize, Deserialize)]
    struct WrittenBits(#[serde(with = "serde_big_array::BigArray")] [u32; WRITTEN]);

    pub fn serialize<S: Serializer>(file: &[u32; SLOTS], to: S) -> Result<S::Ok, S::Error> {
        let mut written = WrittenBits([0; WRITTEN]);
        written.0.copy_from_slice(&file[..WRITTEN]);
        registers::serialize(&written, to)
    }

    pub fn deserialize<'de, D: Deserializer<'de>>(from: D) -> Result<[u32; SLOTS], D::Error> {
        let written: WrittenBits = registers::deserialize(from)?;
        let mut file = new_file();
        file[..WRITTEN].copy_from_slice(&written.0);
        Ok(file)
    }
}

/// The longword mask of four byte enables, bit 3 the most significant byte.
pub(crate) fn byte_mask(enables: u8) -> u32 {
    (0..4)
        .filter(|byte| enables & 1 << byte != 0)
        .map(|byte| 0xff << (8 * byte))
        .sum()
}

/// The flat base of the file that units push to or pull from.
pub(crate) const fn transfer_file(kind: TransferKind, incoming: bool) -> u16 {
    match (kind, incoming) {
        (TransferKind::S, true) => S_IN,
        (TransferKind::D, true) => D_IN,
        (TransferKind::S, false) => S_OUT,
        (TransferKind::D, false) => D_OUT,
    }
}

/// The slot that an operand reads; `limit` is the number of context-relative registers. `None` for
/// operands that are not plain registers.
pub(crate) fn source_slot(operand: Operand, limit: u8) -> Option<u16> {
    let relative = |file: u16, n: u8| RELATIVE | (file + u16::from(n % limit));
    Some(match operand {
        Operand::None => CONSTANT,
        Operand::Gpr(Bank::A, n) => relative(A, n),
        Operand::Gpr(Bank::B, n) => relative(B, n),
        Operand::GprAbsolute(Bank::A, n) => A + u16::from(n & 127),
        Operand::GprAbsolute(Bank::B, n) => B + u16::from(n & 127),
        Operand::STransfer(n) => relative(S_IN, n),
        Operand::DTransfer(n) => relative(D_IN, n),
        Operand::Nn(n) => relative(NN, n),
        Operand::Constant(k) => CONSTANT + u16::from(k),
        _ => return None,
    })
}

/// The slot that an operand writes.
pub(crate) fn destination_slot(operand: Operand, limit: u8) -> Option<u16> {
    let relative = |file: u16, n: u8| RELATIVE | (file + u16::from(n % limit));
    match operand {
        Operand::None => Some(SINK),
        Operand::STransfer(n) => Some(relative(S_OUT, n)),
        Operand::DTransfer(n) => Some(relative(D_OUT, n)),
        Operand::Nn(_) | Operand::Constant(_) => None,
        _ => source_slot(operand, limit),
    }
}

/// A slot with the context's base applied.
#[inline]
pub(crate) const fn resolve(slot: u16, base: u16) -> usize {
    let relative = (slot as i16 >> 15) as u16;
    ((slot & !RELATIVE) + (base & relative)) as usize & (SLOTS - 1)
}

/// The set of slots that have ever been written.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Initialised(#[serde(with = "bits")] [u64; SLOTS / 64]);

impl Initialised {
    pub fn new() -> Self {
        let mut bits = [0; SLOTS / 64];
        bits[NN as usize / 64..].fill(u64::MAX);
        Self(bits)
    }

    pub fn mark(&mut self, slot: usize) {
        self.0[slot / 64] |= 1 << (slot % 64);
    }

    pub fn has(&self, slot: usize) -> bool {
        self.0[slot / 64] & 1 << (slot % 64) != 0
    }

    /// Whether all of the given neighbouring slots have been written.
    #[inline]
    pub fn has_all(&self, slots: SlotMask) -> bool {
        !self.0[slots.word()] & slots.bits == 0
    }

    /// Marks neighbouring slots.
    #[inline]
    pub fn mark_all(&mut self, slots: SlotMask) {
        self.0[slots.word()] |= slots.bits;
    }
}

/// Neighbouring slots as bits of a single word, which is enough for nearly all commands.
#[derive(Clone, Copy, Debug)]
pub(crate) struct SlotMask {
    word: u16,
    pub bits: u64,
}

impl SlotMask {
    /// No slots.
    pub const NONE: Self = Self { word: 0, bits: 0 };

    /// One slot.
    #[inline]
    pub const fn one(slot: u16) -> Self {
        Self {
            word: slot / 64,
            bits: 1 << (slot % 64),
        }
    }

    /// Up to 63 slots; `None` if their bits span two words, or the slots wrap in their file.
    #[inline]
    pub fn new(first: u16, words: u8) -> Option<Self> {
        let shift = usize::from(first) % 64;
        (shift + usize::from(words) <= 64).then(|| Self {
            word: first / 64,
            bits: ((1 << (words & 63)) - 1) << shift,
        })
    }

    /// The index of the word, for bitmaps of slots.
    #[inline]
    pub fn word(self) -> usize {
        usize::from(self.word) % (SLOTS / 64)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn restored_register_file_has_its_constants() {
        #[derive(Serialize, Deserialize)]
        struct SavedRegisters(#[serde(with = "saved_file")] [u32; SLOTS]);

        let mut file = new_file();
        for (slot, word) in file.iter_mut().enumerate().take(usize::from(CONSTANT)) {
            *word = slot as u32 * 77;
        }
        let bytes = postcard::to_allocvec(&SavedRegisters(file)).unwrap();
        let again: SavedRegisters = postcard::from_bytes(&bytes).unwrap();
        assert_eq!(again.0, file);
    }
}
