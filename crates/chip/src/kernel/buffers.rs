//! The path of packet buffers: the context that took each from its freelist, and the command that carried
//! its handle last.
//!
//! A handle is the longword address of the buffer's descriptor, in the low 24 bits of a
//! longword on a ring or of a queue's command. Units report what they carry, at the time
//! of service.

use serde::{Deserialize, Serialize};

use crate::kernel::signal_source::SignalSource;

/// Bits of a handle.
pub const HANDLE: u32 = 0x00ff_ffff;

/// Packet buffers: a descriptor in SRAM and room in DRAM each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct BufferSetup {
    /// SRAM channel of the descriptors.
    pub channel: u8,
    /// Q-array entry of the free list.
    pub entry: u8,
    /// Longword address of the first descriptor in the channel; not 0, which
    /// would read as "no buffer".
    pub first_descriptor: u32,
    /// Longwords from one descriptor to the next.
    pub descriptor_longwords: u32,
    /// How many buffers.
    pub count: u32,
    /// Bytes of a buffer in DRAM.
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

    /// DRAM byte address of the buffer whose descriptor is at this longword
    /// address.
    #[must_use]
    pub const fn data(&self, descriptor: u32) -> u32 {
        descriptor.wrapping_shl(self.shift as u32)
    }
}

/// What is known of one buffer.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct BufferTrail {
    /// The context that alone took the buffer from the freelist after a packet had come to it.
    pub taken: SignalSource,
    /// The issuer of the command that carried the handle last.
    pub last: SignalSource,
}

/// The packet buffers of a chip.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Buffers {
    setup: BufferSetup,
    ways: Vec<BufferTrail>,
    /// A packet has been handed to a context.
    busy: bool,
}

impl Buffers {
    /// All buffers on their freelist.
    #[must_use]
    pub fn new(setup: BufferSetup) -> Self {
        Self {
            setup,
            ways: vec![BufferTrail::default(); setup.count as usize],
            busy: false,
        }
    }

    /// A packet is handed to a context. What was taken before holds none: it fills a list
    /// that the microcode keeps for itself, where no search can find it.
    #[inline]
    pub(crate) fn packets_come(&mut self) {
        self.busy = true;
    }

    /// How they lie in memory, and which queue they come back to.
    #[must_use]
    pub fn setup(&self) -> &BufferSetup {
        &self.setup
    }

    /// How many there are, of which something is known.
    pub(crate) fn count(&self) -> usize {
        self.ways.len()
    }

    /// What is known of each, by its number.
    #[must_use]
    pub fn ways(&self) -> &[BufferTrail] {
        &self.ways
    }

    /// The buffer whose handle a longword may be.
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

    /// A queue's command carries a handle.
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

    /// Longwords go onto a ring or come off it.
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
    fn handles_are_known_by_their_place() {
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
        buffers.packets_come();
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
        // Another queue gives nothing away.
        buffers.queue((0, 4), 0x48, true, taker);
        assert_eq!(
            (buffers.ways()[2].taken, buffers.ways()[2].last),
            (SignalSource::UNKNOWN, taker)
        );
    }
}
