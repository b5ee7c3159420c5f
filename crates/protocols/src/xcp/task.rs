//! XCP on the slow path: the control timer turns what arrived in an interval into the feedback of
//! the next one, and the queue timer determines the standing queue.
//!
//! Pools and sums are shared with microengines in one of three ways: all under a lock; pools under
//! a lock and sums per thread; or pools in two banks without a lock and sums per thread. In the
//! last case the core writes the idle bank before switching to it, so that feedback taken late is
//! taken from the bank that it belongs to.

use npsim_chip::Cycle;
use npsim_chip::gpp::task::next_time;
use npsim_chip::gpp::{Access, LoadError, LongwordAddress, Memories, NextAction, Start, Task};
use npsim_chip::kernel::row::Row;
use serde::{Deserialize, Serialize};

use super::{ControlTimer, IntervalResult, QueueTimer, SECOND, Sums, time_to_nanoseconds};
use crate::job::after_access;
use crate::queue_lengths::QueueLengths;
use crate::thread_counters::{GroupCounters, ThreadCounters, ThreadRecord};

/// Bytes from one group's state to the next.
pub const STATE_STRIDE: u32 = 64;

/// Offsets in a group's state, in bytes.
mod offset {
    /// The lock.
    pub const LOCK: u32 = 20;
    /// The sums of the locked layout.
    pub const SUMS: u32 = 32;
    /// The scales of the first bank of the split layout; 12 bytes per bank.
    pub const SCALES: u32 = 4;
    /// The residues of the first bank of the split layout; 8 bytes per bank.
    pub const RESIDUES: u32 = 32;
}

/// Quantities reported to observers.
mod level {
    use npsim_chip::kernel::trace_event::Level;

    use crate::job::level as of;

    /// Positive feedback available in an interval.
    pub const POSITIVE_RESIDUE: Level = of("positive feedback", "byte/s");
    /// Negative feedback available in an interval.
    pub const NEGATIVE_RESIDUE: Level = of("negative feedback", "byte/s");
    /// Input rate in an interval.
    pub const INPUT: Level = of("input", "byte/s");
    /// Average round-trip time.
    pub const AVERAGE_RTT: Level = of("average round-trip time", "ns");
    /// Length of the interval that begins.
    pub const INTERVAL: Level = of("interval", "ns");
    /// The standing queue.
    pub const QUEUE: Level = of("queue", "bytes");
}

/// How the pools are shared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum XcpLayout {
    /// Pools in one place, with the sums unless these are per thread; with a lock, which the core
    /// takes, or without one.
    Locked {
        /// Whether the core takes the lock.
        lock: bool,
    },
    /// Pools in two banks. Sums must be per thread.
    Split,
}

/// Configuration of the task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct XcpSetup {
    /// The shared state of the first group; each group has [`STATE_STRIDE`] bytes.
    pub state: LongwordAddress,
    /// The layout of the state.
    pub layout: XcpLayout,
    /// The sums of each thread, if they are not in the state.
    pub sums: Option<ThreadCounters>,
    /// The groups of ports.
    pub groups: Vec<XcpGroup>,
}

/// Ports that share their feedback.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct XcpGroup {
    /// The validated law.
    pub control: ControlTimer,
    /// The counters of each queue.
    pub queues: Vec<LongwordAddress>,
}

/// The state of a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct XcpState {
    /// The control timer.
    pub control: ControlTimer,
    /// The queue timer.
    pub queue: QueueTimer,
    lengths: QueueLengths,
    /// The result of the last interval.
    pub last: Option<IntervalResult>,
    /// Number of intervals that ended.
    pub intervals: u64,
    /// The bank that microengines use, in the split layout.
    bank: u32,
    due: Cycle,
    queue_due: Cycle,
    /// What arrived in the interval, as far as it was read from sums per thread.
    arrivals: GroupCounters<Sums, 5>,
}

impl XcpState {
    /// The totals, modulo 2^32 and 2^64, when the threads' sums were last read. What arrived in an
    /// interval is the difference to the totals of the interval before.
    #[must_use]
    pub fn counted(&self) -> Sums {
        self.arrivals.counted()
    }
}

