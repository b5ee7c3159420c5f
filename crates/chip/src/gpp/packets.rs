//! How a task of the core accesses, makes and sends packets.
//!
//! A packet is in a buffer, laid out as the microcode has it: its bytes in DRAM, its metadata in a
//! descriptor in SRAM, and a handle (the descriptor's longword address) that identifies both. A
//! task takes a buffer from the free list, or keeps that of a packet that was
//! [offered](super::Task::offer) to it, writes bytes and descriptor, and puts the handle on a
//! scratch ring that a microengine reads. The core stores one longword at a time: a message to
//! microengines is the longword `port << 24 | handle`, and everything else is in the
//! [`Descriptor`].
//!
//! Each access takes its share of buses and units, and lasts as long as the profile specifies: a
//! Q-array operation or a burst of up to eight longwords of SRAM `sram_access`, 32 bytes of DRAM
//! `dram_access`, a ring `ring_access`.

use serde::{Deserialize, Serialize};

use super::access::{Access, LongwordAddress};
use super::exception::Exception;
use super::space::Space;
use crate::Cycle;
use crate::kernel::buffers::BufferSetup;
use crate::kernel::check::Fault;
use crate::kernel::fabric::Fabric;
use crate::kernel::trace_event::MemoryName;

/// Bytes per DRAM access of the core.
pub(super) const DRAM_ACCESS_BYTES: u32 = 32;
/// Longwords of a descriptor that the core may write: all except the link.
const MAX_WORDS: usize = 7;

/// Fields of the descriptor of a packet exchanged between microcode and core: the longwords after
/// the link. A descriptor of four longwords has the first three.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Descriptor {
    /// Bytes of the frame, without its check sequence.
    pub length: u32,
    /// The port on which it arrived.
    pub input: u32,
    /// The port by which it leaves, in bits 31-24.
    pub output: u32,
    /// Index in the table of next hops.
    pub next_hop: u32,
}

impl Descriptor {
    /// The fields from the descriptor of a packet that was offered to a task.
    #[must_use]
    pub const fn of(packet: &Exception) -> Self {
        let [_, length, input, output] = packet.descriptor;
        Self {
            length,
            input,
            output,
            next_hop: 0,
        }
    }

    /// The longwords after the link; those that the core does not set are 0.
    const fn words(&self) -> [u32; MAX_WORDS] {
        let Self {
            length,
            input,
            output,
            next_hop,
        } = *self;
        [length, input, output, next_hop, 0, 0, 0]
    }
}

/// Reasons for which one task of the core offers a packet to the others. Those of the microcode are
/// numbered from 0.
pub mod reason {
    /// The lowest of them; microcode has those below.
    pub const FIRST: u8 = TOO_BIG;
    /// The next hop does not respond.
    pub const NO_HOST: u8 = 255;
    /// The packet was made by the core, and its next hop is not known yet.
    pub const UNRESOLVED: u8 = 254;
    /// The packet's time to live has expired.
    pub const EXPIRED: u8 = 253;
    /// The packet is larger than the next hop's MTU.
    pub const TOO_BIG: u8 = 252;
}

/// Where a task takes buffers from, and the ring by which it sends them.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PacketSender {
    /// The scratch ring from which a microengine takes the core's packets.
    pub ring: u8,
    /// The buffers and the free list.
    pub buffers: BufferSetup,
}

impl PacketSender {
    /// Takes a buffer. Returns its handle, if one is free, and how long it takes.
    pub fn take(&self, access: &mut Access<'_>) -> (Option<u32>, Cycle) {
        let buffers = &self.buffers;
        let taken = access.sram.dequeue(buffers.channel, buffers.entry);
        let waited = access.sram.core_dequeue(buffers.channel, access.fabric);
        // The bits above the handle belong to the link.
        let handle = taken.map_or(0, |link| link & 0x00ff_ffff);
        ((handle != 0).then_some(handle), access.costs.sram + waited)
    }

    /// Puts a buffer back. Returns how long it takes.
    pub fn free(&self, handle: u32, access: &mut Access<'_>) -> Cycle {
        let BufferSetup { channel, entry, .. } = self.buffers;
        if !access.enqueue(channel, entry, handle) {
            access.fault(format!(
                "the core gives back buffer 0x{handle:06x}: the free list of channel {channel} entry {entry} cannot take it"
            ));
        }
        access.costs.sram + access.sram.core_enqueue(channel, access.fabric)
    }

    /// Reads bytes of a packet from `from` on, up to the end of its buffer. Returns them and how
    /// long it takes.
    pub fn read(
        &self,
        handle: u32,
        from: u32,
        bytes: u32,
        access: &mut Access<'_>,
    ) -> (Vec<u8>, Cycle) {
        let bytes = bytes.min(self.buffers.size.saturating_sub(from));
        let address = self.buffers.data(handle).wrapping_add(from);
        let Some(read) = access.dram.read_bytes(address, bytes as usize) else {
            access.fault(format!(
                "the core reads buffer 0x{handle:06x} at DRAM address 0x{address:x}, which is not populated"
            ));
            return (Vec::new(), access.costs.dram);
        };
        let mut lasts = 0;
        for part in parts(address, bytes) {
            let waited = access.dram.core_read(part.0, part.1, access.fabric);
            lasts += access.costs.dram + waited;
        }
        (read, lasts)
    }

