//! Decoded code, cached in pages of 512 instructions.

use std::collections::BTreeMap;
use std::fmt;

use crate::bus::{Bus, ByteOrder};
use crate::decode::{decode_arm, decode_thumb, registers_used};
use crate::instruction::{Condition, Instruction, Operation};
use crate::system::System;

/// Number of instructions in a page.
const PAGE: usize = 512;

/// Number of entries in the table that finds most pages without a search.
const RECENT: usize = 64;

/// A decoded instruction, ready for execution.
#[derive(Clone, Copy)]
pub struct Decoded {
    /// The operation to execute.
    pub operation: Operation,
    /// The condition for execution.
    pub condition: Condition,
    /// Whether the instruction has been decoded.
    known: bool,
    /// Mask of the registers that it reads or writes.
    pub uses: u16,
}

impl Decoded {
    const UNKNOWN: Self = Self {
        operation: Operation::Undefined(0),
        condition: Condition::Always,
        known: false,
        uses: 0,
    };

    fn new(instruction: Instruction) -> Self {
        Self {
            uses: registers_used(&instruction.operation),
            operation: instruction.operation,
            condition: instruction.condition,
            known: true,
        }
    }
}

type Page = Box<[Decoded; PAGE]>;

/// The decoded code of a processor, while it is not executing. A clone starts empty, and all values are equal, since
/// decoded code follows from memory.
#[derive(Default)]
pub struct Code(Option<Box<Pages>>);

impl Code {
    /// Takes the code out for execution; [`Code::keep`] puts it back.
    pub fn take(&mut self) -> Box<Pages> {
        self.0.take().unwrap_or_default()
    }

    /// Puts code back for later use.
    pub fn keep(&mut self, pages: Box<Pages>) {
        self.0 = Some(pages);
    }
}

/// Decoded code during execution.
pub struct Pages {
    kept: Vec<Page>,
    /// Index of each page, by its key.
    places: BTreeMap<u32, usize>,
    /// Recently found pages: key and index.
    recent: [(u32, usize); RECENT],
    /// The key of the last page found.
    key: u32,
    place: usize,
}

/// A key that no page has: Thumb and ARM pages differ in bit 0, and bits 1 to 9 are clear.
const NONE: u32 = u32::MAX;

impl Default for Pages {
    fn default() -> Self {
        Self {
            kept: Vec::new(),
            places: BTreeMap::new(),
            recent: [(NONE, 0); RECENT],
            key: NONE,
            place: 0,
        }
    }
}

impl Clone for Code {
    fn clone(&self) -> Self {
        Self::default()
    }
}

impl PartialEq for Code {
    fn eq(&self, _: &Self) -> bool {
        true
    }
}

impl fmt::Debug for Code {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let pages = self.0.as_ref().map_or(0, |code| code.kept.len());
        write!(f, "{pages} pages")
    }
}

impl Pages {
    /// Returns the instruction at an address, decoding it on first use.
    #[inline(always)]
    pub fn fetch<B: Bus>(
        &mut self,
        bus: &mut B,
        system: &System,
        address: u32,
        thumb: bool,
        order: ByteOrder,
    ) -> Result<&Decoded, B::Refusal> {
        let shift = if thumb { 1 } else { 2 };
        let key = (address >> (shift + 9) << (shift + 9)) | u32::from(thumb);
        if key != self.key {
            self.find(key);
        }
        let at = (address >> shift) as usize % PAGE;
        if !self.kept[self.place][at].known {
            let decoded = Decoded::new(decode(bus, system, address, thumb, order)?);
            self.kept[self.place][at] = decoded;
        }
        Ok(&self.kept[self.place][at])
    }

    /// Makes a page the last one found.
    #[inline(never)]
    fn find(&mut self, key: u32) {
        let slot = &mut self.recent[((key >> 10) ^ (key << 5)) as usize % RECENT];
        if slot.0 != key {
            let pages = &mut self.kept;
            let place = *self.places.entry(key).or_insert_with(|| {
                pages.push(Box::new([Decoded::UNKNOWN; PAGE]));
                pages.len() - 1
            });
            *slot = (key, place);
        }
        (self.key, self.place) = *slot;
    }
}

/// Reads the instruction at an address from the bus and decodes it.
#[cold]
#[inline(never)]
pub fn decode<B: Bus>(
    bus: &mut B,
    system: &System,
    address: u32,
    thumb: bool,
    order: ByteOrder,
) -> Result<Instruction, B::Refusal> {
    let word = bus.code(system.translate(address))?;
    if !thumb {
        return Ok(decode_arm(word));
    }
    let first = address & 2 == 0;
    let high = first == (order == ByteOrder::Big);
    Ok(decode_thumb(if high {
        (word >> 16) as u16
    } else {
        word as u16
    }))
}
