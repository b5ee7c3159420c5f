//! The state of a chip as bytes.
//!
//! [`Chip::save`] writes all that the past has left in the chip; what profile and
//! programs give again is not in it. [`Chip::restore`] therefore starts from a chip
//! that was made of the same profile, boot plan and programs, which the caller
//! has to make sure of. Running on gives the same as if nothing had happened.
//!
//! The bytes have no protection of their own and mean something only to the
//! version of this crate that wrote them.

use crate::chip::Chip;
use crate::kernel::lines::Tag;
use crate::kernel::memory::{PAGE, Paged};
use crate::microengine::Microengine;

/// Why a state cannot be restored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// It is not what [`Chip::save`] writes.
    #[error("the state of the chip cannot be read: {0}")]
    Unreadable(#[from] postcard::Error),
    /// It ends too early.
    #[error("the state of the chip ends too early")]
    Short,
    /// It goes on after its end.
    #[error("after the state of the chip there are {0} more bytes")]
    Long(usize),
    /// It is the state of a chip with other units.
    #[error("it is the state of a chip with other {0}")]
    OtherChip(&'static str),
}

/// A longword or a tag in the bytes of a page.
trait Cell: Copy + Default + PartialEq {
    const BYTES: usize;
    fn put(self, out: &mut Vec<u8>);
    /// From exactly [`Self::BYTES`] bytes.
    fn get(bytes: &[u8]) -> Self;
}

impl Cell for u32 {
    const BYTES: usize = 4;

    fn put(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }

    fn get(bytes: &[u8]) -> Self {
        Self::from_le_bytes(std::array::from_fn(|at| bytes[at]))
    }
}

impl Cell for Tag {
    const BYTES: usize = 16;

    fn put(self, out: &mut Vec<u8>) {
        for number in self.numbers() {
            out.extend_from_slice(&number.to_le_bytes());
        }
    }

    fn get(bytes: &[u8]) -> Self {
        let number = |from| u64::from_le_bytes(std::array::from_fn(|at| bytes[from + at]));
        Self::from_numbers([number(0), number(8)])
    }
}

/// The pages that are not all zero: how many, then number and content of each.
fn put_memory<T: Cell>(memory: &Paged<T>, out: &mut Vec<u8>) {
    let start = out.len();
    0u32.put(out);
    let mut count = 0u32;
    for (number, page) in memory.held_pages() {
        (number as u32).put(out);
        for value in page {
            value.put(out);
        }
        count += 1;
    }
    out[start..start + 4].copy_from_slice(&count.to_le_bytes());
}

fn get_memory<T: Cell>(memory: &mut Paged<T>, rest: &mut &[u8]) -> Result<(), StateError> {
    memory.clear();
    let count = u32::get(take(rest, 4)?);
    for _ in 0..count {
        let number = u32::get(take(rest, 4)?);
        let bytes = take(rest, PAGE * T::BYTES)?;
        let page = memory
            .page_mut(number as usize)
            .map_err(|_| StateError::OtherChip("memories"))?;
        for (value, bytes) in page.iter_mut().zip(bytes.chunks_exact(T::BYTES)) {
            *value = T::get(bytes);
        }
    }
    Ok(())
}

fn take<'a>(rest: &mut &'a [u8], bytes: usize) -> Result<&'a [u8], StateError> {
    let (taken, after) = rest.split_at_checked(bytes).ok_or(StateError::Short)?;
    *rest = after;
    Ok(taken)
}

impl Chip {
    /// The state as bytes.
    ///
    /// # Errors
    /// The encoder refuses, which no state makes it do.
    pub fn save(&self) -> Result<Vec<u8>, StateError> {
        let watched: Vec<_> = self.microengines.iter().map(Microengine::watched).collect();
        let (tasks, devices) = (self.gpp.save_tasks()?, self.sram.save_devices()?);
        let mut out = postcard::to_allocvec(&(self, watched, tasks, devices))?;
        for memory in self.sram.memories() {
            put_memory(memory, &mut out);
        }
        put_memory(&self.dram.memory, &mut out);
        put_memory(&self.dram.tags, &mut out);
        Ok(out)
    }

    /// Takes over a state that a chip of the same profile, boot plan and programs
    /// has saved.
    ///
    /// Nothing is set aside for more than the bytes hold, and a state that does
    /// not fit this chip is refused. It is not proven that the state is one that a
    /// chip can come to.
    ///
    /// # Errors
    /// The bytes are no state of such a chip; this chip is then as it was.
    pub fn restore(&mut self, state: &[u8]) -> Result<(), StateError> {
        type Saved = (Chip, Vec<[Vec<u8>; 8]>, Vec<Vec<u8>>, Vec<Vec<u8>>);
        let ((mut chip, watched, tasks, devices), mut rest) =
            postcard::take_from_bytes::<Saved>(state)?;
        let count = self.microengines.len();
        if chip.microengines.len() != count || watched.len() != count {
            return Err(StateError::OtherChip("microengines"));
        }
        if !chip.fabric.is_sound_beside(&self.fabric) {
            return Err(StateError::OtherChip("microengines, units or commands"));
        }
        chip.fabric.profile = self.fabric.profile.clone();
        for ((me, loaded), watched) in chip
            .microengines
            .iter_mut()
            .zip(&self.microengines)
            .zip(&watched)
        {
            me.complete(loaded, watched);
        }
        if !chip.sram.adopt_memories(&self.sram) {
            return Err(StateError::OtherChip("SRAM channels"));
        }
        chip.sram.restore_devices(&self.sram, &devices)?;
        chip.gpp.restore_tasks(&self.gpp, &tasks)?;
        chip.dram.memory = self.dram.memory.clone();
        chip.dram.tags = self.dram.tags.clone();
        for memory in chip.sram.memories_mut() {
            get_memory(memory, &mut rest)?;
        }
        get_memory(&mut chip.dram.memory, &mut rest)?;
        get_memory(&mut chip.dram.tags, &mut rest)?;
        if !rest.is_empty() {
            return Err(StateError::Long(rest.len()));
        }
        *self = chip;
        Ok(())
    }

    /// Bytes of all memories, which bound the size of a state together with
    /// what is in flight.
    #[must_use]
    pub fn memory_bytes(&self) -> u64 {
        let sram: usize = self.sram.memories().map(|memory| memory.len() * 4).sum();
        let dram = self.dram.memory.len() * 4 + self.dram.tags.len() * Tag::BYTES;
        (sram + dram) as u64
    }
}
