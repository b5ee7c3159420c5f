//! One Q-array entry: a queue descriptor, a ring or a journal, and the effects of commands on it.
//! Addresses are longword addresses in the channel.
//!
//! The longword of a queue's head, and the link longword at the start of each buffer descriptor,
//! hold an end-of-packet mark in bit 31, a cell count in bits 30-24 and the next buffer in bits
//! 23-0. An enqueue takes mark and count from the byte mask of its override word (bit 7 and bits
//! 6-0); without an override both are 0. A queue that has never seen a mark or a count counts
//! buffers: each dequeue unlinks one. Otherwise it counts packets: a dequeue lowers the count when
//! a buffer with the mark leaves.

use crate::kernel::memory::{OutOfRange, Paged};
use serde::{Deserialize, Serialize};

pub(super) const ADDRESS: u32 = 0x00ff_ffff;
const END_OF_PACKET: u32 = 1 << 31;
const CELL: u32 = 1 << 24;
const CELLS: u32 = 0x7f00_0000;

/// A Q-array entry.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct QueueEntry {
    head: u32,
    tail: u32,
    count: u32,
    head_valid: bool,
    tail_valid: bool,
    marked: bool,
}

/// The outcome of a put to a ring.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RingPut {
    /// Whether the words are on the ring.
    pub accepted: bool,
    /// Longwords on the ring before the put.
    pub count: u32,
}

impl RingPut {
    /// The status longword: success in bit 31, the previous count in bits 23-0.
    #[must_use]
    pub const fn status(self) -> u32 {
        (self.accepted as u32) << 31 | self.count & ADDRESS
    }
}

impl QueueEntry {
    /// An entry as it is after all three longwords of a descriptor have been loaded.
    #[must_use]
    pub(crate) const fn from_descriptor([head, tail, count]: [u32; 3]) -> Self {
        Self {
            head,
            tail: tail & ADDRESS,
            count: count & ADDRESS,
            head_valid: true,
            tail_valid: true,
            marked: head & !ADDRESS != 0,
        }
    }

    /// Packets or buffers on a queue, longwords on a ring.
    #[must_use]
    pub const fn count(&self) -> u32 {
        self.count
    }

    /// The buffers on a queue, first to last; `None` if the head is only in memory.
    pub(super) fn chain(&self, memory: &Paged<u32>) -> Option<Vec<u32>> {
        if self.count == 0 {
            return Some(Vec::new());
        }
        if !self.head_valid {
            return None;
        }
        let (mut chain, mut link, mut left) = (Vec::new(), self.head, self.count);
        while left > 0 && chain.len() <= ADDRESS as usize {
            chain.push(link & ADDRESS);
            left -= u32::from(!self.marked || link & END_OF_PACKET != 0);
            // A buffer of several cells keeps its link until its last cell.
            link = memory.get((link & ADDRESS) as usize)?;
            if chain.last() == Some(&(link & ADDRESS)) {
                break;
            }
        }
        Some(chain)
    }

