//! Memories, rings and queues.

use crate::inspect::Inspect;
use npsim_chip::units::hash::HashWidth;

/// A memory with its addresses as used by microcode.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Memory {
    /// The scratchpad, by byte addresses.
    Scratch,
    /// SRAM and the registers of devices beside it, by byte addresses with the channel
    /// in bits 31-30.
    Sram,
    /// DRAM, by byte addresses.
    Dram,
}

/// A scratch ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct RingView {
    /// The number, 0 to 15.
    pub number: u8,
    /// Byte address of its first longword in the scratchpad.
    pub address: u32,
    /// Its capacity in longwords.
    pub size: u32,
    /// The ring's status bit.
    pub status: bool,
    /// The longwords on it, oldest first.
    pub words: Vec<u32>,
}

/// A microengine's next-neighbour ring.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeighbourRing {
    /// The register, 0 to 127, of the next get.
    pub get: u8,
    /// The position of the next put.
    pub put: u8,
    /// The longwords that have arrived, oldest first.
    pub words: Vec<u32>,
    /// Longwords that were put and have not arrived.
    pub under_way: u8,
}

/// A Q-array entry that was loaded or used: a queue, a ring or a journal. The hardware does not
/// know which, so both views are provided.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct QueueView {
    /// SRAM channel.
    pub channel: u8,
    /// Number in the Q-array, 0 to 63.
    pub entry: u8,
    /// Packets or buffers of a queue, longwords of a ring or journal.
    pub count: u32,
    /// Head, tail and count longwords; `None` for those that are only in memory.
    pub descriptor: [Option<u32>; 3],
    /// As a queue: its buffers, first to last, as longword addresses in the
    /// channel; `None` if its head is only in memory.
    pub buffers: Option<Vec<u32>>,
    /// As a ring or journal: its longwords, oldest first.
    pub words: Vec<u32>,
}

impl Inspect<'_> {
    /// The longword at an address, whose lowest two bits are ignored; `None` if
    /// there is none.
    #[must_use]
    pub fn word(&self, memory: Memory, address: u32) -> Option<u32> {
        let units = &self.chip().units();
        match memory {
            Memory::Scratch => units.scratch.read(address),
            Memory::Sram => units.sram.read_word(address),
            Memory::Dram => units.dram.read_word(address & !3),
        }
    }

    /// Longwords from an address on; `None` if one of them does not exist.
    #[must_use]
    pub fn words(&self, memory: Memory, address: u32, count: u32) -> Option<Vec<u32>> {
        let each = (0..count).map(|at| {
            let address = address.checked_add(at.checked_mul(4)?)?;
            self.word(memory, address)
        });
        each.collect()
    }

    /// A scratch ring; `None` for numbers above 15.
    #[must_use]
    pub fn ring(&self, number: u8) -> Option<RingView> {
        if number > 15 {
            return None;
        }
        let scratch = &self.chip().units().scratch;
        let ring = scratch.ring(number);
        Some(RingView {
            number,
            address: ring.address(),
            size: ring.size(),
            status: ring.status(),
            words: scratch.ring_words(number).collect(),
        })
    }

    /// The scratch rings that were set up or used.
    pub fn rings(&self) -> impl Iterator<Item = RingView> + '_ {
        let used = |number: &u8| self.chip().units().scratch.ring(*number).is_used();
        (0..16).filter(used).filter_map(|number| self.ring(number))
    }

    /// The next-neighbour ring that a microengine reads.
    #[must_use]
    pub fn neighbour_ring(&self, me: u8) -> Option<NeighbourRing> {
        let ring = self.chip().fabric().nn_rings.get(usize::from(me))?;
        let core = self.chip().microengines().get(usize::from(me))?;
        let word = |at: u8| {
            // Addressed through the contexts' own registers, 16 apart.
            let (context, number) = (at / 16, at % 16);
            core.read_register(npsim_isa::Operand::Nn(number), context)
        };
        let words = (0..ring.available()).map(|at| word(ring.get.wrapping_add(at) % 128));
        Some(NeighbourRing {
            get: ring.get,
            put: ring.put,
            words: words.collect(),
            under_way: ring.occupied().saturating_sub(ring.available()),
        })
    }

    /// A Q-array entry; `None` if it does not exist.
    #[must_use]
    pub fn queue(&self, channel: u8, entry: u8) -> Option<QueueView> {
        let sram = &self.chip().units().sram;
        let it = sram.entry(channel, entry)?;
        Some(QueueView {
            channel,
            entry,
            count: it.count(),
            descriptor: it.descriptor(),
            buffers: sram.chain(channel, entry),
            words: sram.entry_words(channel, entry),
        })
    }

    /// The Q-array entries that were loaded or used.
    pub fn queues(&self) -> impl Iterator<Item = QueueView> + '_ {
        let used = self.chip().units().sram.entries_in_use();
        used.filter_map(|(channel, entry, _)| self.queue(channel, entry))
    }

    /// The hash unit's multipliers for 48, 64 and 128 bits.
    #[must_use]
    pub fn hash_multipliers(&self) -> [u128; 3] {
        let widths = [HashWidth::Bits48, HashWidth::Bits64, HashWidth::Bits128];
        widths.map(|width| self.chip().units().hash.multiplier(width))
    }
}
