//! Large memories in a saved state, stored as the pages that are not all zero.

use crate::kernel::memory::{PAGE, Paged};
use crate::kernel::port_io::PacketTag;
use crate::kernel::snapshot::SnapshotError;

/// The reason why a state cannot be restored.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum StateError {
    /// The bytes are not the output of [`Chip::save`](crate::chip::Chip::save).
    #[error("the state of the chip cannot be read: {0}")]
    Unreadable(#[from] SnapshotError),
    /// The bytes of a task, a device or another core are not the output of its `save`.
    #[error("the state of a part of the chip cannot be read: {0}")]
    UnreadablePart(#[from] postcard::Error),
    /// The state ends too early.
    #[error("the state of the chip ends too early")]
    Short,
    /// The state is followed by excess bytes.
    #[error("after the state of the chip there are {0} more bytes")]
    Long(usize),
    /// The state is from a chip with other units.
    #[error("it is the state of a chip with other {0}")]
    OtherChip(&'static str),
    /// The state's microengines are of a different kind of core.
    #[error("its microengines are of the core `{saved}`, and this chip's of the core `{own}`")]
    OtherCore {
        /// The kind that saved the state.
        saved: String,
        /// The kind of this chip.
        own: &'static str,
    },
}

/// A longword or tag in the serialized bytes of a page.
pub(crate) trait MemoryCell: Copy + Default + PartialEq {
    const BYTES: usize;
    fn put(self, out: &mut Vec<u8>);
    /// Reads a cell from exactly [`Self::BYTES`] bytes.
    fn get(bytes: &[u8]) -> Self;
}

impl MemoryCell for u32 {
    const BYTES: usize = 4;

    fn put(self, out: &mut Vec<u8>) {
        out.extend_from_slice(&self.to_le_bytes());
    }

    fn get(bytes: &[u8]) -> Self {
        Self::from_le_bytes(std::array::from_fn(|at| bytes[at]))
    }
}

impl MemoryCell for PacketTag {
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

/// Writes the pages that are not all zero: their count, then the number and content of each.
pub(crate) fn put_memory<T: MemoryCell>(memory: &Paged<T>, out: &mut Vec<u8>) {
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

pub(crate) fn get_memory<T: MemoryCell>(
    memory: &mut Paged<T>,
    rest: &mut &[u8],
) -> Result<(), StateError> {
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
