//! A task's access to the memories, through their units and buses.
//!
//! An access takes effect at the cycle in which it is made and lasts as long as the profile
//! specifies, plus any wait for the command bus and the unit. A burst of up to eight longwords, a
//! cache line of the core, is one access.

use serde::{Deserialize, Serialize};

use super::exception::Exception;
use super::space::Space;
use super::{Costs, STATUS_WORDS};
use crate::Cycle;
use crate::kernel::fabric::Fabric;
use crate::kernel::trace_event::{
    Level, MemoryName, ProgramState, TraceEvent, TraceEventKind, Writer,
};
use crate::units::cap::Cap;
use crate::units::dram::Dram;
use crate::units::hash::Hash;
use crate::units::scratch::Scratch;
use crate::units::sram::{QueueEntry, Sram};

/// A longword of scratch or SRAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct LongwordAddress {
    /// Scratch or an SRAM channel.
    pub space: Space,
    /// Byte address in it, a multiple of 4.
    pub address: u32,
}

impl LongwordAddress {
    /// The longword this many bytes further.
    #[must_use]
    pub const fn after(self, bytes: u32) -> Self {
        Self {
            space: self.space,
            address: self.address.wrapping_add(bytes),
        }
    }

    /// The address of `thread`'s part of `group`, in a layout where each thread has `stride` bytes
    /// for each of `groups` groups, consecutively.
    #[must_use]
    pub const fn of_thread(self, thread: u16, groups: usize, group: usize, stride: u32) -> Self {
        self.after((thread as u32 * groups as u32 + group as u32) * stride)
    }

    /// The address as used by the SRAM unit, with the channel in bits 31-30.
    const fn in_channel(self, channel: u8) -> u32 {
        (channel as u32) << 30 | self.address & 0x3fff_fffc
    }

    /// The longword at this address; `None` if there is no memory.
    #[must_use]
    pub fn peek_word(self, scratch: &Scratch, sram: &Sram) -> Option<u32> {
        match self.space {
            Space::Scratch => scratch.read(self.address),
            Space::Sram(channel) => sram.read_word(self.in_channel(channel)),
            Space::Dram => None,
        }
    }

    /// Writes a longword in no simulated time. Returns false if there is no memory.
    pub fn put(self, word: u32, scratch: &mut Scratch, sram: &mut Sram) -> bool {
        match self.space {
            Space::Scratch => scratch.write(self.address, word),
            Space::Sram(channel) => sram.write_word(self.in_channel(channel), word),
            Space::Dram => false,
        }
    }
}

/// The memories of a chip, for inspection in no simulated time.
#[derive(Clone, Copy, Debug)]
pub struct Memories<'a> {
    /// Scratchpad.
    pub scratch: &'a Scratch,
    /// All SRAM channels.
    pub sram: &'a Sram,
}

impl Memories<'_> {
    /// A longword; `None` if there is no memory.
    #[must_use]
    pub fn peek_word(&self, place: LongwordAddress) -> Option<u32> {
        place.peek_word(self.scratch, self.sram)
    }
}

/// A task's view of the chip while it makes one access.
pub struct Access<'a> {
    /// Index of the task.
    pub(super) task: u16,
    pub(super) costs: &'a Costs,
    /// Threads that raised an interrupt.
    pub(super) status: &'a mut [[u32; STATUS_WORDS]; 2],
    pub(super) fabric: &'a mut Fabric,
    pub(super) scratch: &'a mut Scratch,
    pub(super) sram: &'a mut Sram,
    pub(super) dram: &'a mut Dram,
    pub(super) cap: &'a mut Cap,
    pub(super) hash: &'a mut Hash,
    /// Offers a packet to the other tasks at a cycle; returns whether one takes it.
    pub(super) offer: &'a mut dyn FnMut(&Exception, Cycle) -> bool,
}

