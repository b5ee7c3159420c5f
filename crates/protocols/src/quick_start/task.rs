//! Quick-Start on the slow path: samples the lines' utilisation, and renews the
//! limit window by window.
//!
//! Microengines and the core share a [`GrantWindow`] in memory: limit, phase and two
//! counters of grants. The counter of the next window is zeroed after it has been
//! idle for a whole window; limit and phase change in one access. What threads give
//! back late, to the counter of the previous window, is included in the exact sum
//! that is read after the grace period.

use npsim_chip::Cycle;
use npsim_chip::gpp::task::next_time;
use npsim_chip::gpp::{Access, LoadError, LongwordAddress, Memories, NextAction, Start, Task};
use npsim_chip::kernel::row::Row;
use serde::{Deserialize, Serialize};

use super::window::{GrantWindow, PeakUtilisation, limit, units_of_bytes};
use crate::job::after_access;

/// Bytes from one group's state to the next.
pub const STATE_STRIDE: u32 = 32;
/// Offset of the first counter of grants in the state, and distance to the second;
/// the lock, if one is used, is between them.
const GRANTED: u32 = 8;
const PHASE: u32 = 8;

/// Quantities reported to observers, in units of 40 kbit/s.
mod level {
    use npsim_chip::kernel::trace_event::Level;

    const fn of(name: &'static str) -> Level {
        let unit = "40 kbit/s";
        Level { name, unit }
    }

    /// The limit of the window.
    pub const LIMIT: Level = of("limit");
    /// The grants of the previous window.
    pub const GRANTS: Level = of("grants of the last window");
    /// The last sample of the lines' utilisation.
    pub const UTILISATION: Level = of("utilisation");
    /// The largest of the recent samples.
    pub const PEAK_UTILISATION: Level = of("peak utilisation");
}

/// Configuration of the task.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuickStartSetup {
    /// The shared state of the first group; each group has [`STATE_STRIDE`] bytes.
    pub state: LongwordAddress,
    /// The groups of ports.
    pub groups: Vec<QuickStartGroup>,
    /// Cycles of a window.
    pub window: Cycle,
    /// Cycles from the end of a window until its grants are final and read again;
    /// fewer than a window has.
    pub grace: Cycle,
    /// Cycles from one sample of the ports' counters to the next.
    pub sample: Cycle,
    /// Number of recent samples of which the largest counts.
    pub samples: u32,
}

/// Ports that share a limit.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuickStartGroup {
    /// Total rate of the lines, in units of 40 kbit/s.
    pub capacity: i64,
    /// Maximum utilisation including grants, in units of 40 kbit/s.
    pub threshold: i64,
    /// For each port, the low longword of its sent bytes.
    pub counters: Vec<LongwordAddress>,
}

/// The state of a group.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuickStartState {
    /// Limit and phase as they are in memory; the counter of the previous window as
    /// last read.
    pub window: GrantWindow,
    /// The recent samples.
    peak: PeakUtilisation,
    /// The last sample, in units of 40 kbit/s.
    pub utilisation: i64,
    /// Exact grants of the previous window, in units of 40 kbit/s.
    pub grants: i32,
    /// Sum of the exact grants of all windows.
    pub grants_total: i64,
    /// The ports' counters as last read.
    last: Vec<u32>,
    /// Bytes sent since the last sample, as far as counters have been read.
    bytes: u64,
    /// Cycle of the last sample.
    sampled_at: Cycle,
}

impl QuickStartState {
    /// The largest of the recent samples, in units of 40 kbit/s.
    #[must_use]
    pub fn peak_utilisation(&self) -> i64 {
        self.peak.peak()
    }
}

/// The next step, with the group that it is for.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum QuickStartStep {
    Idle,
    Sample { group: usize, port: usize },
    Zero(usize),
    ReadBound(usize),
    Publish(usize),
    ReadExact(usize),
    Correct(usize),
}

/// The Quick-Start task.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct QuickStartTask {
    setup: QuickStartSetup,
    mhz: u64,
    step: QuickStartStep,
    groups: Vec<QuickStartState>,
    next_window: Cycle,
    next_sample: Cycle,
    next_correction: Option<Cycle>,
    /// Number of windows that ended.
    pub windows: u64,
    /// Number of samples taken.
    pub samples: u64,
}

