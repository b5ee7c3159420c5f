//! A processor's accesses beyond longwords of scratch and SRAM: DRAM, rings, queues and the
//! registers behind the CSR proxy. Each access takes effect now, takes its share of buses and
//! units, and returns how long it takes.

use npsim_isa::cap_csr;

use super::access::{Access, LongwordAddress};
use crate::Cycle;
use crate::kernel::buffers::HANDLE;
use crate::kernel::check::{Check, Fault};
use crate::kernel::sideband::CsrBank;
use crate::kernel::trace_event::{MemoryName, TraceEvent};

impl Access<'_> {
    /// Reads a longword of DRAM in no simulated time; `None` if there is no memory.
    #[inline]
    #[must_use]
    pub fn dram_word(&self, address: u32) -> Option<u32> {
        self.dram.read_word(address)
    }

    /// Writes a longword of DRAM in no simulated time, as from a cache. Returns false if there is
    /// no memory.
    #[inline]
    pub fn set_dram_word(&mut self, address: u32, word: u32) -> bool {
        self.trace_written(MemoryName::Dram, address, 1);
        self.dram.write_word(address, word)
    }

    /// Returns how long it takes to read bytes of DRAM now, at most 32.
    pub fn dram_read(&mut self, address: u32, bytes: u32) -> Cycle {
        self.costs.dram + self.dram.core_read(address, bytes, self.fabric)
    }

    /// Writes a longword of DRAM that others may read. Returns how long it takes; `None` if there
    /// is no memory.
    pub fn dram_write(&mut self, address: u32, word: u32) -> Option<Cycle> {
        self.trace_written(MemoryName::Dram, address, 1);
        let bytes = word.to_be_bytes();
        let waited = self.dram.core_write(address & !3, &bytes, self.fabric)?;
        Some(self.costs.dram + waited)
    }

    /// Writes a cache line back to DRAM, which already has its contents: takes its share of bus and
    /// pins.
    pub fn dram_write_back(&mut self, address: u32) {
        if let Some(bytes) = self.dram.read_bytes(address, 32) {
            let _ = self.dram.core_write(address, &bytes, self.fabric);
        }
    }

    /// Takes a longword off a scratch ring. Returns it, 0 if the ring is empty, and how long it
    /// takes.
    pub fn ring_get(&mut self, ring: u8) -> (u32, Cycle) {
        let word = self.scratch.ring_get(ring, self.fabric);
        let waited = self.scratch.core_read(1, self.fabric);
        (word, self.costs.ring + waited)
    }

    /// Reports to observers that a longword taken off a ring is a packet that ended at the core.
    pub fn trace_exception(&mut self, entry: u32) {
        let (handle, reason) = (entry & HANDLE, (entry >> 24) as u8);
        let now = self.fabric.now;
        let trace = &mut self.fabric.trace;
        trace.record(now, || TraceEvent::Exception { handle, reason });
    }

    /// Whether a scratch ring is full, so that a put would overwrite its oldest longword.
    #[must_use]
    pub fn ring_is_full(&self, ring: u8) -> bool {
        let ring = self.scratch.ring(ring);
        ring.count() >= ring.size()
    }

    /// Whether a scratch ring is empty.
    #[must_use]
    pub fn ring_is_empty(&self, ring: u8) -> bool {
        self.scratch.ring(ring).is_empty()
    }

    /// Puts a longword on a scratch ring. Returns how long it takes.
    pub fn ring_store(&mut self, ring: u8, word: u32) -> Cycle {
        self.ring_put(ring, word);
        self.costs.ring + self.scratch.core_write_ring(self.fabric)
    }

    /// Takes a buffer off a queue. Returns it, 0 if the queue is empty, and how long it takes;
    /// `None` if there is no such queue or its links lead outside of memory.
    pub fn dequeue(&mut self, channel: u8, entry: u8) -> Option<(u32, Cycle)> {
        let taken = self.sram.dequeue(channel, entry)?;
        let waited = self.sram.core_dequeue(channel, self.fabric);
        Some((taken, self.costs.sram + waited))
    }

    /// Puts a buffer on a queue. Returns how long it takes; `None` if there is no such queue or no
    /// memory for the link.
    pub fn append_to_queue(&mut self, channel: u8, entry: u8, buffer: u32) -> Option<Cycle> {
        if !self.enqueue(channel, entry, buffer) {
            return None;
        }
        Some(self.costs.sram + self.sram.core_enqueue(channel, self.fabric))
    }

    /// Reads a longword of scratch or SRAM, or a device register, in no simulated time; `None` if
    /// there is neither.
    #[must_use]
    pub fn peek(&self, place: LongwordAddress) -> Option<u32> {
        place.peek_word(self.scratch, self.sram)
    }

    /// Reads a register behind the CSR proxy, one of those in [`cap_csr`]. Returns it and how long
    /// it takes; `None` if there is no register that the core can read.
    pub fn register(&mut self, address: u16) -> Option<(u32, Cycle)> {
        let own = self.cap.core_read(address);
        let own = own.or_else(|| self.scratch.read_csr(address));
        let value = own.or_else(|| self.hash.read_csr(address))?;
        Some((value, self.costs.ring))
    }

    /// Writes a register behind the CSR proxy. Returns how long it takes; `None` if there is no
    /// register that the core can write, or no thread to signal.
    pub fn set_register(&mut self, address: u16, value: u32) -> Option<Cycle> {
        let done = if address == cap_csr::INTERTHREAD_SIGNAL {
            self.cap.core_signal(value, self.fabric)
        } else {
            self.cap.core_write(address, value)
                || self.scratch.write_csr(address, value, self.fabric)
                || self.hash.write_csr(address, value, self.fabric)
        };
        done.then_some(self.costs.ring)
    }

    /// Stops the chip, unless the check is allowed. Returns whether it stops.
    pub fn stop(
        &mut self,
        check: Option<Check>,
        message: String,
        notes: Vec<String>,
        help: &str,
    ) -> bool {
        self.fabric.checks.raise(Fault {
            check,
            cycle: self.fabric.now,
            me: None,
            context: None,
            pc: None,
            message,
            notes,
            help: (!help.is_empty()).then(|| help.to_owned()),
            also: Vec::new(),
        });
        self.fabric.checks.stands()
    }
}
