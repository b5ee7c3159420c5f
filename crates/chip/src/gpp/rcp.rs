//! RCP on the slow path: once a period the rate of every flow is computed from what
//! the threads counted, and published.

use npsim_congestion::rcp::{Counters, Rate};
use serde::{Deserialize, Serialize};

use super::access::{Access, Place};
use super::queue_lengths::QueueLengths;
use super::task::{Next, next_time};
use crate::Cycle;
use crate::kernel::trace_event::Level;
use crate::units::scratch::Scratch;
use crate::units::sram::Sram;

/// Bytes of the counters of a thread and group.
pub const COUNTERS_STRIDE: u32 = 16;

/// What the task works on, and how.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RcpSetup {
    /// The rate of the first group; a longword a group.
    pub rate: Place,
    /// The counters of thread 0 and the first group.
    pub counters: Place,
    /// The threads that count.
    pub threads: Vec<u16>,
    /// The groups of ports.
    pub groups: Vec<RcpGroup>,
}

/// Ports that share a rate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RcpGroup {
    /// The law before the first packet, checked.
    pub rate: Rate,
    /// The counters of each queue.
    pub queues: Vec<Place>,
}

/// What is known of a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RcpState {
    /// The law.
    pub rate: Rate,
    lengths: QueueLengths,
    /// Times that the rate was computed.
    pub updates: u64,
    /// Rate of the input in the last interval, in bytes per second.
    pub input: u64,
    /// Bytes that waited at its end.
    pub queue: u32,
    /// Bytes counted since the beginning.
    pub bytes: u64,
    due: Cycle,
    /// When the last interval ended.
    began: Cycle,
    /// When the one that is being ended does.
    ends: Cycle,
    seen: Vec<Counters>,
    arrived: Counters,
}

/// What comes next.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Step {
    Idle,
    Thread(usize),
    Queues,
    Publish,
}

/// An RCP task.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Rcp {
    setup: RcpSetup,
    mhz: u64,
    step: Step,
    /// The group that the job is for.
    group: usize,
    groups: Vec<RcpState>,
}

impl Rcp {
    pub(super) fn new(setup: RcpSetup, mhz: u64) -> Self {
        let mhz = mhz.max(1);
        let state = |group: &RcpGroup| RcpState {
            rate: group.rate,
            lengths: QueueLengths::new(group.queues.clone()),
            updates: 0,
            input: 0,
            queue: 0,
            bytes: 0,
            due: cycles(group.rate.length(), mhz),
            began: 0,
            ends: 0,
            seen: vec![Counters::default(); setup.threads.len()],
            arrived: Counters::default(),
        };
        Self {
            mhz,
            step: Step::Idle,
            group: 0,
            groups: setup.groups.iter().map(state).collect(),
            setup,
        }
    }

    /// The state of each group.
    pub fn groups(&self) -> impl Iterator<Item = &RcpState> {
        self.groups.iter()
    }

    /// The first rate is there from the start; what counters begin with does not
    /// count.
    pub(super) fn prepare(&mut self, scratch: &mut Scratch, sram: &mut Sram) {
        let count = self.groups.len();
        for (index, group) in self.groups.iter_mut().enumerate() {
            let place = self.setup.rate.after(4 * index as u32);
            place.put(group.rate.rate(), scratch, sram);
            for (seen, thread) in group.seen.iter_mut().zip(&self.setup.threads) {
                let place = self
                    .setup
                    .counters
                    .of_thread(*thread, count, index, COUNTERS_STRIDE);
                let word = |at: u32| place.after(4 * at).look(scratch, sram).unwrap_or(0);
                *seen = counters([word(0), word(1), word(2), word(3)]);
            }
        }
    }

    /// When its next job is due.
    pub(super) fn due(&self) -> Cycle {
        let due = self.groups.iter().map(|group| group.due);
        due.min().unwrap_or(Cycle::MAX)
    }

