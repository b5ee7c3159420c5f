//! What is the same for all tasks of the core: jobs, when they are due, and that
//! one runs after the other.

use serde::{Deserialize, Serialize};

use super::Costs;
use super::access::Access;
use super::boot::TaskSetup;
use super::exceptions::Exceptions;
use super::quick_start::QuickStart;
use super::rcp::Rcp;
use super::xcp::Xcp;
use crate::Cycle;
use crate::profile::Profile;
use crate::units::scratch::Scratch;
use crate::units::sram::Sram;

/// What follows an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Next {
    /// The job's next access, after so many cycles.
    After(Cycle),
    /// The job is done after so many cycles, and the task's next is due at a cycle.
    Done { cost: Cycle, due: Cycle },
}

/// What a task has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskCounts {
    /// Jobs begun: looks at a ring, runs of a timer.
    pub jobs: u64,
    /// Cycles spent on accesses and work.
    pub busy: Cycle,
    /// Jobs that were due while the core was at another.
    pub waits: u64,
    /// Cycles for which they waited.
    pub waited: Cycle,
    /// The longest of these waits.
    pub waited_longest: Cycle,
}

impl TaskCounts {
    /// A job was due at `since` and could begin, or be made up for, at `now`.
    pub(super) fn wait(&mut self, since: Cycle, now: Cycle) {
        if now > since {
            self.waits += 1;
            self.waited += now - since;
            self.waited_longest = self.waited_longest.max(now - since);
        }
    }
}

/// The kinds of tasks that go on while the chip runs.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) enum Work {
    Exceptions(Exceptions),
    QuickStart(QuickStart),
    Xcp(Xcp),
    Rcp(Rcp),
}

/// A task.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Task {
    pub(super) work: Work,
    /// The time of the event that it waits for; of a dozing task, its next look.
    pub(super) due: Cycle,
    /// Since when a job is due that cannot begin.
    since: Option<Cycle>,
    /// It waits for the end of another's job, without an event of its own.
    pub(super) parked: bool,
    /// Its timer was stopped, as nothing else is left to happen.
    pub(super) stopped: bool,
    pub(super) counts: TaskCounts,
}

impl Task {
    /// The task for a plan, if that goes on while the chip runs.
    pub(super) fn new(setup: &TaskSetup, profile: &Profile) -> Option<Self> {
        let work = match setup {
            TaskSetup::Routes(_) => return None,
            TaskSetup::Exceptions(setup) => Work::Exceptions(Exceptions::new(setup.clone())),
            TaskSetup::QuickStart(setup) => {
                Work::QuickStart(QuickStart::new(setup.clone(), profile.me_mhz()))
            }
            TaskSetup::Xcp(setup) => Work::Xcp(Xcp::new(setup.clone(), profile.me_mhz())),
            TaskSetup::Rcp(setup) => Work::Rcp(Rcp::new(setup.clone(), profile.me_mhz())),
        };
        Some(Self {
            work,
            due: 0,
            since: None,
            parked: false,
            stopped: false,
            counts: TaskCounts::default(),
        })
    }

