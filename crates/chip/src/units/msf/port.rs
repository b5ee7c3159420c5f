//! A port's MAC: the receive and transmit FIFOs between line and media bus.

use serde::{Deserialize, Serialize};
use std::collections::VecDeque;

use super::clock::{ClockRatio, divided, divided_up};
use crate::Cycle;
use crate::kernel::port_io::{Arrival, PacketTag};
use crate::kernel::snapshot::bits;

/// Preamble and start delimiter, in bytes.
pub(crate) const PREAMBLE: u64 = 8;
/// Frame check sequence, in bytes.
pub(crate) const CHECK_SEQUENCE: u64 = 4;
/// Smallest gap between frames, in bytes.
pub const MIN_GAP: u64 = 12;
/// Shortest frame without its check sequence, in bytes; the MAC pads to it.
pub const MIN_FRAME: usize = 60;

/// A frame in the receive FIFO or still on the line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Incoming {
    /// The frame.
    pub arrival: Arrival,
    /// Bytes that have been moved to RBUF.
    pub moved: usize,
}

impl Incoming {
    /// Bytes of the next mpacket.
    #[must_use]
    pub fn chunk(&self, element_bytes: u16) -> usize {
        let left = self.arrival.bytes.len().saturating_sub(self.moved);
        left.min(element_bytes as usize)
    }

    /// The cycle at which the next mpacket is in the FIFO; the last one counts when the check
    /// sequence has been seen.
    #[must_use]
    pub fn available(&self, element_bytes: u16) -> Cycle {
        let Arrival {
            start, end, bytes, ..
        } = &self.arrival;
        let upto = self.moved + self.chunk(element_bytes);
        if upto == bytes.len() {
            return *end;
        }
        let whole = PREAMBLE + bytes.len() as u64 + CHECK_SEQUENCE;
        let part = PREAMBLE + upto as u64;
        let takes = end.saturating_sub(*start);
        start.saturating_add(divided_up(u128::from(takes) * u128::from(part), whole))
    }
}

/// A frame in the transmit FIFO.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct FifoFrame {
    /// The frame.
    pub bytes: Vec<u8>,
    /// Packet tag of its first mpacket.
    pub tag: PacketTag,
}

/// The frame on the line.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Leaving {
    /// The frame.
    pub frame: FifoFrame,
    /// First preamble bit, in line ticks.
    start: u128,
    /// Last bit of the check sequence, in line ticks.
    end: u128,
}

/// The MAC's treatment of the next mpacket from the transmit bus.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub enum FrameAssembly {
    /// The port expects a frame's first mpacket.
    #[default]
    Between,
    /// The port is collecting a frame.
    Within,
    /// The port is discarding the rest of a frame.
    Discarding,
}

/// The counters of a port.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct PortCounts {
    /// Frames that started to arrive.
    pub received_frames: u64,
    /// The bytes of the received frames.
    pub received_bytes: u64,
    /// Frames completely in RBUF.
    pub delivered_frames: u64,
    /// Frames that found no room in the receive FIFO.
    pub overflow_frames: u64,
    /// Largest number of bytes in the receive FIFO.
    pub receive_fifo_peak: u64,
    /// Frames that have left.
    pub sent_frames: u64,
    /// The bytes of the sent frames.
    pub sent_bytes: u64,
    /// Largest number of bytes in the transmit FIFO.
    pub transmit_fifo_peak: u64,
}

/// A port.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Port {
    /// Line rate, in bits per second.
    #[serde(with = "bits")]
    pub bits_per_second: u64,
    /// Arriving frames, oldest first.
    incoming: VecDeque<Incoming>,
    /// The bytes of these frames that are not yet in RBUF, derived from the frames.
    #[serde(skip)]
    backlog: u64,
    /// The cycle from which the first of them has an mpacket that can go over the bus; `Cycle::MAX`
    /// if there is none. Derived from the frame.
    #[serde(skip)]
    available: Cycle,
    /// The port's counters.
    pub counts: PortCounts,
    /// How the next mpacket from TBUF is treated.
    pub assembly: FrameAssembly,
    /// The frame being assembled.
    pub partial: FifoFrame,
    queue: VecDeque<FifoFrame>,
    leaving: Option<Leaving>,
    /// Bytes of all frames in the transmit FIFO, including all of the one on the line.
    held: u64,
    #[serde(with = "bits")]
    capacity: u64,
    /// Cycles per bit as a fraction `(a, b)`. A line tick is 1/b of a cycle.
    bit: (u64, u64),
    /// Line tick from which the next preamble may start.
    line_free: u128,
    #[serde(skip)]
    spare: Vec<Vec<u8>>,
}

