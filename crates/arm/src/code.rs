//! Decoded code, kept by pages of 512 instructions.

use std::collections::BTreeMap;
use std::fmt;

use crate::bus::{Bus, ByteOrder};
use crate::decode::{decode_arm, decode_thumb, registers_used};
use crate::instruction::{Condition, Instruction, Operation};
use crate::system::System;

/// The entries of a page.
const PAGE: usize = 512;

/// The places of the table that finds most pages without a search.
const RECENT: usize = 64;

/// An instruction, ready to be executed.
#[derive(Clone, Copy)]
pub struct Decoded {
    /// What it does.
    pub operation: Operation,
    /// When, or that the word was not yet decoded.
    pub condition: Condition,
    /// Whether it was decoded.
    known: bool,
    /// The registers that it reads or writes.
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

/// The decoded code of a processor, while it is not in use. A copy begins without, and all are equal: what is decoded
/// follows from memory.
#[derive(Default)]
pub struct Code(Option<Box<Pages>>);

impl Code {
    /// Takes the code for use, which [`Code::keep`] ends.
    pub fn take(&mut self) -> Box<Pages> {
        self.0.take().unwrap_or_default()
    }

    /// Keeps code for later use.
    pub fn keep(&mut self, pages: Box<Pages>) {
        self.0 = Some(pages);
    }
}

/// Decoded code in use.
pub struct Pages {
    kept: Vec<Page>,
    /// From the key of a page to its place.
    places: BTreeMap<u32, usize>,
    /// Pages found lately: key and place.
    recent: [(u32, usize); RECENT],
    /// The page found last.
    key: u32,
    place: usize,
}

/// The key of no page: Thumb and ARM differ in bit 0, bits 1 to 9 are clear.
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
    /// The instruction at an address, decoded now if it was not.
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

    /// Makes a page the one found last.
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

/// The instruction at an address, read from the bus.
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