    /// Writes bytes of a packet from `from` on, up to the end of its buffer. Returns how long it
    /// takes.
    pub fn write(&self, handle: u32, from: u32, bytes: &[u8], access: &mut Access<'_>) -> Cycle {
        let room = self.buffers.size.saturating_sub(from) as usize;
        let bytes = &bytes[..bytes.len().min(room)];
        let address = self.buffers.data(handle).wrapping_add(from);
        let mut lasts = 0;
        for (at, count) in parts(address, bytes.len() as u32) {
            let first = (at - address) as usize;
            let part = &bytes[first..first + count as usize];
            let Some(waited) = access.dram.core_write(at, part, access.fabric) else {
                access.fault(format!(
                    "the core writes buffer 0x{handle:06x} at DRAM address 0x{at:x}, which is not populated"
                ));
                return lasts;
            };
            let longwords = (at + count).div_ceil(4) - at / 4;
            access.trace_written(MemoryName::Dram, at, longwords as usize);
            lasts += access.costs.dram + waited;
        }
        lasts
    }

    /// Writes a packet's descriptor. Returns how long it takes.
    pub fn describe(&self, handle: u32, descriptor: &Descriptor, access: &mut Access<'_>) -> Cycle {
        let words = descriptor.words();
        let room = (self.buffers.descriptor_longwords.saturating_sub(1) as usize).min(MAX_WORDS);
        let place = LongwordAddress {
            space: Space::Sram(self.buffers.channel),
            address: handle << 2,
        };
        access.write(place.after(4), &words[..room])
    }

    /// Sends a packet to a port: checks whether the ring has room and puts the packet on it.
    /// Returns whether there was room and how long both take; without room, the task still owns the
    /// buffer.
    pub fn send(&self, handle: u32, port: u8, access: &mut Access<'_>) -> (bool, Cycle) {
        let mut lasts = access.costs.ring + access.scratch.core_read(1, access.fabric);
        let ring = access.scratch.ring(self.ring);
        if ring.count() >= ring.size() {
            return (false, lasts);
        }
        let message = u32::from(port) << 24 | handle & 0x00ff_ffff;
        access.ring_put(self.ring, message);
        lasts += access.costs.ring + access.scratch.core_write_ring(access.fabric);
        (true, lasts)
    }
}

/// A packet being sent: its bytes are written, then its descriptor, then it is put on the ring, one
/// access after another.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outgoing {
    /// The packet's buffer.
    pub handle: u32,
    /// The bytes to be written, from the beginning of the frame.
    pub bytes: Vec<u8>,
    /// Its destination; its length may exceed the bytes written.
    pub descriptor: Descriptor,
    stage: OutgoingStage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum OutgoingStage {
    Write,
    Describe,
    Send,
}

/// The progress of an outgoing packet.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendOutcome {
    /// More accesses are needed.
    InProgress,
    /// The packet is on the ring to a microengine.
    Sent,
    /// The ring had no room; the task still owns the buffer.
    NoRoom,
}

impl Outgoing {
    /// A packet in a buffer.
    #[must_use]
    pub const fn new(handle: u32, bytes: Vec<u8>, descriptor: Descriptor) -> Self {
        Self {
            handle,
            bytes,
            descriptor,
            stage: OutgoingStage::Write,
        }
    }

    /// Makes the next access. Returns its purpose, the packet's progress, and how long it takes.
    pub fn step(
        &mut self,
        sender: &PacketSender,
        access: &mut Access<'_>,
    ) -> (&'static str, SendOutcome, Cycle) {
        match self.stage {
            OutgoingStage::Write => {
                self.stage = OutgoingStage::Describe;
                let lasts = sender.write(self.handle, 0, &self.bytes, access);
                ("write the packet", SendOutcome::InProgress, lasts)
            }
            OutgoingStage::Describe => {
                self.stage = OutgoingStage::Send;
                let lasts = sender.describe(self.handle, &self.descriptor, access);
                ("write the descriptor", SendOutcome::InProgress, lasts)
            }
            OutgoingStage::Send => {
                let port = (self.descriptor.output >> 24) as u8;
                let (sent, lasts) = sender.send(self.handle, port, access);
                let outcome = if sent {
                    SendOutcome::Sent
                } else {
                    SendOutcome::NoRoom
                };
                ("send the packet", outcome, lasts)
            }
        }
    }
}

/// Stops the chip because the core was given something unusable. `help` describes what is expected.
pub(super) fn raise(fabric: &mut Fabric, message: String, help: Option<String>) {
    fabric.checks.raise(Fault {
        check: None,
        cycle: fabric.now,
        me: None,
        context: None,
        pc: None,
        message,
        notes: Vec::new(),
        help,
        also: Vec::new(),
    });
}

/// The core's accesses to DRAM: address and bytes of each, none crossing a line of its cache.
fn parts(address: u32, bytes: u32) -> impl Iterator<Item = (u32, u32)> {
    let end = address.wrapping_add(bytes);
    let mut at = address;
    std::iter::from_fn(move || {
        let first = at;
        let line = first / DRAM_ACCESS_BYTES * DRAM_ACCESS_BYTES + DRAM_ACCESS_BYTES;
        at = line.min(end);
        (first < end).then_some((first, at - first))
    })
}

impl Access<'_> {
    /// Stops the chip because the core was given something unusable.
    fn fault(&mut self, message: String) {
        raise(self.fabric, message, None);
    }
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn dram_accesses_are_split_at_line_boundaries() {
        let all = |address, bytes| parts(address, bytes).collect::<Vec<_>>();
        assert_eq!(all(0, 70), [(0, 32), (32, 32), (64, 6)]);
        assert_eq!(all(14, 20), [(14, 18), (32, 2)]);
        assert_eq!(all(64, 32), [(64, 32)]);
        assert_eq!(all(5, 0), []);
    }
}