impl Port {
    /// An idle port.
    #[must_use]
    pub fn new(microengine_hz: u64, bits_per_second: u64, transmit_fifo_bytes: u32) -> Self {
        Self {
            bits_per_second,
            incoming: VecDeque::new(),
            backlog: 0,
            available: Cycle::MAX,
            counts: PortCounts::default(),
            assembly: FrameAssembly::Between,
            partial: FifoFrame::default(),
            queue: VecDeque::new(),
            leaving: None,
            held: 0,
            capacity: u64::from(transmit_fifo_bytes),
            bit: ClockRatio::new(microengine_hz, bits_per_second).ratio(),
            line_free: 0,
            spare: Vec::new(),
        }
    }

    /// Rebuilds the state that is not saved.
    pub(super) fn complete_saved(&mut self, element_bytes: u16) {
        let left = |it: &Incoming| it.arrival.bytes.len().saturating_sub(it.moved) as u64;
        self.backlog = self.incoming.iter().map(left).sum();
        self.update_available(element_bytes);
    }

    /// Updates `available` after the first frame has changed or moved on.
    fn update_available(&mut self, element_bytes: u16) {
        let first = self.incoming.front();
        self.available = first.map_or(Cycle::MAX, |frame| frame.available(element_bytes));
    }

    /// The cycle from which the next mpacket can go over the bus; `Cycle::MAX` if none is coming.
    #[must_use]
    pub(super) const fn available(&self) -> Cycle {
        self.available
    }

    /// Arriving frames, oldest first.
    #[must_use]
    pub const fn incoming(&self) -> &VecDeque<Incoming> {
        &self.incoming
    }

    /// Bytes of frames whose reception has begun and that are not yet in RBUF.
    #[must_use]
    pub const fn receive_backlog(&self) -> u64 {
        self.backlog
    }

    /// Starts the arrival of a frame for which there is room.
    pub(super) fn arrives(&mut self, arrival: Arrival, element_bytes: u16) {
        self.backlog += arrival.bytes.len() as u64;
        self.incoming.push_back(Incoming { arrival, moved: 0 });
        if self.incoming.len() == 1 {
            self.update_available(element_bytes);
        }
    }

    /// Moves this many more bytes of the first frame to RBUF; a frame that has been moved
    /// completely is removed.
    pub(super) fn moved(&mut self, bytes: usize, element_bytes: u16) {
        let Some(frame) = self.incoming.front_mut() else {
            return;
        };
        frame.moved += bytes;
        self.backlog -= bytes as u64;
        if frame.moved == frame.arrival.bytes.len() {
            self.incoming.pop_front();
            self.counts.delivered_frames += 1;
        }
        self.update_available(element_bytes);
    }

    /// Number of frames given to the MAC that have not left.
    #[must_use]
    pub fn sending(&self) -> usize {
        self.queue.len() + usize::from(self.leaving.is_some())
    }

    /// The first preamble bit of the frame on the line.
    #[must_use]
    pub(crate) fn leaving_since(&self) -> Option<Cycle> {
        let leaving = self.leaving.as_ref()?;
        Some(self.cycle(leaving.start))
    }

    /// When the transmit FIFO has room for `bytes` more; `None` if more than the frame on the line
    /// has to leave for that.
    #[must_use]
    pub(crate) fn room_at(&self, bytes: u64, now: Cycle) -> Option<Cycle> {
        let excess = (self.held + bytes).saturating_sub(self.capacity);
        if excess == 0 {
            return Some(now);
        }
        let leaving = self.leaving.as_ref()?;
        if excess > leaving.frame.bytes.len() as u64 {
            return None;
        }
        let tick = leaving.start + u128::from((PREAMBLE + excess) * 8 * self.bit.0);
        Some(self.cycle(tick).max(now))
    }

