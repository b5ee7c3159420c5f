//! One direction of a link: a queue, a line that sends one frame at a time, and its losses.

mod drop_reason;
mod queue;
mod red;

use npsim_net::Random;
use npsim_transport::time::Time;
use serde::{Deserialize, Serialize};

use crate::counters::LineCounters;
use crate::frame::Frame;
use crate::topology::{LineParameters, Loss};
pub use drop_reason::DropReason;
use queue::Queue;

/// The random streams of lines, under the seed of a network.
const STREAM: u64 = 0x6c69_6e65_0000_0000;
/// Denominator of probabilities.
const MILLION: u64 = 1_000_000;

/// A line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Line {
    parameters: LineParameters,
    /// Node at the sending end.
    pub from: usize,
    /// Node at the receiving end.
    pub to: usize,
    queue: Queue,
    /// When the last bit of the current frame leaves.
    busy_until: Time,
    /// Whether an event is posted for that time.
    pub awaited: bool,
    random: Random,
    counters: LineCounters,
}

/// A frame that has begun to leave.
#[derive(Debug)]
pub struct SendingFrame {
    /// The frame.
    pub frame: Box<Frame>,
    /// When its last bit arrives; `None` if it is lost on the way.
    pub arrives: Option<Time>,
    /// When its first bit arrives.
    pub begins: Time,
}

impl Line {
    /// Creates an idle line; `number` is its index in the network.
    pub fn new(
        parameters: LineParameters,
        (from, to): (usize, usize),
        seed: u64,
        number: u64,
    ) -> Self {
        let mut random = Random::new(seed, STREAM + number);
        let queue = Queue::new(parameters.queue, parameters.capacity(), random.next());
        Self {
            counters: LineCounters::new(parameters.rate),
            parameters,
            from,
            to,
            queue,
            busy_until: 0,
            awaited: false,
            random,
        }
    }

    /// Returns the IP bytes that wait, without the frame being sent.
    pub fn waiting(&self) -> u64 {
        self.queue.bytes()
    }

    /// Returns the number of packets that wait.
    pub fn packets(&self) -> u64 {
        self.queue.packets()
    }

    /// Returns the frames that wait.
    pub fn frames(&self) -> impl Iterator<Item = &Frame> {
        self.queue.frames()
    }

    /// Whether it has the same parameters and ends as another line, and a consistent queue.
    pub fn is_like(&self, other: &Self) -> bool {
        self.parameters == other.parameters
            && (self.from, self.to) == (other.from, other.to)
            && self.queue.is_like(&other.queue)
    }

    /// Returns when the line finishes sending the current frame.
    pub const fn busy_until(&self) -> Time {
        self.busy_until
    }

    /// Whether it could send at a time.
    pub const fn is_free(&self, now: Time) -> bool {
        self.busy_until <= now
    }

    /// Admits a frame to the queue, into which it must then be [put](Self::put).
    ///
    /// # Errors
    /// Returns the reason if the frame is dropped.
    pub fn admit(&mut self, now: Time, frame: &Frame) -> Result<(), DropReason> {
        self.counters.waited(now, self.queue.bytes());
        let bytes = u64::from(frame.bytes);
        self.counters.offered.add(bytes);
        // A frame that is sent at once needs no space in the queue, whatever its limit.
        let passes = self.is_free(now) && self.queue.packets() == 0;
        let admitted = self.queue.admit(now, bytes, passes);
        match admitted {
            Ok(()) if passes => {}
            Ok(()) => self.counters.longest = self.counters.longest.max(self.queue.bytes() + bytes),
            Err(reason) => self.counters.dropped[reason as usize].add(bytes),
        }
        admitted
    }

    /// Puts a frame into the queue.
    pub fn put(&mut self, frame: Box<Frame>) {
        self.queue.put(frame);
    }

    /// Drops a frame that its router gives to the slow path.
    pub fn refuse(&mut self, now: Time, frame: &Frame) -> DropReason {
        self.counters.waited(now, self.queue.bytes());
        self.counters.offered.add(frame.bytes.into());
        self.counters.dropped[DropReason::SlowPath as usize].add(frame.bytes.into());
        DropReason::SlowPath
    }

    /// Begins to send the first waiting frame; the line must be free.
    pub fn send(&mut self, now: Time) -> Option<SendingFrame> {
        self.counters.waited(now, self.queue.bytes());
        let frame = self.queue.take(now)?;
        let sent = now.saturating_add(self.parameters.time(frame.bytes));
        self.busy_until = sent;
        let lost = self.carry(now, frame.bytes);
        let delay = self.parameters.delay;
        let late = self.late();
        Some(SendingFrame {
            frame,
            arrives: (!lost).then_some(sent.saturating_add(delay).saturating_add(late)),
            begins: now.saturating_add(delay),
        })
    }

    /// Returns the extra delay of the frame that is being sent.
    fn late(&mut self) -> Time {
        match self.parameters.reorder {
            Some(reorder) if self.random.below(MILLION) < reorder.chance.into() => reorder.by,
            _ => 0,
        }
    }

    /// Begins to carry a frame; returns true if it is lost.
    fn carry(&mut self, begins: Time, bytes: u32) -> bool {
        self.counters.busy += self.parameters.time(bytes);
        let number = self.counters.sent.packets;
        self.counters.sent.add(bytes.into());
        let lost = match &self.parameters.loss {
            Loss::None => false,
            Loss::Random(chance) => self.random.below(MILLION) < u64::from(*chance),
            Loss::Numbers(numbers) => numbers.contains(&number),
        };
        let mut down = self.parameters.down.iter();
        let lost = lost || down.any(|(from, until)| (*from..*until).contains(&begins));
        if lost {
            self.counters.lost.add(bytes.into());
        }
        lost
    }

    /// Returns the delay of a bit on the line.
    pub const fn delay(&self) -> Time {
        self.parameters.delay
    }

    /// Counts a frame that arrives at the chip at the line's sending end, and is to leave by the
    /// line.
    pub fn expect(&mut self, bytes: u32) {
        self.counters.offered.add(bytes.into());
    }

    /// Records that a chip begins to send a frame of `bytes` bytes, which waited in it for `waited`,
    /// with at most `longest` bytes waiting at once, including itself. Returns true if it is lost on
    /// the line.
    pub fn depart(&mut self, begins: Time, bytes: u32, waited: Time, longest: u64) -> bool {
        self.counters.waited += u128::from(waited) * u128::from(bytes);
        self.counters.longest = self.counters.longest.max(longest);
        self.busy_until = begins.saturating_add(self.parameters.time(bytes));
        self.carry(begins, bytes)
    }

    /// Counts a frame that was to leave by the line, but was lost in a chip.
    pub fn lose(&mut self, bytes: u32, reason: DropReason) {
        self.counters.dropped[reason as usize].add(bytes.into());
    }

    /// Takes back a frame that was presumed lost in a chip, but leaves it.
    pub fn find(&mut self, bytes: u32, reason: DropReason) {
        self.counters.dropped[reason as usize].take_back(bytes.into());
    }

    /// Returns the counters up to now.
    pub fn counters(&self, now: Time) -> LineCounters {
        let mut counters = self.counters;
        counters.waited(now, self.queue.bytes());
        // The remaining time of the frame being sent has not been used yet.
        counters.busy -= self.busy_until.saturating_sub(now);
        counters
    }

    /// Restarts the measurement of the longest queue.
    pub fn reset_longest(&mut self) {
        self.counters.longest = self.queue.bytes();
    }
}