    /// The longwords on a ring or journal, oldest first.
    pub(super) fn words<'a>(&self, memory: &'a Paged<u32>) -> impl Iterator<Item = u32> + 'a {
        let (head, mask) = (self.head, self.ring_size() - 1);
        let count = self.count.min(mask + 1);
        (0..count).filter_map(move |at| {
            let place = head & ADDRESS & !mask | (head.wrapping_add(at)) & mask;
            memory.get(place as usize)
        })
    }

    /// Loads head and count.
    pub(super) const fn load_head(&mut self, head: u32, count: u32) {
        *self = Self {
            head,
            tail: 0,
            count: count & ADDRESS,
            head_valid: true,
            tail_valid: false,
            marked: head & !ADDRESS != 0,
        };
    }

    /// Loads tail and count.
    pub(super) const fn load_tail(&mut self, tail: u32, count: u32) {
        *self = Self {
            head: 0,
            tail: tail & ADDRESS,
            count: count & ADDRESS,
            head_valid: false,
            tail_valid: true,
            marked: false,
        };
    }

    /// Loads the field that [`Self::load_head`] or [`Self::load_tail`] left out.
    pub(super) const fn load_other(&mut self, head: u32, tail: u32) {
        if self.head_valid {
            self.tail = tail & ADDRESS;
            self.tail_valid = true;
        } else {
            self.head = head;
            self.head_valid = true;
            self.marked |= head & !ADDRESS != 0;
        }
    }

    /// The valid longwords of the descriptor; `None` where the one in memory stays.
    #[must_use]
    pub fn descriptor(&self) -> [Option<u32>; 3] {
        [
            self.head_valid.then_some(self.head),
            self.tail_valid.then_some(self.tail),
            Some(self.count),
        ]
    }

    /// Appends a buffer; `marks` is the byte mask of the override word.
    pub(super) fn enqueue(
        &mut self,
        memory: &mut Paged<u32>,
        buffer: u32,
        marks: Option<u8>,
    ) -> Result<(), OutOfRange> {
        let link = buffer & ADDRESS | u32::from(marks.unwrap_or(0)) << 24;
        if self.count == 0 {
            self.head = link;
            self.head_valid = true;
        } else {
            memory.set(self.tail as usize, link)?;
        }
        self.marked |= marks.is_some();
        self.tail = buffer & ADDRESS;
        self.tail_valid = true;
        self.count = (self.count + 1) & ADDRESS;
        Ok(())
    }

    /// Moves the tail to the last buffer of a chain that software has linked.
    pub(super) const fn enqueue_tail(&mut self, buffer: u32) {
        self.tail = buffer & ADDRESS;
        self.tail_valid = true;
    }

    /// The longword to which an enqueue writes its link, if it writes one.
    pub(crate) const fn next_link(&self) -> Option<u32> {
        if self.count == 0 {
            None
        } else {
            Some(self.tail)
        }
    }

    /// The longwords appended to a ring or journal between this state and `later`, fewer than its
    /// size.
    pub(super) fn appended(&self, later: &Self) -> impl Iterator<Item = u32> + use<> {
        let (end, mask) = (later.tail, self.ring_size() - 1);
        let next = move |tail: &u32| Some(tail & !mask | (tail + 1) & mask);
        std::iter::successors(Some(self.tail), next).take_while(move |tail| *tail != end)
    }

    /// Takes a cell or a buffer; 0 if the queue is empty.
    pub(super) fn dequeue(&mut self, memory: &Paged<u32>) -> Result<u32, OutOfRange> {
        if self.count == 0 {
            return Ok(0);
        }
        let taken = self.head;
        if taken & CELLS != 0 {
            self.head -= CELL;
            return Ok(taken);
        }
        let leaves = !self.marked || taken & END_OF_PACKET != 0;
        if leaves {
            self.count -= 1;
        }
        self.head = if self.count == 0 {
            0
        } else {
            memory.get((taken & ADDRESS) as usize).ok_or(OutOfRange)?
        };
        Ok(taken)
    }

    /// Size of the ring in longwords, from the size code in the head longword.
    #[must_use]
    pub(crate) const fn ring_size(&self) -> u32 {
        512 << (self.head >> 29)
    }

    /// Puts words on a ring if all of them fit.
    pub(super) fn ring_put(
        &mut self,
        memory: &mut Paged<u32>,
        words: &[u32],
    ) -> Result<RingPut, OutOfRange> {
        let count = self.count;
        if count + words.len() as u32 > self.ring_size() {
            return Ok(RingPut {
                accepted: false,
                count,
            });
        }
        self.append(memory, words)?;
        self.count += words.len() as u32;
        Ok(RingPut {
            accepted: true,
            count,
        })
    }

    /// Takes words off a ring: all of them, or zeros if there are too few.
    pub(super) fn ring_get(
        &mut self,
        memory: &Paged<u32>,
        out: &mut [u32],
    ) -> Result<(), OutOfRange> {
        out.fill(0);
        if self.count < out.len() as u32 {
            return Ok(());
        }
        let mask = self.ring_size() - 1;
        for word in &mut *out {
            *word = memory
                .get((self.head & ADDRESS) as usize)
                .ok_or(OutOfRange)?;
            self.head = self.head & !mask | (self.head + 1) & mask;
        }
        self.count -= out.len() as u32;
        Ok(())
    }

    /// Writes words to a journal, overwriting the oldest when it is full.
    pub(super) fn journal(
        &mut self,
        memory: &mut Paged<u32>,
        words: &[u32],
    ) -> Result<(), OutOfRange> {
        self.append(memory, words)?;
        let size = self.ring_size();
        self.count += words.len() as u32;
        if self.count > size {
            self.count = size;
            self.head = self.head & !(size - 1) | self.tail & (size - 1);
        }
        Ok(())
    }

    fn append(&mut self, memory: &mut Paged<u32>, words: &[u32]) -> Result<(), OutOfRange> {
        let mask = self.ring_size() - 1;
        for &word in words {
            memory.set(self.tail as usize, word)?;
            self.tail = self.tail & !mask | (self.tail + 1) & mask;
        }
        Ok(())
    }
}
