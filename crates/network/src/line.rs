//! One direction of a link: a queue, a line that sends one frame at a time, and what gets lost on it.

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

/// The random streams of lines under the seed of a network.
const STREAM: u64 = 0x6c69_6e65_0000_0000;
/// What a chance in parts per million is drawn from.
const MILLION: u64 = 1_000_000;

/// A line.
#[derive(Debug, Clone, Serialize, Deserialize)]
pub struct Line {
    parameters: LineParameters,
    /// Node that it leaves.
    pub from: usize,
    /// Node that it leads to.
    pub to: usize,
    queue: Queue,
    /// When the last bit of what it sends has left.
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
    /// When its last bit arrives; none if it is lost on the way.
    pub arrives: Option<Time>,
    /// When its first bit does.
    pub begins: Time,
}

impl Line {
    /// A line with nothing on it; `number` is its place in the network.
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

    /// Bytes of IP that wait, without what is being sent.
    pub fn waiting(&self) -> u64 {
        self.queue.bytes()
    }

    /// Packets that wait.
    pub fn packets(&self) -> u64 {
        self.queue.packets()
    }

    /// Frames that wait.
    pub fn frames(&self) -> impl Iterator<Item = &Frame> {
        self.queue.frames()
    }

    /// Whether it is the same line as another one, with what is right in its queue.
    pub fn is_like(&self, other: &Self) -> bool {
        self.parameters == other.parameters
            && (self.from, self.to) == (other.from, other.to)
            && self.queue.is_like(&other.queue)
    }

    /// Until when it sends what it sends now.
    pub const fn busy_until(&self) -> Time {
        self.busy_until
    }

    /// Whether it could send at a time.
    pub const fn is_free(&self, now: Time) -> bool {
        self.busy_until <= now
    }

    /// A frame comes to the queue, into which it is to be [put](Self::put) then.
    ///
    /// # Errors
    /// It is dropped, and why.
    pub fn admit(&mut self, now: Time, frame: &Frame) -> Result<(), DropReason> {
        self.counters.waited(now, self.queue.bytes());
        let bytes = u64::from(frame.bytes);
        self.counters.offered.add(bytes);
        // What goes out at once finds no queue, whatever its limit.
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

    /// A frame that its router gives to the slow path, which is lost here.
    pub fn refuse(&mut self, now: Time, frame: &Frame) -> DropReason {
        self.counters.waited(now, self.queue.bytes());
        self.counters.offered.add(frame.bytes.into());
        self.counters.dropped[DropReason::SlowPath as usize].add(frame.bytes.into());
        DropReason::SlowPath
    }

    /// Begins to send the first frame that waits; the line is free.
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

    /// How much later than others the frame comes that is being sent.
    fn late(&mut self) -> Time {
        match self.parameters.reorder {
            Some(reorder) if self.random.below(MILLION) < reorder.chance.into() => reorder.by,
            _ => 0,
        }
    }

    /// A frame begins to go over the line; whether it is lost.
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

    /// Time from a bit's way into the line to its way out.
    pub const fn delay(&self) -> Time {
        self.parameters.delay
    }

    /// A frame comes to the chip that the line leaves, and is to go on by it.
    pub fn expect(&mut self, bytes: u32) {
        self.counters.offered.add(bytes.into());
    }

    /// A chip begins to send a frame of so many bytes, which waited in it for so long while at most
    /// so many bytes were there, itself among them: whether it is lost on the line.
    pub fn depart(&mut self, begins: Time, bytes: u32, waited: Time, longest: u64) -> bool {
        self.counters.waited += u128::from(waited) * u128::from(bytes);
        self.counters.longest = self.counters.longest.max(longest);
        self.busy_until = begins.saturating_add(self.parameters.time(bytes));
        self.carry(begins, bytes)
    }

    /// A chip has lost a frame that was to go on by the line.
    pub fn lose(&mut self, bytes: u32, reason: DropReason) {
        self.counters.dropped[reason as usize].add(bytes.into());
    }

    /// A frame that was thought lost in a chip leaves it.
    pub fn find(&mut self, bytes: u32, reason: DropReason) {
        self.counters.dropped[reason as usize].take_back(bytes.into());
    }

    /// What was counted until now.
    pub fn counters(&self, now: Time) -> LineCounters {
        let mut counters = self.counters;
        counters.waited(now, self.queue.bytes());
        // What it has still to do of the frame that it sends.
        counters.busy -= self.busy_until.saturating_sub(now);
        counters
    }

    /// The longest queue is that from now on.
    pub fn forget_longest(&mut self) {
        self.counters.longest = self.queue.bytes();
    }
}