impl QuickStartTask {
    /// Creates the task before the first cycle.
    #[must_use]
    pub fn new(setup: QuickStartSetup) -> Self {
        let state = |group: &QuickStartGroup| QuickStartState {
            window: GrantWindow {
                limit: limit(group.threshold, 0, 0),
                ..GrantWindow::default()
            },
            peak: PeakUtilisation::new(setup.samples as usize),
            utilisation: 0,
            grants: 0,
            grants_total: 0,
            last: vec![0; group.counters.len()],
            bytes: 0,
            sampled_at: 0,
        };
        Self {
            mhz: 1,
            step: QuickStartStep::Idle,
            groups: setup.groups.iter().map(state).collect(),
            next_window: setup.window,
            next_sample: setup.sample,
            next_correction: None,
            windows: 0,
            samples: 0,
            setup,
        }
    }

    /// The configuration.
    #[must_use]
    pub const fn setup(&self) -> &QuickStartSetup {
        &self.setup
    }

    /// Each group with its state.
    #[must_use]
    pub fn groups(&self) -> impl ExactSizeIterator<Item = (&QuickStartGroup, &QuickStartState)> {
        self.setup.groups.iter().zip(&self.groups)
    }

    /// The counter of grants of a group's current window in memory.
    #[must_use]
    pub(crate) fn granted_now(&self, group: usize, memories: Memories<'_>) -> i32 {
        let phase = self.groups.get(group).map_or(0, |it| it.window.phase);
        let place = self.counter(group, usize::from(phase));
        memories.peek_word(place).unwrap_or(0).cast_signed()
    }

    /// The cycle at which the next job is due.
    fn due(&self) -> Cycle {
        let correction = self.next_correction.unwrap_or(Cycle::MAX);
        self.next_window.min(self.next_sample).min(correction)
    }

    fn state(&self, group: usize) -> LongwordAddress {
        self.setup.state.after(group as u32 * STATE_STRIDE)
    }

    fn counter(&self, group: usize, phase: usize) -> LongwordAddress {
        self.state(group).after(GRANTED + PHASE * phase as u32)
    }

    /// The first step of the job that has been due longest; a sample comes before
    /// the window that uses it.
    fn begin(&self) -> QuickStartStep {
        let due = self.due();
        if self.next_sample == due {
            QuickStartStep::Sample { group: 0, port: 0 }
        } else if self.next_correction == Some(due) {
            QuickStartStep::ReadExact(0)
        } else {
            QuickStartStep::Zero(0)
        }
    }

    /// Reads one port's counter; the last one of a group completes its sample.
    fn sample(&mut self, group: usize, port: usize, access: &mut Access<'_>) -> Cycle {
        let now = access.now();
        let ports = &self.setup.groups[group].counters;
        let it = &mut self.groups[group];
        let mut cost = 0;
        if let Some(&place) = ports.get(port) {
            let ([bytes], lasts) = access.read(place);
            // Only the low half is read, since its carry may not have been written
            // yet.
            it.bytes += u64::from(bytes.wrapping_sub(it.last[port]));
            it.last[port] = bytes;
            cost = lasts;
        }
        if port + 1 < ports.len() {
            let port = port + 1;
            self.step = QuickStartStep::Sample { group, port };
            return cost;
        }
        let picoseconds = (now - it.sampled_at) * 1_000_000 / self.mhz;
        it.sampled_at = now;
        it.utilisation = units_of_bytes(std::mem::take(&mut it.bytes), picoseconds);
        it.peak.record(it.utilisation);
        access.trace_level(group, level::UTILISATION, it.utilisation);
        access.trace_level(group, level::PEAK_UTILISATION, it.peak.peak());
        self.step = if group + 1 < self.groups.len() {
            let group = group + 1;
            QuickStartStep::Sample { group, port: 0 }
        } else {
            self.samples += 1;
            self.next_sample = next_time(self.next_sample, self.setup.sample, now);
            QuickStartStep::Idle
        };
        cost
    }

    /// Ends the window of a group: the next one begins with this access.
    fn publish(&mut self, group: usize, access: &mut Access<'_>) -> Cycle {
        let now = access.now();
        let threshold = self.setup.groups[group].threshold;
        let it = &mut self.groups[group];
        it.window.rotate(threshold, it.peak.peak());
        let (limit, phase) = (it.window.limit, it.window.phase);
        access.trace_level(group, level::LIMIT, limit.into());
        let words = [limit.cast_unsigned(), PHASE * u32::from(phase)];
        let cost = access.write(self.state(group), &words);
        self.step = if group + 1 < self.groups.len() {
            QuickStartStep::Zero(group + 1)
        } else {
            self.windows += 1;
            self.next_window = next_time(self.next_window, self.setup.window, now);
            self.next_correction = Some(now + self.setup.grace);
            QuickStartStep::Idle
        };
        cost
    }