/// The next step.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum XcpStep {
    Idle,
    Queues,
    ThreadSums(usize),
    Lock,
    ReadSums,
    WritePools,
    WriteScales,
    Turn,
    ZeroSums,
    Release,
}

/// The XCP task.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct XcpTask {
    setup: XcpSetup,
    mhz: u64,
    step: XcpStep,
    /// The group of the current job.
    group: usize,
    groups: Vec<XcpState>,
    /// Number of failed attempts to take the lock.
    pub failed_tries: u64,
}

impl XcpTask {
    /// Creates the task before the first cycle.
    #[must_use]
    pub fn new(setup: XcpSetup) -> Self {
        Self::at(setup, 1)
    }

    /// Creates the task before the first cycle, for microengines of this frequency.
    fn at(setup: XcpSetup, mhz: u64) -> Self {
        let threads = setup.sums.as_ref().map_or(0, |sums| sums.threads.len());
        let count = setup.groups.len();
        let state = |(index, group): (usize, &XcpGroup)| {
            let parameters = group.control.parameters();
            let first = cycles(parameters.allowed_queue, mhz);
            XcpState {
                control: group.control,
                queue: QueueTimer::default(),
                lengths: QueueLengths::new(group.queues.clone()),
                last: None,
                intervals: 0,
                bank: 0,
                due: cycles(group.control.length(), mhz),
                queue_due: if group.queues.is_empty() {
                    Cycle::MAX
                } else {
                    first
                },
                arrivals: GroupCounters::new(threads, index, count),
            }
        };
        Self {
            mhz,
            step: XcpStep::Idle,
            group: 0,
            groups: setup.groups.iter().enumerate().map(state).collect(),
            failed_tries: 0,
            setup,
        }
    }

    /// The configuration.
    #[must_use]
    pub const fn setup(&self) -> &XcpSetup {
        &self.setup
    }

    /// The state of each group.
    #[must_use]
    pub fn groups(&self) -> impl ExactSizeIterator<Item = &XcpState> {
        self.groups.iter()
    }

    /// The cycle at which the next job is due.
    fn due(&self) -> Cycle {
        let due = |group: &XcpState| group.due.min(group.queue_due);
        self.groups.iter().map(due).min().unwrap_or(Cycle::MAX)
    }

    fn state(&self) -> LongwordAddress {
        self.setup.state.after(self.group as u32 * STATE_STRIDE)
    }

    /// The first step of the job that is due first. The queue is sampled before an interval that
    /// ends at the same time.
    fn begin(&mut self) -> XcpStep {
        let due = self.due();
        if let Some(group) = self.groups.iter().position(|it| it.queue_due == due) {
            self.group = group;
            return XcpStep::Queues;
        }
        self.group = self.groups.iter().position(|it| it.due == due).unwrap_or(0);
        match &self.setup.sums {
            Some(sums) if !sums.threads.is_empty() => XcpStep::ThreadSums(0),
            _ => self.after_thread_sums(),
        }
    }

    fn after_thread_sums(&self) -> XcpStep {
        match self.setup.layout {
            XcpLayout::Locked { lock: true } => XcpStep::Lock,
            XcpLayout::Locked { lock: false } => self.after_lock(),
            XcpLayout::Split => XcpStep::WritePools,
        }
    }

    fn after_lock(&self) -> XcpStep {
        if self.setup.sums.is_some() {
            XcpStep::WritePools
        } else {
            XcpStep::ReadSums
        }
    }

    /// Reads a queue; the queue timer fires after the last one.
    fn queues(&mut self, access: &mut Access<'_>) -> Cycle {
        let (now, mhz, group) = (access.now(), self.mhz, self.group);
        let it = &mut self.groups[group];
        let (cost, bytes) = it.lengths.step(access);
        if let Some(bytes) = bytes {
            let control = &it.control;
            let next = it
                .queue
                .fire(bytes, control.avg_rtt(), control.parameters());
            it.queue_due = now + cycles(next, mhz);
            access.trace_level(group, level::QUEUE, it.queue.queue().into());
            self.step = XcpStep::Idle;
        }
        cost
    }

