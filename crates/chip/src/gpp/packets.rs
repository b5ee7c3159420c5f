//! How a task of the core gets at packets, makes them and sends them.
//!
//! A packet lies in a buffer as the microcode has it: DRAM for its bytes, a descriptor in
//! SRAM for what is known of it, a handle (the descriptor's longword address) that stands
//! for both. A task takes a buffer off the free list, or keeps that of a packet that was
//! [offered](super::Task::offer) to it, writes bytes and descriptor, and puts the handle
//! on a scratch ring from which a microengine takes it. The core stores one longword at a
//! time: a message to microengines is one longword, `port << 24 | handle`, and all else
//! stands in the [`Descriptor`].
//!
//! Each access takes its share of buses and units, and lasts as the profile says: a Q-array
//! operation or a burst of up to eight longwords of SRAM `sram_access`, 32 bytes of DRAM
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

/// Bytes of one DRAM access of the core.
pub(super) const DRAM_ACCESS_BYTES: u32 = 32;
/// Longwords of a descriptor that the core may write: all but the link.
const MOST_WORDS: usize = 7;

/// Fields of the descriptor of a packet between microcode and core: the
/// longwords behind the link, of which a descriptor of four has the first three.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Descriptor {
    /// Bytes of the frame, without its check sequence.
    pub length: u32,
    /// The port on which it came.
    pub input: u32,
    /// The port by which it leaves, in bits 31-24.
    pub output: u32,
    /// Index in the table of next hops.
    pub next_hop: u32,
}

impl Descriptor {
    /// What the descriptor of a packet says that was offered to a task.
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

    /// The longwords from the one behind the link on; what the core does not know is 0.
    const fn words(&self) -> [u32; MOST_WORDS] {
        let Self {
            length,
            input,
            output,
            next_hop,
        } = *self;
        [length, input, output, next_hop, 0, 0, 0]
    }
}

/// Reasons for which one task of the core offers a packet to the others. Those of the
/// microcode are numbered from 0 on.
pub mod reason {
    /// The first of them: microcode has those below.
    pub const FIRST: u8 = TOO_BIG;
    /// The next hop does not answer.
    pub const NO_HOST: u8 = 255;
    /// The packet was made by the core, and its next hop is not known yet.
    pub const NO_WAY: u8 = 254;
    /// The packet's time to live is over.
    pub const EXPIRED: u8 = 253;
    /// The packet is larger than the next hop's MTU.
    pub const TOO_BIG: u8 = 252;
}

/// Where a task takes buffers and what it sends them by.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct PacketSender {
    /// The scratch ring from which a microengine takes packets of the core.
    pub ring: u8,
    /// Buffers, and the free list.
    pub buffers: BufferSetup,
}

impl PacketSender {
    /// Takes a buffer: its handle, if one is free, and how long it takes.
    pub fn take(&self, access: &mut Access<'_>) -> (Option<u32>, Cycle) {
        let buffers = &self.buffers;
        let taken = access.sram.dequeue(buffers.channel, buffers.entry);
        let waited = access.sram.core_dequeue(buffers.channel, access.fabric);
        // Above the handle stand the bits of the link.
        let handle = taken.map_or(0, |link| link & 0x00ff_ffff);
        ((handle != 0).then_some(handle), access.costs.sram + waited)
    }

    /// Puts a buffer back; gives how long it takes.
    pub fn free(&self, handle: u32, access: &mut Access<'_>) -> Cycle {
        let BufferSetup { channel, entry, .. } = self.buffers;
        if !access.enqueue(channel, entry, handle) {
            access.fault(format!(
                "the core gives back buffer 0x{handle:06x}: the free list of channel {channel} entry {entry} cannot take it"
            ));
        }
        access.costs.sram + access.sram.core_enqueue(channel, access.fabric)
    }

    /// Reads bytes of a packet from `from` on, at most to the end of its buffer; gives
    /// them and how long it takes.
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

    /// Writes bytes of a packet from `from` on, at most to the end of its buffer; gives
    /// how long it takes.
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
            access.tell_written(MemoryName::Dram, at, longwords as usize);
            lasts += access.costs.dram + waited;
        }
        lasts
    }

    /// Writes what is to be known of a packet; gives how long it takes.
    pub fn describe(&self, handle: u32, descriptor: &Descriptor, access: &mut Access<'_>) -> Cycle {
        let words = descriptor.words();
        let room = (self.buffers.descriptor_longwords.saturating_sub(1) as usize).min(MOST_WORDS);
        let place = LongwordAddress {
            space: Space::Sram(self.buffers.channel),
            address: handle << 2,
        };
        access.write(place.after(4), &words[..room])
    }

    /// Sends a packet by a port: looks whether the ring has room and puts the packet onto
    /// it. Says whether it had, and how long both take; without room the buffer is the
    /// task's still.
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

/// A packet on its way out: its bytes are written, then its descriptor, then it is sent, an
/// access after the other.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Outgoing {
    /// The packet's buffer.
    pub handle: u32,
    /// The bytes that are written, from the beginning of the frame on.
    pub bytes: Vec<u8>,
    /// Where it goes; its length may be greater than what is written.
    pub descriptor: Descriptor,
    stage: OutgoingStage,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum OutgoingStage {
    Write,
    Describe,
    Send,
}

/// The stage that an outgoing packet has reached.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SendOutcome {
    /// There is more to do.
    UnderWay,
    /// A microengine will find it.
    Sent,
    /// The ring had no room; the buffer is the task's still.
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

    /// Makes the next access: its purpose, the packet's stage, and how long
    /// it takes.
    pub fn step(
        &mut self,
        sender: &PacketSender,
        access: &mut Access<'_>,
    ) -> (&'static str, SendOutcome, Cycle) {
        match self.stage {
            OutgoingStage::Write => {
                self.stage = OutgoingStage::Describe;
                let lasts = sender.write(self.handle, 0, &self.bytes, access);
                ("write the packet", SendOutcome::UnderWay, lasts)
            }
            OutgoingStage::Describe => {
                self.stage = OutgoingStage::Send;
                let lasts = sender.describe(self.handle, &self.descriptor, access);
                ("write the descriptor", SendOutcome::UnderWay, lasts)
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

/// The chip stops: the core was given what it cannot use. `help` says what it should be given.
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

/// Accesses of the core to DRAM: address and bytes of each, none beyond a line of its
/// cache.
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
    /// The chip stops: the core was given what it cannot use.
    fn fault(&mut self, message: String) {
        raise(self.fabric, message, None);
    }
}

#[cfg(test)]
mod tests {
    use super::parts;

    #[test]
    fn an_access_to_dram_stays_within_a_line() {
        let all = |address, bytes| parts(address, bytes).collect::<Vec<_>>();
        assert_eq!(all(0, 70), [(0, 32), (32, 32), (64, 6)]);
        assert_eq!(all(14, 20), [(14, 18), (32, 2)]);
        assert_eq!(all(64, 32), [(64, 32)]);
        assert_eq!(all(5, 0), []);
    }
}