    /// Whether the FIFO could take `bytes` more once all complete frames have left.
    #[must_use]
    pub(crate) fn can_ever_hold(&self, bytes: u64) -> bool {
        self.partial.bytes.len() as u64 + bytes <= self.capacity
    }

    /// Reserves room for an mpacket that goes onto the transmit bus.
    pub fn reserve(&mut self, bytes: u64, now: Cycle) {
        self.held += bytes;
        let occupied = self.transmit_fill(now);
        self.counts.transmit_fifo_peak = self.counts.transmit_fifo_peak.max(occupied);
    }

    /// Bytes in the transmit FIFO, including those on their way to it.
    #[must_use]
    pub fn transmit_fill(&self, now: Cycle) -> u64 {
        self.held - self.drained(now)
    }

    /// Bytes of the frame on the line that have left the FIFO.
    fn drained(&self, now: Cycle) -> u64 {
        self.leaving.as_ref().map_or(0, |leaving| {
            let tick = u128::from(now) * u128::from(self.bit.1);
            let bytes = divided(tick.saturating_sub(leaving.start), self.bit.0 * 8);
            bytes
                .saturating_sub(PREAMBLE)
                .min(leaving.frame.bytes.len() as u64)
        })
    }

    /// Returns room that was reserved for bytes that are discarded.
    pub(crate) fn unreserve(&mut self, bytes: u64) {
        self.held -= bytes;
    }

    /// Drops the frame being assembled and returns its tag.
    pub(crate) fn drop_partial(&mut self) -> PacketTag {
        self.held -= self.partial.bytes.len() as u64;
        self.partial.bytes.clear();
        std::mem::take(&mut self.partial.tag)
    }

    /// Completes the frame being assembled: it is padded and queued for the line. Returns the cycle
    /// of its end if the line was free.
    pub fn complete(&mut self, now: Cycle) -> Option<Cycle> {
        let empty = FifoFrame {
            bytes: self.spare.pop().unwrap_or_default(),
            tag: PacketTag::default(),
        };
        let mut frame = std::mem::replace(&mut self.partial, empty);
        let short = MIN_FRAME.saturating_sub(frame.bytes.len());
        self.reserve(short as u64, now);
        if short != 0 {
            frame.bytes.resize(MIN_FRAME, 0);
        }
        if self.leaving.is_some() || !self.queue.is_empty() {
            self.queue.push_back(frame);
            return self.start_next(now);
        }
        Some(self.put_on_line(frame, now))
    }

    /// Puts the next frame on the line if that is free. Returns the cycle of its end.
    fn start_next(&mut self, now: Cycle) -> Option<Cycle> {
        if self.leaving.is_some() {
            return None;
        }
        let frame = self.queue.pop_front()?;
        Some(self.put_on_line(frame, now))
    }

    /// Puts a frame on the line, which must be free. Returns the cycle of its end.
    fn put_on_line(&mut self, frame: FifoFrame, now: Cycle) -> Cycle {
        let (per_bit, scale) = self.bit;
        let start = self.line_free.max(u128::from(now) * u128::from(scale));
        let bytes = PREAMBLE + frame.bytes.len() as u64 + CHECK_SEQUENCE;
        let end = start + u128::from(bytes * 8) * u128::from(per_bit);
        self.line_free = end + u128::from(MIN_GAP * 8) * u128::from(per_bit);
        self.leaving = Some(Leaving { frame, start, end });
        self.cycle(end)
    }

    /// The frame on the line, with its first preamble bit.
    #[must_use]
    pub fn leaving(&self) -> Option<(Cycle, &FifoFrame)> {
        let leaving = self.leaving.as_ref()?;
        Some((self.cycle(leaving.start), &leaving.frame))
    }

    /// Takes the frame on the line, which has left: its start, its end and the frame itself.
    pub fn left(&mut self) -> Option<(Cycle, Cycle, FifoFrame)> {
        let leaving = self.leaving.take()?;
        let bytes = leaving.frame.bytes.len() as u64;
        self.held -= bytes;
        self.counts.sent_frames += 1;
        self.counts.sent_bytes += bytes;
        Some((
            self.cycle(leaving.start),
            self.cycle(leaving.end),
            leaving.frame,
        ))
    }

