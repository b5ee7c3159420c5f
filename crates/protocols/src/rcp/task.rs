//! RCP on the slow path: once a period the rate of every flow is computed from what
//! the threads counted, and published.

use npsim_chip::Cycle;
use npsim_chip::gpp::task::next_time;
use npsim_chip::gpp::{Access, LoadError, Memories, Next, Place, Start, Task};
use npsim_chip::kernel::row::Row;
use serde::{Deserialize, Serialize};

use super::{Counters, Rate};
use crate::queue_lengths::{QUEUE_BYTES, QueueLengths, per_thread};

/// Bytes of the counters of a thread and group.
pub(crate) const COUNTERS_STRIDE: u32 = 16;

/// What the task tells observers.
mod level {
    use npsim_chip::kernel::trace_event::Level;

    const fn of(name: &'static str, unit: &'static str) -> Level {
        Level { name, unit }
    }

    /// The rate of every flow.
    pub const RATE: Level = of("rate", "byte/s");
    /// Average round-trip time.
    pub const AVERAGE_RTT: Level = of("average round-trip time", "ns");
    /// Rate of the input in an interval.
    pub const INPUT: Level = of("input", "byte/s");
    /// The queue that counts.
    pub const QUEUE: Level = of("queue", "bytes");
}

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

impl RcpState {
    /// What had come, modulo 2^32 and 2^64, when threads' counters were read last: an interval had
    /// what came since it was this at the end of the one before.
    #[must_use]
    pub fn counted(&self) -> Counters {
        let mut all = Counters::default();
        for thread in &self.seen {
            all.add(thread);
        }
        all
    }

    /// The cycle at which the last interval ended.
    #[must_use]
    pub const fn began(&self) -> Cycle {
        self.began
    }
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
    /// A task before the first cycle.
    #[must_use]
    pub fn new(setup: RcpSetup) -> Self {
        Self::at(setup, 1)
    }

    /// The same beside microengines of so many megahertz.
    fn at(setup: RcpSetup, mhz: u64) -> Self {
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
    #[must_use]
    pub fn groups(&self) -> impl ExactSizeIterator<Item = &RcpState> {
        self.groups.iter()
    }

    /// What the task works on, and how.
    #[must_use]
    pub const fn setup(&self) -> &RcpSetup {
        &self.setup
    }

    /// When its next job is due.
    fn due(&self) -> Cycle {
        let due = self.groups.iter().map(|group| group.due);
        due.min().unwrap_or(Cycle::MAX)
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
            (level::RATE, i64::from(it.rate.rate())),
            (level::AVERAGE_RTT, it.rate.rtt().cast_signed()),
            (level::INPUT, it.input.cast_signed()),
            (level::QUEUE, i64::from(queue)),
        ] {
            access.tell(group, level, value);
        }
        self.step = Step::Publish;
        access.costs().law
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

impl Task for Rcp {
    fn name(&self) -> &'static str {
        "rcp"
    }

    /// The first rate is there from the start; what counters begin with does not
    /// count.
    fn prepare(&mut self, start: &mut Start<'_>) -> Result<Option<Cycle>, LoadError> {
        *self = Self::at(self.setup.clone(), start.mhz());
        let setup = &self.setup;
        let count = setup.groups.len();
        start.check(setup.rate, count as u32 * 4)?;
        let bytes = per_thread(&setup.threads, count, COUNTERS_STRIDE);
        start.check(setup.counters, bytes)?;
        for queue in setup.groups.iter().flat_map(|group| &group.queues) {
            start.check(*queue, QUEUE_BYTES)?;
        }
        for (index, group) in self.groups.iter_mut().enumerate() {
            start.write(setup.rate.after(4 * index as u32), group.rate.rate());
            for (seen, thread) in group.seen.iter_mut().zip(&setup.threads) {
                let own = setup.counters;
                let place = own.of_thread(*thread, count, index, COUNTERS_STRIDE);
                let word = |at: usize| start.read(place.after(4 * at as u32));
                *seen = counters(std::array::from_fn(word));
            }
        }
        Ok(Some(self.due()))
    }

    fn step(&mut self, access: &mut Access<'_>) -> (&'static str, Next) {
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
