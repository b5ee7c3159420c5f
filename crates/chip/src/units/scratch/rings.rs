//! The sixteen scratch rings: their registers and the get and put operations. The words of a ring
//! are in the scratchpad's own memory.

use crate::kernel::fabric::Fabric;
use crate::kernel::trace_event::{RingName, TraceEvent};
use serde::{Deserialize, Serialize};

/// Number of rings.
pub(super) const RINGS: usize = 16;

/// A register of a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RingRegister {
    /// Size code in bits 31-30 (128, 256, 512, 1024 longwords), status type in
    /// bit 26 (1 = empty, 0 = nearly full), base byte address in bits 13-9.
    Base,
    /// Byte offset of the next get.
    Head,
    /// Byte offset of the next put.
    Tail,
}

/// One ring.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Ring {
    base: u32,
    /// Index of the first longword.
    start: u32,
    size: u32,
    head: u32,
    tail: u32,
    count: u32,
    full_at: u32,
    status_empty: bool,
    /// Largest number of longwords that were on it.
    peak: u32,
}

impl Ring {
    fn new(base: u32, full_percent: u32) -> Self {
        let size = 128 << (base >> 30);
        Self {
            base,
            // Rings are aligned to their size: lower base bits are ignored.
            start: ((base & 0x3e00) / 4) & !(size - 1),
            size,
            head: 0,
            tail: 0,
            count: 0,
            full_at: (size * full_percent).div_ceil(100),
            status_empty: base & 1 << 26 != 0,
            peak: 0,
        }
    }

    /// Longwords on the ring.
    #[must_use]
    pub fn count(&self) -> u32 {
        self.count
    }

    /// Whether the ring is empty.
    #[must_use]
    pub fn is_empty(&self) -> bool {
        self.count == 0
    }

    /// Capacity in longwords.
    #[must_use]
    pub fn size(&self) -> u32 {
        self.size
    }

    /// Largest number of longwords that were on it at one time.
    #[must_use]
    pub fn peak(&self) -> u32 {
        self.peak
    }

    /// Whether it was set up or ever held anything.
    #[must_use]
    pub fn is_used(&self) -> bool {
        self.base != 0 || self.peak > 0
    }

    /// Byte address of its first longword.
    #[must_use]
    pub fn address(&self) -> u32 {
        self.start * 4
    }

    /// The longwords on the ring, oldest first, read from the scratchpad's memory.
    pub(super) fn words<'a>(&self, memory: &'a [u32]) -> impl Iterator<Item = u32> + 'a {
        let (start, head, last) = (self.start, self.head, self.size - 1);
        let place = move |at: u32| start + (head.wrapping_add(at) & last);
        (0..self.count).filter_map(move |at| memory.get(place(at) as usize).copied())
    }

    /// Byte addresses of the next `words` longwords to be put, in order.
    pub(crate) fn next_addresses(&self, words: u32) -> impl Iterator<Item = u32> + use<> {
        let (start, tail, last) = (self.start, self.tail, self.size - 1);
        (0..words).map(move |at| (start + (tail.wrapping_add(at) & last)) * 4)
    }

    /// The current status bit of the ring itself.
    #[must_use]
    pub fn status(&self) -> bool {
        if self.status_empty {
            self.count == 0
        } else {
            self.count >= self.full_at
        }
    }

    pub(super) fn register(&self, register: RingRegister) -> u32 {
        match register {
            RingRegister::Base => self.base,
            RingRegister::Head => self.head * 4,
            RingRegister::Tail => self.tail * 4,
        }
    }
}

#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Rings {
    all: Vec<Ring>,
    /// Whether a word has been put on a ring since this was last taken.
    pub(super) written: bool,
    full_percent: u32,
}

impl Rings {
    pub(super) fn new(full_percent: u32) -> Self {
        Self {
            all: vec![Ring::new(0, full_percent); RINGS],
            written: false,
            full_percent,
        }
    }

    pub(super) fn ring(&self, ring: usize) -> &Ring {
        &self.all[ring]
    }

    /// Whether a longword lies in the space of a ring in use but is not on the ring.
    pub(super) fn has_left(&self, longword: u32) -> bool {
        let used = self.all.iter().filter(|ring| ring.is_used());
        let mut room = used.filter(|ring| longword.wrapping_sub(ring.start) < ring.size);
        let on = |ring: &Ring| {
            let place = longword.wrapping_sub(ring.start).wrapping_sub(ring.head);
            place & (ring.size - 1) < ring.count
        };
        room.next().is_some_and(|ring| !on(ring))
    }

    pub(super) fn set_register(&mut self, ring: usize, register: RingRegister, value: u32) {
        // A write of the registers may fill a ring just as a put does.
        self.written = true;
        let ring = &mut self.all[ring];
        match register {
            RingRegister::Base => *ring = Ring::new(value, self.full_percent),
            RingRegister::Head => ring.head = value / 4 % ring.size,
            RingRegister::Tail => ring.tail = value / 4 % ring.size,
        }
        ring.count = ring.tail.wrapping_sub(ring.head) & (ring.size - 1);
    }

    /// Reports the ring's status to the microengines.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Part of every change of a ring.
    pub(super) fn show(&self, ring: usize, fabric: &mut Fabric) {
        let now = fabric.now;
        let fill = self.all[ring].count;
        let name = RingName::Scratch(ring as u8);
        fabric
            .trace
            .record(now, || TraceEvent::Ring { ring: name, fill });
        fabric
            .ring_lines
            .set(ring as u8, now, self.all[ring].status());
    }

    /// Takes words off; words that the ring does not have read as 0.
    #[inline]
    pub(super) fn get(&mut self, memory: &[u32], ring: usize, out: &mut [u32]) {
        let ring = &mut self.all[ring];
        // In locals, as the compiler might otherwise assume that the words alias the ring.
        let (start, last) = (ring.start, ring.size - 1);
        let (mut head, mut count) = (ring.head, ring.count);
        for word in out {
            if count == 0 {
                *word = 0;
                continue;
            }
            *word = memory.get((start + head) as usize).copied().unwrap_or(0);
            head = (head + 1) & last;
            count -= 1;
        }
        ring.head = head;
        ring.count = count;
    }

    /// Puts words on. Returns how many of the oldest were overwritten.
    #[inline]
    pub(super) fn put(&mut self, memory: &mut [u32], ring: usize, words: &[u32]) -> u32 {
        self.written = true;
        let ring = &mut self.all[ring];
        let (start, size) = (ring.start, ring.size);
        let (mut tail, mut count) = (ring.tail, ring.count);
        let mut lost = 0;
        for &word in words {
            if let Some(place) = memory.get_mut((start + tail) as usize) {
                *place = word;
            }
            tail = (tail + 1) & (size - 1);
            // As in silicon, nothing stops a put to a full ring: it overwrites the oldest word. The
            // caller raises the check.
            if count == size {
                ring.head = tail;
                lost += 1;
            } else {
                count += 1;
            }
        }
        ring.tail = tail;
        ring.count = count;
        ring.peak = ring.peak.max(count);
        lost
    }
}