impl Access<'_> {
    /// The current cycle.
    #[must_use]
    pub fn now(&self) -> Cycle {
        self.fabric.now
    }

    /// The costs of accesses and work.
    #[must_use]
    pub const fn costs(&self) -> &Costs {
        self.costs
    }

    /// Offers a packet to the other tasks. Returns whether one took it.
    pub fn offer(&mut self, packet: &Exception) -> bool {
        (self.offer)(packet, self.fabric.now)
    }

    /// Acknowledges the interrupts of all threads.
    pub(crate) fn acknowledge(&mut self) {
        *self.status = [[0; STATUS_WORDS]; 2];
    }

    /// Duration of an access to a memory without waiting.
    const fn lasts(&self, space: Space) -> Cycle {
        match space {
            Space::Scratch => self.costs.ring,
            Space::Sram(_) => self.costs.sram,
            Space::Dram => self.costs.dram,
        }
    }

    /// Reads up to eight longwords. Returns them and how long it takes. Unpopulated addresses read
    /// as 0; plans are checked before they start.
    pub fn read<const N: usize>(&mut self, place: LongwordAddress) -> ([u32; N], Cycle) {
        let words = std::array::from_fn(|word| self.peek_word(place, word));
        (words, self.read_cost(place, N))
    }

    /// Like [`Self::read`], for a number of longwords known only at run time.
    pub fn read_words(&mut self, place: LongwordAddress, count: usize) -> (Vec<u32>, Cycle) {
        let words = (0..count).map(|word| self.peek_word(place, word)).collect();
        (words, self.read_cost(place, count))
    }

    fn peek_word(&self, place: LongwordAddress, word: usize) -> u32 {
        let place = place.after(4 * word as u32);
        place.peek_word(self.scratch, self.sram).unwrap_or_default()
    }

    fn read_cost(&mut self, place: LongwordAddress, count: usize) -> Cycle {
        let waited = match place.space {
            Space::Scratch => self.scratch.core_read(count as u8, self.fabric),
            Space::Sram(channel) => self.sram.core_read(channel, count as u8, self.fabric),
            Space::Dram => 0,
        };
        self.lasts(place.space) + waited
    }

    /// Reports to observers that the task writes longwords now.
    #[inline]
    pub(super) fn trace_written(&mut self, memory: MemoryName, address: u32, words: usize) {
        if words > 0 && self.fabric.trace.wants(TraceEventKind::Written) {
            let by = Writer::Task(self.task);
            self.fabric.trace_written(memory, address, words, by);
        }
    }

    /// Puts a buffer on a queue. Returns false if that is not possible.
    pub(super) fn enqueue(&mut self, channel: u8, entry: u8, buffer: u32) -> bool {
        let queue = self.sram.entry(channel, entry);
        let link = queue.and_then(QueueEntry::next_link);
        let done = self.sram.enqueue(channel, entry, buffer);
        if let Some(link) = link.filter(|_| done) {
            self.trace_written(MemoryName::Sram(channel), link * 4, 1);
        }
        done
    }

    /// Puts a longword on a scratch ring.
    pub(super) fn ring_put(&mut self, ring: u8, word: u32) {
        let places = self.scratch.ring(ring).next_addresses(1);
        for address in places {
            self.trace_written(MemoryName::Scratch, address, 1);
        }
        self.scratch.ring_put(ring, word, self.fabric);
    }

    /// Writes up to eight longwords. Returns how long it takes.
    pub fn write(&mut self, place: LongwordAddress, words: &[u32]) -> Cycle {
        self.trace_written(place.space.name(), place.address, words.len());
        let waited = match place.space {
            Space::Scratch => self.scratch.core_write(place.address, words, self.fabric),
            Space::Sram(channel) => {
                let address = place.in_channel(channel);
                self.sram.core_write(address, words, self.fabric)
            }
            Space::Dram => 0,
        };
        self.lasts(place.space) + waited
    }

    /// Tests and sets bit 0. Returns the longword's old value and how long it takes.
    pub fn test_and_set(&mut self, place: LongwordAddress) -> (u32, Cycle) {
        self.change_bit(place, true)
    }

    /// Clears bit 0. Returns how long it takes.
    pub fn clear(&mut self, place: LongwordAddress) -> Cycle {
        self.change_bit(place, false).1
    }

    fn change_bit(&mut self, place: LongwordAddress, set: bool) -> (u32, Cycle) {
        self.change(place, |old| old & !1 | u32::from(set))
    }

    /// Changes a longword in an atomic operation. Returns its old value and how long it takes. DRAM
    /// has no such operations.
    pub fn change(&mut self, place: LongwordAddress, new: impl FnOnce(u32) -> u32) -> (u32, Cycle) {
        self.trace_written(place.space.name(), place.address, 1);
        let (old, waited) = match place.space {
            Space::Scratch => self.scratch.core_change(place.address, new, self.fabric),
            Space::Sram(channel) => {
                let address = place.in_channel(channel);
                self.sram.core_change(address, new, self.fabric)
            }
            Space::Dram => (0, 0),
        };
        (old, self.lasts(place.space) + waited)
    }

    /// Whether observers want the functions that a program runs.
    #[must_use]
    pub fn traces_functions(&self) -> bool {
        self.fabric.trace.wants(TraceEventKind::Function)
    }

    /// Reports to observers the activity of the task's program from a cycle on, now or later, with
    /// the function it is in and the depth of calls leading to it.
    pub fn trace_function(&mut self, at: Cycle, doing: ProgramState, depth: u16, function: u32) {
        let task = self.task;
        self.fabric.trace.record(at, || TraceEvent::Function {
            task,
            doing,
            depth,
            function,
        });
    }

    /// Reports to observers a value that the task keeps for one of its groups.
    pub fn trace_level(&mut self, group: usize, level: Level, value: i64) {
        let (task, group) = (self.task, group as u16);
        self.fabric
            .trace
            .record(self.fabric.now, || TraceEvent::Level {
                task,
                group,
                level,
                value,
            });
    }
}
