//! RCP on the slow path: once per period, the rate of every flow is computed from the threads'
//! counters, and published.

use npsim_chip::Cycle;
use npsim_chip::gpp::task::next_time;
use npsim_chip::gpp::{Access, LoadError, LongwordAddress, Memories, NextAction, Start, Task};
use npsim_chip::kernel::row::Row;
use serde::{Deserialize, Serialize};

use super::{Counters, LinkRate};
use crate::job::after_access;
use crate::queue_lengths::QueueLengths;
use crate::thread_counters::{GroupCounters, ThreadCounters, ThreadRecord};

/// Quantities reported to observers.
mod level {
    use npsim_chip::kernel::trace_event::Level;

    use crate::job::level as of;

    /// The rate of every flow.
    pub const RATE: Level = of("rate", "byte/s");
    /// Average round-trip time.
    pub const AVERAGE_RTT: Level = of("average round-trip time", "ns");
    /// Input rate in an interval.
    pub const INPUT: Level = of("input", "byte/s");
    /// The queue that enters the computation.
    pub const QUEUE: Level = of("queue", "bytes");
}

/// Configuration of the task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RcpSetup {
    /// The rate of the first group; each group has one longword.
    pub rate: LongwordAddress,
    /// The threads' counters.
    pub counters: ThreadCounters,
    /// The groups of ports.
    pub groups: Vec<RcpGroup>,
}

/// Ports that share a rate.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RcpGroup {
    /// The validated law, before the first packet.
    pub rate: LinkRate,
    /// The counters of each queue.
    pub queues: Vec<LongwordAddress>,
}

/// The state of a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RcpState {
    /// The law.
    pub rate: LinkRate,
    lengths: QueueLengths,
    /// Number of times that the rate was computed.
    pub updates: u64,
    /// Input rate in the last interval, in bytes per second.
    pub input: u64,
    /// Bytes waiting at the end of that interval.
    pub queue: u32,
    /// Bytes counted since the start.
    pub bytes: u64,
    due: Cycle,
    /// When the last interval ended.
    began: Cycle,
    /// When the interval that is being ended ends.
    ends: Cycle,
    arrivals: GroupCounters<Counters, 4>,
}

impl RcpState {
    /// The totals, modulo 2^32 and 2^64, when the threads' counters were last read. What arrived
    /// in an interval is the difference to the totals of the interval before.
    #[must_use]
    pub fn counted(&self) -> Counters {
        self.arrivals.counted()
    }

    /// The cycle at which the last interval ended.
    #[must_use]
    pub const fn began(&self) -> Cycle {
        self.began
    }
}

/// The next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum RcpStep {
    Idle,
    Thread(usize),
    Queues,
    Publish,
}

/// The RCP task.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct RcpTask {
    setup: RcpSetup,
    mhz: u64,
    step: RcpStep,
    /// The group of the current job.
    group: usize,
    groups: Vec<RcpState>,
}

impl RcpTask {
    /// Creates the task before the first cycle.
    #[must_use]
    pub fn new(setup: RcpSetup) -> Self {
        Self::at(setup, 1)
    }

    /// Creates the task before the first cycle, for microengines of this frequency.
    fn at(setup: RcpSetup, mhz: u64) -> Self {
        let threads = setup.counters.threads.len();
        let count = setup.groups.len();
        let state = |(index, group): (usize, &RcpGroup)| RcpState {
            rate: group.rate,
            lengths: QueueLengths::new(group.queues.clone()),
            updates: 0,
            input: 0,
            queue: 0,
            bytes: 0,
            due: cycles(group.rate.length(), mhz),
            began: 0,
            ends: 0,
            arrivals: GroupCounters::new(threads, index, count),
        };
        Self {
            mhz,
            step: RcpStep::Idle,
            group: 0,
            groups: setup.groups.iter().enumerate().map(state).collect(),
            setup,
        }
    }

    /// The state of each group.
    #[must_use]
    pub fn groups(&self) -> impl ExactSizeIterator<Item = &RcpState> {
        self.groups.iter()
    }

    /// The configuration.
    #[must_use]
    pub const fn setup(&self) -> &RcpSetup {
        &self.setup
    }

    /// The cycle at which the next job is due.
    fn due(&self) -> Cycle {
        let due = self.groups.iter().map(|group| group.due);
        due.min().unwrap_or(Cycle::MAX)
    }

    /// Reads the counters of one thread.
    fn count(&mut self, index: usize, access: &mut Access<'_>) -> Cycle {
        let it = &mut self.groups[self.group];
        let (cost, last) = it.arrivals.read(index, &self.setup.counters, access);
        if !last {
            self.step = RcpStep::Thread(index + 1);
        } else if it.lengths.is_empty() {
            return cost + self.law(0, access);
        } else {
            self.step = RcpStep::Queues;
        }
        cost
    }

