//! Initial contents of memory.

use npsim_image::{InitialLongword, MemorySpace};

use super::load_error::LoadError;
use super::space::Space;
use crate::units::dram::Dram;
use crate::units::scratch::Scratch;
use crate::units::sram::Sram;

/// Words placed in memory before the start.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MemoryImage {
    /// The memory.
    pub space: Space,
    /// Byte address in it (for SRAM: in the channel), a multiple of 4.
    pub address: u32,
    /// The longwords.
    pub words: Vec<u32>,
}

impl MemoryImage {
    /// An initial longword of a program.
    #[must_use]
    pub fn of_program(initial: &InitialLongword) -> Self {
        let (space, address) = match initial.space {
            MemorySpace::Scratch => (Space::Scratch, initial.address),
            MemorySpace::Dram => (Space::Dram, initial.address),
            MemorySpace::Sram => {
                let channel = (initial.address >> 30) as u8;
                (Space::Sram(channel), initial.address & 0x3fff_ffff)
            }
        };
        Self {
            space,
            address,
            words: vec![initial.value],
        }
    }
}

/// Writes an image to its memory, in no simulated time.
///
/// # Errors
/// Returns an error if part of it lies outside of memory or its address is not a multiple of 4.
pub(crate) fn load_image(
    image: &MemoryImage,
    scratch: &mut Scratch,
    sram: &mut Sram,
    dram: &mut Dram,
) -> Result<(), LoadError> {
    let missing = |address| LoadError::Memory {
        space: image.space,
        address,
    };
    if !image.address.is_multiple_of(4) {
        return Err(missing(image.address));
    }
    for (i, &word) in (0_u32..).zip(&image.words) {
        let address = image.address.wrapping_add(4 * i);
        let done = match image.space {
            Space::Scratch => scratch.write(address, word),
            Space::Sram(channel) if channel < 4 && address < 1 << 30 => {
                sram.write_word(u32::from(channel) << 30 | address, word)
            }
            Space::Sram(_) => false,
            Space::Dram => dram.write_word(address, word),
        };
        if !done {
            return Err(missing(address));
        }
    }
    Ok(())
}