    /// Reads the sums of one thread; the law is computed after the last one.
    fn thread_sums(&mut self, index: usize, access: &mut Access<'_>) -> Cycle {
        let Some(sums) = &self.setup.sums else {
            self.step = self.after_thread_sums();
            return 0;
        };
        let arrivals = &mut self.groups[self.group].arrivals;
        let (cost, last) = arrivals.read(index, sums, access);
        if !last {
            self.step = XcpStep::ThreadSums(index + 1);
            return cost;
        }
        let arrived = arrivals.take();
        self.step = self.after_thread_sums();
        cost + self.law(&arrived, access)
    }

    /// Steps 7 to 18 of the draft; returns the cycles that they take.
    fn law(&mut self, arrived: &Sums, access: &mut Access<'_>) -> Cycle {
        let group = self.group;
        let it = &mut self.groups[group];
        let done = it.control.fire(arrived, it.queue.queue());
        it.last = Some(done);
        it.intervals += 1;
        let (rtt, length) = (it.control.avg_rtt(), it.control.length());
        for (level, value) in [
            (level::POSITIVE_RESIDUE, i64::from(done.pools.residue_pos)),
            (level::NEGATIVE_RESIDUE, i64::from(done.pools.residue_neg)),
            (level::INPUT, done.input_bandwidth.cast_signed()),
            (level::AVERAGE_RTT, time_to_nanoseconds(rtt).cast_signed()),
            (level::INTERVAL, time_to_nanoseconds(length).cast_signed()),
        ] {
            access.trace_level(group, level, value);
        }
        access.costs().law
    }

    /// The residues and the scales of the last interval as they are in memory.
    fn words(&self) -> ([u32; 2], [u32; 3]) {
        let Some(last) = self.groups[self.group].last else {
            return ([0; 2], [0; 3]);
        };
        let pools = last.pools;
        let shifts = u32::from(pools.cn.shift) << 8 | u32::from(pools.cp.shift);
        (
            [pools.residue_pos, pools.residue_neg],
            [pools.cp.mantissa, pools.cn.mantissa, shifts],
        )
    }

    fn write_pools(&mut self, access: &mut Access<'_>) -> Cycle {
        let ([pos, neg], [cp, cn, shifts]) = self.words();
        match self.setup.layout {
            XcpLayout::Split => {
                let bank = 1 - self.groups[self.group].bank;
                self.step = XcpStep::WriteScales;
                let place = self.state().after(offset::RESIDUES + 8 * bank);
                access.write(place, &[pos, neg])
            }
            XcpLayout::Locked { .. } => {
                let cost = access.write(self.state(), &[pos, neg, cp, cn, shifts]);
                if self.setup.sums.is_none() {
                    self.step = XcpStep::ZeroSums;
                } else {
                    self.release_or_end(access.now());
                }
                cost
            }
        }
    }

    fn release_or_end(&mut self, now: Cycle) {
        if self.setup.layout == (XcpLayout::Locked { lock: true }) {
            self.step = XcpStep::Release;
        } else {
            self.end(now);
        }
    }

    /// Starts the next interval. Its length counts from when the previous one was due to end, if
    /// the new end is still in the future.
    fn end(&mut self, now: Cycle) {
        let mhz = self.mhz;
        let it = &mut self.groups[self.group];
        it.due = next_time(it.due, cycles(it.control.length(), mhz), now);
        self.step = XcpStep::Idle;
    }
}

