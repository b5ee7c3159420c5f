//! The path of packet buffers: the context that took each buffer from its freelist, and the command
//! that last carried its handle.
//!
//! A handle is the longword address of the buffer's descriptor, in the low 24 bits of a longword on
//! a ring or of a queue command. Units report the handles that they carry, at the time of service.

use serde::{Deserialize, Serialize};

use crate::kernel::signal_source::SignalSource;

/// The bits of a longword that form a handle.
pub const HANDLE: u32 = 0x00ff_ffff;

/// Layout of the packet buffers, each of which has a descriptor in SRAM and space in DRAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BufferSetup {
    /// SRAM channel of the descriptors.
    pub channel: u8,
    /// Q-array entry of the free list.
    pub entry: u8,
    /// Longword address of the first descriptor in the channel; not 0, which would mean "no
    /// buffer".
    pub first_descriptor: u32,
    /// Longwords from one descriptor to the next.
    pub descriptor_longwords: u32,
    /// The number of buffers.
    pub count: u32,
    /// Size of a buffer in DRAM, in bytes.
    pub size: u32,
    /// A buffer's DRAM byte address is its descriptor's longword address
    /// shifted left by this.
    pub shift: u8,
}

impl BufferSetup {
    /// Longword address of buffer `index`'s descriptor.
    #[must_use]
    pub const fn descriptor(&self, index: u32) -> u32 {
        self.first_descriptor
            .wrapping_add(index.wrapping_mul(self.descriptor_longwords))
    }

    /// DRAM byte address of the buffer whose descriptor is at this longword address.
    #[must_use]
    pub const fn data(&self, descriptor: u32) -> u32 {
        descriptor.wrapping_shl(self.shift as u32)
    }
}

/// The recorded path of one buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BufferTrail {
    /// The issuer of the command that last took the buffer from its freelist; unknown if no packet had
    /// been handed to a context by then.
    pub taken: SignalSource,
    /// The issuer of the command that last carried the handle.
    pub last: SignalSource,
}

/// The packet buffers of a chip.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Buffers {
    setup: BufferSetup,
    ways: Vec<BufferTrail>,
    /// Whether a packet has been handed to a context.
    busy: bool,
}

impl Buffers {
    /// Creates the record with all buffers on their freelist.
    #[must_use]
    pub fn new(setup: BufferSetup) -> Self {
        Self {
            setup,
            ways: vec![BufferTrail::default(); setup.count as usize],
            busy: false,
        }
    }

    /// Records that a packet is handed to a context. Buffers taken before hold no packet: they fill
    /// a list that the microcode keeps for itself, where no search can find them.
    #[inline]
    pub(crate) fn packet_handed_over(&mut self) {
        self.busy = true;
    }

    /// The layout of the buffers, and the queue that they return to.
    #[must_use]
    pub fn setup(&self) -> &BufferSetup {
        &self.setup
    }

    /// The number of recorded buffers.
    pub(crate) fn count(&self) -> usize {
        self.ways.len()
    }

    /// The recorded path of each buffer, by index.
    #[must_use]
    pub fn ways(&self) -> &[BufferTrail] {
        &self.ways
    }

    /// The index of the buffer whose handle a longword may be.
    #[inline]
    #[must_use]
    pub fn number_of(&self, word: u32) -> Option<usize> {
        let offset = (word & HANDLE).wrapping_sub(self.setup.first_descriptor);
        let stride = self.setup.descriptor_longwords.max(1);
        if offset >= stride.wrapping_mul(self.setup.count) || !offset.is_multiple_of(stride) {
            return None;
        }
        Some((offset / stride) as usize)
    }

    /// Records a handle carried by a queue command.
    pub(crate) fn queue(
        &mut self,
        (channel, entry): (u8, u8),
        word: u32,
        takes: bool,
        by: SignalSource,
    ) {
        let Some(number) = self.number_of(word) else {
            return;
        };
        let way = &mut self.ways[number];
        way.last = by;
        if takes && (self.setup.channel, self.setup.entry) == (channel, entry) {
            way.taken = if self.busy { by } else { SignalSource::UNKNOWN };
        }
    }

    /// Records longwords that are put on a ring or taken off it.
    pub(crate) fn carried(&mut self, words: &[u32], by: SignalSource) {
        for &word in words {
            if let Some(number) = self.number_of(word) {
                self.ways[number].last = by;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{BufferSetup, Buffers, SignalSource};

    #[test]
    fn buffer_handles_are_recognised_by_address() {
        let mut buffers = Buffers::new(BufferSetup {
            channel: 0,
            entry: 3,
            first_descriptor: 0x40,
            descriptor_longwords: 4,
            count: 8,
            size: 2048,
            shift: 9,
        });
        assert_eq!(buffers.number_of(0x8100_0044), Some(1));
        let early = SignalSource::at(0, 1, 1);
        buffers.queue((0, 3), 0x4c, true, early);
        assert_eq!(
            (buffers.ways()[3].taken, buffers.ways()[3].last),
            (SignalSource::UNKNOWN, early)
        );
        buffers.packet_handed_over();
        for wrong in [0, 0x3c, 0x42, 0x60, u32::MAX] {
            assert_eq!(buffers.number_of(wrong), None, "{wrong:#x}");
        }
        let (taker, putter) = (SignalSource::at(0, 1, 10), SignalSource::at(0, 1, 20));
        buffers.queue((0, 3), 0x44, true, taker);
        buffers.carried(&[7, 0x0200_0044], putter);
        assert_eq!(
            (buffers.ways()[1].taken, buffers.ways()[1].last),
            (taker, putter)
        );
        // Taking from another queue records no owner.
        buffers.queue((0, 4), 0x48, true, taker);
        assert_eq!(
            (buffers.ways()[2].taken, buffers.ways()[2].last),
            (SignalSource::UNKNOWN, taker)
        );
    }
}