    /// Reads a queue; the law is computed after the last one.
    fn queues(&mut self, access: &mut Access<'_>) -> Cycle {
        let (cost, bytes) = self.groups[self.group].lengths.step(access);
        match bytes {
            Some(bytes) => cost + self.law(bytes, access),
            None => cost,
        }
    }

    /// Computes the rate from arrivals and queue; returns the cycles that this takes.
    fn law(&mut self, queue: u32, access: &mut Access<'_>) -> Cycle {
        let (mhz, group) = (self.mhz, self.group);
        let it = &mut self.groups[group];
        let arrived = it.arrivals.take();
        let length = ((it.ends - it.began) * 1000 / mhz).max(1);
        it.began = it.ends;
        it.rate.fire(length, &arrived, queue);
        it.input = u64::from(arrived.bytes) * 1_000_000_000 / length;
        it.bytes += u64::from(arrived.bytes);
        it.queue = queue;
        it.updates += 1;
        for (level, value) in [
            (level::RATE, i64::from(it.rate.rate())),
            (level::AVERAGE_RTT, it.rate.rtt().cast_signed()),
            (level::INPUT, it.input.cast_signed()),
            (level::QUEUE, i64::from(queue)),
        ] {
            access.trace_level(group, level, value);
        }
        self.step = RcpStep::Publish;
        access.costs().law
    }

    fn publish(&mut self, access: &mut Access<'_>) -> Cycle {
        let (now, mhz) = (access.now(), self.mhz);
        let place = self.setup.rate.after(4 * self.group as u32);
        let it = &mut self.groups[self.group];
        it.due = next_time(it.due, cycles(it.rate.length(), mhz), now);
        self.step = RcpStep::Idle;
        access.write(place, &[it.rate.rate()])
    }
}

impl Task for RcpTask {
    fn name(&self) -> &'static str {
        "rcp"
    }

    /// Publishes the first rate before the start; initial values of counters are not counted.
    fn prepare(&mut self, start: &mut Start<'_>) -> Result<Option<Cycle>, LoadError> {
        *self = Self::at(self.setup.clone(), start.mhz());
        let setup = &self.setup;
        let count = setup.groups.len();
        start.check(setup.rate, count as u32 * 4)?;
        setup.counters.check(count, Counters::STRIDE, start)?;
        for group in &self.groups {
            group.lengths.check(start)?;
        }
        for (index, group) in self.groups.iter_mut().enumerate() {
            start.write(setup.rate.after(4 * index as u32), group.rate.rate());
            group.arrivals.prepare(&setup.counters, start);
        }
        Ok(Some(self.due()))
    }

    fn step(&mut self, access: &mut Access<'_>) -> (&'static str, NextAction) {
        let now = access.now();
        if self.step == RcpStep::Idle {
            let due = self.due();
            self.group = self.groups.iter().position(|it| it.due == due).unwrap_or(0);
            self.groups[self.group].ends = now;
            self.step = RcpStep::Thread(0);
        }
        let (doing, cost) = match self.step {
            RcpStep::Idle => ("nothing", 0),
            RcpStep::Thread(thread) => ("read a thread's counters", self.count(thread, access)),
            RcpStep::Queues => ("read a queue's counters", self.queues(access)),
            RcpStep::Publish => ("publish the rate", self.publish(access)),
        };
        let done = self.step == RcpStep::Idle;
        (doing, after_access(cost, done.then(|| self.due())))
    }

    /// Rates are in bytes per second.
    fn rows(&self, _memories: Memories<'_>) -> Vec<Row> {
        let groups = (0_u64..).zip(self.groups());
        groups
            .map(|(number, state)| {
                Row::default()
                    .with("group", number)
                    .with("capacity", state.rate.parameters().capacity)
                    .with("rate", state.rate.rate())
                    .with("avg_rtt_ns", state.rate.rtt())
                    .with("input_bandwidth", state.input)
                    .with("queue", state.queue)
                    .with("bytes", state.bytes)
                    .with("updates", state.updates)
            })
            .collect()
    }

    fn summary(&self, _memories: Memories<'_>) -> Vec<String> {
        let count = self.groups.len();
        let groups = self.groups().enumerate();
        groups
            .map(|(number, state)| state.summary(number, count))
            .collect()
    }
}

/// Converts nanoseconds to cycles, rounded up; at least 1.
fn cycles(nanoseconds: u64, mhz: u64) -> Cycle {
    let cycles = (u128::from(nanoseconds) * u128::from(mhz)).div_ceil(1000);
    u64::try_from(cycles).unwrap_or(u64::MAX).max(1)
}