    pub(super) fn step(&mut self, access: &mut Access<'_>) -> (&'static str, Next) {
        let now = access.now();
        if self.step == Step::Idle {
            let due = self.due();
            self.group = self.groups.iter().position(|it| it.due == due).unwrap_or(0);
            self.groups[self.group].ends = now;
            self.step = Step::Thread(0);
        }
        let (doing, cost) = match self.step {
            Step::Idle => ("nothing", 0),
            Step::Thread(thread) => ("read a thread's counters", self.count(thread, access)),
            Step::Queues => ("read a queue's counters", self.queues(access)),
            Step::Publish => ("publish the rate", self.publish(access)),
        };
        let next = if self.step == Step::Idle {
            let due = self.due();
            Next::Done { cost, due }
        } else {
            Next::After(cost)
        };
        (doing, next)
    }

    /// Reads the counters of one thread.
    fn count(&mut self, index: usize, access: &mut Access<'_>) -> Cycle {
        let groups = self.groups.len();
        let it = &mut self.groups[self.group];
        let mut cost = 0;
        if let Some(&thread) = self.setup.threads.get(index) {
            let place = self
                .setup
                .counters
                .of_thread(thread, groups, self.group, COUNTERS_STRIDE);
            let (words, lasts) = access.read::<4>(place);
            let now = counters(words);
            it.arrived.add(&now.since(&it.seen[index]));
            it.seen[index] = now;
            cost = lasts;
        }
        if index + 1 < self.setup.threads.len() {
            self.step = Step::Thread(index + 1);
        } else if it.lengths.is_empty() {
            cost += self.law(0, access);
        } else {
            self.step = Step::Queues;
        }
        cost
    }

    /// Reads a queue; with the last the law is computed.
    fn queues(&mut self, access: &mut Access<'_>) -> Cycle {
        let (cost, bytes) = self.groups[self.group].lengths.step(access);
        match bytes {
            Some(bytes) => cost + self.law(bytes, access),
            None => cost,
        }
    }

    /// The rate for what has come and what waits; gives what computing it takes.
    fn law(&mut self, queue: u32, access: &mut Access<'_>) -> Cycle {
        let (mhz, group) = (self.mhz, self.group);
        let it = &mut self.groups[group];
        let arrived = std::mem::take(&mut it.arrived);
        let length = ((it.ends - it.began) * 1000 / mhz).max(1);
        it.began = it.ends;
        it.rate.fire(length, &arrived, queue);
        it.input = u64::from(arrived.bytes) * 1_000_000_000 / length;
        it.bytes += u64::from(arrived.bytes);
        it.queue = queue;
        it.updates += 1;
        for (level, value) in [
            (Level::Rate, i64::from(it.rate.rate())),
            (Level::AverageRtt, it.rate.rtt().cast_signed()),
            (Level::Input, it.input.cast_signed()),
            (Level::Queue, i64::from(queue)),
        ] {
            access.tell(group, level, value);
        }
        self.step = Step::Publish;
        access.costs.law
    }

    fn publish(&mut self, access: &mut Access<'_>) -> Cycle {
        let (now, mhz) = (access.now(), self.mhz);
        let place = self.setup.rate.after(4 * self.group as u32);
        let it = &mut self.groups[self.group];
        it.due = next_time(it.due, cycles(it.rate.length(), mhz), now);
        self.step = Step::Idle;
        access.write(place, &[it.rate.rate()])
    }
}

/// Four longwords of counters; the sum of 64 bits has its low half first.
fn counters([bytes, rtt_bytes, low, high]: [u32; 4]) -> Counters {
    Counters {
        bytes,
        rtt_bytes,
        rtt_sum: u64::from(high) << 32 | u64::from(low),
    }
}

/// Nanoseconds in cycles, rounded up; at least 1.
fn cycles(nanoseconds: u64, mhz: u64) -> Cycle {
    let cycles = (u128::from(nanoseconds) * u128::from(mhz)).div_ceil(1000);
    u64::try_from(cycles).unwrap_or(u64::MAX).max(1)
}