impl Task for XcpTask {
    fn name(&self) -> &'static str {
        "xcp"
    }

    /// Initial values of sums per thread are not counted.
    fn prepare(&mut self, start: &mut Start<'_>) -> Result<Option<Cycle>, LoadError> {
        *self = Self::at(self.setup.clone(), start.mhz());
        let setup = &self.setup;
        let count = setup.groups.len();
        start.check(setup.state, count as u32 * STATE_STRIDE)?;
        if let Some(sums) = &setup.sums {
            sums.check(count, Sums::STRIDE, start)?;
        }
        for group in &mut self.groups {
            group.lengths.check(start)?;
            if let Some(sums) = &setup.sums {
                group.arrivals.prepare(sums, start);
            }
        }
        Ok(Some(self.due()))
    }

    fn step(&mut self, access: &mut Access<'_>) -> (&'static str, NextAction) {
        if self.step == XcpStep::Idle {
            self.step = self.begin();
        }
        let (doing, cost) = match self.step {
            XcpStep::Idle => ("nothing", 0),
            XcpStep::Queues => ("read a queue's counters", self.queues(access)),
            XcpStep::ThreadSums(thread) => {
                ("read a thread's sums", self.thread_sums(thread, access))
            }
            XcpStep::Lock => {
                let (old, cost) = access.test_and_set(self.state().after(offset::LOCK));
                if old & 1 == 1 {
                    self.failed_tries += 1;
                } else {
                    self.step = self.after_lock();
                }
                ("take the lock", cost)
            }
            XcpStep::ReadSums => {
                let (words, cost) = access.read(self.state().after(offset::SUMS));
                self.step = XcpStep::WritePools;
                let law = self.law(&Sums::from_words(words), access);
                ("read the sums, compute the feedback", cost + law)
            }
            XcpStep::WritePools => ("write the pools", self.write_pools(access)),
            XcpStep::WriteScales => {
                let bank = 1 - self.groups[self.group].bank;
                let (_, scales) = self.words();
                let place = self.state().after(offset::SCALES + 12 * bank);
                self.step = XcpStep::Turn;
                ("write the scales", access.write(place, &scales))
            }
            XcpStep::Turn => {
                let it = &mut self.groups[self.group];
                it.bank = 1 - it.bank;
                let bank = it.bank;
                let cost = access.write(self.state(), &[bank]);
                self.end(access.now());
                ("turn to the new bank", cost)
            }
            XcpStep::ZeroSums => {
                let cost = access.write(self.state().after(offset::SUMS), &[0; 5]);
                self.release_or_end(access.now());
                ("zero the sums", cost)
            }
            XcpStep::Release => {
                let cost = access.clear(self.state().after(offset::LOCK));
                self.end(access.now());
                ("release the lock", cost)
            }
        };
        let done = self.step == XcpStep::Idle;
        (doing, after_access(cost, done.then(|| self.due())))
    }

    /// Rates are in bytes per second.
    fn rows(&self, _memories: Memories<'_>) -> Vec<Row> {
        let groups = (0_u64..).zip(self.groups());
        groups
            .map(|(number, state)| {
                let last = state.last.as_ref();
                let pools = last.map(|last| last.pools).unwrap_or_default();
                Row::default()
                    .with("group", number)
                    .with("capacity", state.control.parameters().capacity)
                    .with("intervals", state.intervals)
                    .with("interval_ns", time_to_nanoseconds(state.control.length()))
                    .with("avg_rtt_ns", time_to_nanoseconds(state.control.avg_rtt()))
                    .with("input_bandwidth", last.map_or(0, |it| it.input_bandwidth))
                    .with("aggregate", last.map_or(0, |it| it.aggregate))
                    .with("shuffled", last.map_or(0, |it| it.shuffled))
                    .with("residue_pos", pools.residue_pos)
                    .with("residue_neg", pools.residue_neg)
                    .with("cp_mantissa", pools.cp.mantissa)
                    .with("cp_shift", pools.cp.shift)
                    .with("cn_mantissa", pools.cn.mantissa)
                    .with("cn_shift", pools.cn.shift)
                    .with("queue", state.queue.queue())
                    .with("failed_tries", self.failed_tries)
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

/// Converts 2^-28 s to cycles, rounded up; at least 1.
fn cycles(time: u32, mhz: u64) -> Cycle {
    (u64::from(time) * mhz * 1_000_000)
        .div_ceil(u64::from(SECOND))
        .max(1)
}