    /// Corrects the limit now that the grants of the previous window are exact.
    fn correct(&mut self, group: usize, access: &mut Access<'_>) -> Cycle {
        let threshold = self.setup.groups[group].threshold;
        let it = &mut self.groups[group];
        it.window.settle(threshold, it.peak.peak());
        it.grants = it.window.granted[1 - usize::from(it.window.phase)];
        it.grants_total += i64::from(it.grants);
        let (limit, grants) = (it.window.limit, it.grants);
        access.trace_level(group, level::GRANTS, grants.into());
        access.trace_level(group, level::LIMIT, limit.into());
        let cost = access.write(self.state(group), &[limit.cast_unsigned()]);
        self.step = if group + 1 < self.groups.len() {
            QuickStartStep::ReadExact(group + 1)
        } else {
            self.next_correction = None;
            QuickStartStep::Idle
        };
        cost
    }
}

impl Task for QuickStartTask {
    fn name(&self) -> &'static str {
        "quick-start"
    }

    /// Sets the limit of the first window before the start.
    fn prepare(&mut self, start: &mut Start<'_>) -> Result<Option<Cycle>, LoadError> {
        let setup = &self.setup;
        start.check(setup.state, setup.groups.len() as u32 * STATE_STRIDE)?;
        for place in setup.groups.iter().flat_map(|group| &group.counters) {
            start.check(*place, 4)?;
        }
        self.mhz = start.mhz();
        for (index, group) in self.groups.iter_mut().enumerate() {
            let state = setup.state.after(index as u32 * STATE_STRIDE);
            let limit = group.window.limit.cast_unsigned();
            for (at, value) in [(0, limit), (4, 0), (GRANTED, 0), (GRANTED + PHASE, 0)] {
                start.write(state.after(at), value);
            }
            let counters = &setup.groups[index].counters;
            for (last, place) in group.last.iter_mut().zip(counters) {
                *last = start.read(*place);
            }
        }
        Ok(Some(self.due()))
    }

    fn step(&mut self, access: &mut Access<'_>) -> (&'static str, NextAction) {
        if self.step == QuickStartStep::Idle {
            self.step = self.begin();
        }
        let (doing, cost) = match self.step {
            QuickStartStep::Idle => ("nothing", 0),
            QuickStartStep::Sample { group, port } => {
                ("read a port's counter", self.sample(group, port, access))
            }
            QuickStartStep::Zero(group) => {
                let next = 1 - usize::from(self.groups[group].window.phase);
                self.step = QuickStartStep::ReadBound(group);
                let cost = access.write(self.counter(group, next), &[0]);
                ("zero the next window's counter", cost)
            }
            QuickStartStep::ReadBound(group) => {
                let ended = usize::from(self.groups[group].window.phase);
                let ([granted], cost) = access.read(self.counter(group, ended));
                self.groups[group].window.granted[ended] = granted.cast_signed();
                self.step = QuickStartStep::Publish(group);
                ("read the window's grants", cost)
            }
            QuickStartStep::Publish(group) => {
                ("publish limit and phase", self.publish(group, access))
            }
            QuickStartStep::ReadExact(group) => {
                let ended = 1 - usize::from(self.groups[group].window.phase);
                let ([granted], cost) = access.read(self.counter(group, ended));
                self.groups[group].window.granted[ended] = granted.cast_signed();
                self.step = QuickStartStep::Correct(group);
                ("read the exact grants", cost)
            }
            QuickStartStep::Correct(group) => ("correct the limit", self.correct(group, access)),
        };
        let done = self.step == QuickStartStep::Idle;
        (doing, after_access(cost, done.then(|| self.due())))
    }

    /// Rates are in units of 40 kbit/s.
    fn rows(&self, memories: Memories<'_>) -> Vec<Row> {
        let groups = self.groups().enumerate();
        groups
            .map(|(number, (group, state))| {
                Row::default()
                    .with("group", number as u64)
                    .with("capacity", group.capacity)
                    .with("threshold", group.threshold)
                    .with("limit", state.window.limit)
                    .with("granted", self.granted_now(number, memories))
                    .with("grants", state.grants)
                    .with("grants_total", state.grants_total)
                    .with("utilisation", state.utilisation)
                    .with("peak_utilisation", state.peak_utilisation())
                    .with("windows", self.windows)
                    .with("samples", self.samples)
            })
            .collect()
    }

    fn summary(&self, memories: Memories<'_>) -> Vec<String> {
        let groups = 0..self.groups.len();
        groups
            .map(|group| self.group_summary(group, self.granted_now(group, memories)))
            .collect()
    }
}