    /// Continues with the next frame after [`Port::left`]. Returns the cycle of its end. The buffer
    /// of the frame that has left is reused.
    pub fn next(&mut self, now: Cycle, done: FifoFrame) -> Option<Cycle> {
        let mut bytes = done.bytes;
        bytes.clear();
        self.spare.push(bytes);
        self.start_next(now)
    }

    fn cycle(&self, tick: u128) -> Cycle {
        divided_up(tick, self.bit.1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn port(rate: u64) -> Port {
        Port::new(600_000_000, rate, 4096)
    }

    fn give(port: &mut Port, bytes: usize, now: Cycle) -> Option<Cycle> {
        port.reserve(bytes as u64, now);
        port.partial.bytes.resize(bytes, 0xaa);
        port.complete(now)
    }

    #[test]
    fn shortest_frames_leave_every_672_nanoseconds() {
        let mut port = port(1_000_000_000);
        assert_eq!(
            give(&mut port, 60, 10),
            Some(10 + 346),
            "72 bytes are 345.6 cycles"
        );
        assert_eq!(port.leaving_since(), Some(10));
        for _ in 0..10 {
            assert_eq!(give(&mut port, 60, 20), None);
        }
        let mut starts = Vec::new();
        let mut now = 356;
        while let Some((start, end, frame)) = port.left() {
            starts.push(start);
            assert_eq!(frame.bytes.len(), 60);
            assert_eq!(end, now);
            match port.next(now, frame) {
                Some(next) => now = next,
                None => break,
            }
        }
        // 672 ns are 403.2 cycles; five of them are whole.
        assert_eq!(starts.len(), 11);
        assert_eq!(
            [starts[0], starts[5], starts[10]],
            [10, 10 + 2016, 10 + 4032]
        );
        assert_eq!(starts[1], 10 + 404);
    }

    #[test]
    fn interframe_gap_is_kept_before_an_immediate_frame() {
        let mut port = port(1_000_000_000);
        let end = give(&mut port, 100, 0).unwrap();
        let (_, _, frame) = port.left().unwrap();
        assert_eq!(port.next(end, frame), None);
        give(&mut port, 100, end + 1);
        let (start, ..) = port.left().unwrap();
        // 112 bytes and the gap: 124 bytes at 4.8 cycles.
        assert_eq!(start, 596);
    }

    #[test]
    fn short_frames_are_padded_to_minimum_size() {
        let mut port = port(1_000_000_000);
        give(&mut port, 14, 0);
        assert_eq!(port.left().unwrap().2.bytes.len(), 60);
    }

    #[test]
    fn fifo_space_frees_as_bytes_are_sent() {
        let mut port = port(1_000_000_000);
        for _ in 0..4 {
            give(&mut port, 1000, 0);
        }
        assert_eq!(port.room_at(96, 0), Some(0));
        // One byte too many: preamble and one byte at 4.8 cycles.
        assert_eq!(port.room_at(97, 0), Some(44));
        assert_eq!(port.room_at(97, 50), Some(50));
        assert_eq!(port.room_at(1097, 0), None);
        assert!(!port.can_ever_hold(4097));
    }

    #[test]
    fn mpacket_is_available_once_its_last_byte_arrives() {
        let arrival = Arrival {
            start: 1000,
            end: 1000 + 346,
            port: 0,
            bytes: vec![0; 60],
            frame: 0,
        };
        let frame = Incoming { arrival, moved: 0 };
        assert_eq!(frame.available(64), 1346);
        // 112 bytes on the line at five cycles a byte.
        let arrival = Arrival {
            start: 1000,
            end: 1560,
            port: 0,
            bytes: vec![0; 100],
            frame: 0,
        };
        let mut frame = Incoming { arrival, moved: 0 };
        assert_eq!((frame.chunk(64), frame.available(64)), (64, 1360));
        frame.moved = 64;
        assert_eq!((frame.chunk(64), frame.available(64)), (36, 1560));
    }
}