    /// The name of its kind, as projects have it.
    #[must_use]
    pub const fn name(&self) -> &'static str {
        match self.work {
            Work::Exceptions(_) => "exceptions",
            Work::QuickStart(_) => "quick-start",
            Work::Xcp(_) => "xcp",
            Work::Rcp(_) => "rcp",
        }
    }

    /// Whether it works by the clock alone.
    pub(super) const fn is_timer(&self) -> bool {
        !matches!(self.work, Work::Exceptions(_))
    }

    /// Puts the first state into the memories, before the first cycle.
    pub(super) fn prepare(&mut self, scratch: &mut Scratch, sram: &mut Sram) {
        match &mut self.work {
            Work::Exceptions(_) => {}
            Work::QuickStart(it) => it.prepare(scratch, sram),
            Work::Xcp(it) => it.prepare(scratch, sram),
            Work::Rcp(it) => it.prepare(scratch, sram),
        }
    }

    /// When its first job is due.
    pub(super) fn start(&mut self, now: Cycle) -> Cycle {
        self.due = now
            + match &self.work {
                Work::Exceptions(it) => it.period(),
                Work::QuickStart(it) => it.due(),
                Work::Xcp(it) => it.due(),
                Work::Rcp(it) => it.due(),
            }
            .max(1);
        self.due
    }

    /// Makes the access that is due; says what it is for.
    pub(super) fn step(&mut self, access: &mut Access<'_>) -> (&'static str, Next) {
        match &mut self.work {
            Work::Exceptions(it) => it.step(access),
            Work::QuickStart(it) => it.step(access),
            Work::Xcp(it) => it.step(access),
            Work::Rcp(it) => it.step(access),
        }
    }

    /// A job that is due has to wait, perhaps since earlier.
    pub(super) fn holds_up(&mut self, since: Cycle) {
        self.since.get_or_insert(since);
    }

    /// A job begins.
    pub(super) fn begins(&mut self, now: Cycle) {
        self.counts.jobs += 1;
        if let Some(since) = self.since.take() {
            self.counts.wait(since, now);
        }
    }

    // ---- looks at a ring that stays empty: counted, not simulated ----

    /// The task's looks, if it is one that looks at a ring.
    pub(super) const fn exceptions(&self) -> Option<&Exceptions> {
        match &self.work {
            Work::Exceptions(it) => Some(it),
            _ => None,
        }
    }

    fn looks_before(&self, now: Cycle, costs: &Costs) -> u64 {
        let Some(it) = self.exceptions().filter(|it| it.is_dozing()) else {
            return 0;
        };
        if now <= self.due {
            return 0;
        }
        (now - self.due).div_ceil(it.interval(costs))
    }

    /// Counts the looks that a dozing task has made before `now`.
    pub(super) fn catch_up(&mut self, now: Cycle, costs: &Costs) {
        let looks = self.looks_before(now, costs);
        if let Work::Exceptions(it) = &self.work
            && looks > 0
        {
            self.due += looks * it.interval(costs);
            self.counts.jobs += looks;
            self.counts.busy += looks * costs.ring;
        }
    }

    /// What it has done before `now`.
    pub(super) fn counts_at(&self, now: Cycle, costs: &Costs) -> TaskCounts {
        let looks = self.looks_before(now, costs);
        TaskCounts {
            jobs: self.counts.jobs + looks,
            busy: self.counts.busy + looks * costs.ring,
            ..self.counts
        }
    }

    /// Until when the look lasts that a dozing task made last, before `now`.
    pub(super) fn look_end(&mut self, now: Cycle, costs: &Costs) -> Cycle {
        self.catch_up(now, costs);
        match self.exceptions() {
            Some(it) if it.is_dozing() => self.due - it.interval(costs) + costs.ring,
            _ => 0,
        }
    }

    /// A dozing task can look at its ring again from `now` on.
    pub(super) fn goes_on(&mut self, now: Cycle) {
        if let Work::Exceptions(it) = &mut self.work
            && it.is_dozing()
            && self.due < now
        {
            self.counts.wait(self.due, now);
            self.due = now;
        }
    }

    /// An interrupt at `now` calls for a look at `at`, or something may have come
    /// onto its ring (`at` is `None`): when the look has to be posted, if it has.
    pub(super) fn wake(&mut self, now: Cycle, at: Option<Cycle>) -> Option<Cycle> {
        let Work::Exceptions(it) = &mut self.work else {
            return None;
        };
        if !it.is_idle() || !it.is_dozing() && at.is_none_or(|at| self.due <= at) {
            return None;
        }
        it.awake();
        let due = at.map_or(self.due, |at| self.due.min(at));
        if due < now {
            // The core has been at another job since.
            self.holds_up(due);
        }
        self.due = due.max(now);
        Some(self.due)
    }
}

/// When a timer fires again. A core that is too slow for it leaves out what it
/// missed instead of running after it for ever.
pub(super) fn next_time(last: Cycle, period: Cycle, now: Cycle) -> Cycle {
    let next = last + period;
    if next > now { next } else { now + period }
}
