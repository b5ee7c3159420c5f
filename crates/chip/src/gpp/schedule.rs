//! When a task's jobs are due, and what it has done: the same for all tasks.

use serde::{Deserialize, Serialize};

use crate::Cycle;

/// What a task has done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskCounts {
    /// Jobs begun: polls of a ring, runs of a timer.
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
    fn wait(&mut self, since: Cycle, now: Cycle) {
        if now > since {
            self.waits += 1;
            self.waited += now - since;
            self.waited_longest = self.waited_longest.max(now - since);
        }
    }
}

/// Polls that find nothing: counted, not simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdlePoll {
    /// Cycles from one poll to the next; at least 1.
    pub interval: Cycle,
    /// Cycles that one keeps the core.
    pub poll: Cycle,
}

/// What can bring a task's next job forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum WakeCause {
    /// No cause: the task waits for an access, or for the clock.
    Nothing,
    /// An interrupt, or something on a ring: the job is a poll.
    Poll,
    /// A packet that it takes.
    Packet,
}

/// When one task's jobs are due.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Schedule {
    /// The time of the event that it waits for; of an idle task, its next poll.
    pub due: Cycle,
    /// Since when a job is due that cannot begin.
    since: Option<Cycle>,
    /// The task waits for the end of another's job, without an event of its own.
    pub parked: bool,
    /// The task's timer was stopped, as nothing else is left to happen, or the task has ended.
    pub stopped: bool,
    /// What it waits for besides the time at which it is due.
    waits: WakeCause,
    /// Its polls are only counted: no event is posted for them.
    idle_poll: Option<IdlePoll>,
    /// When it wakes in any case, of a task that sleeps.
    until: Option<Cycle>,
    /// When it last did more than poll an empty ring or run by the clock.
    pub last_activity: Cycle,
    pub counts: TaskCounts,
}

impl Schedule {
    /// Of a task whose first job is due at a cycle.
    pub fn new(due: Cycle, is_timer: bool) -> Self {
        Self {
            due,
            since: None,
            parked: false,
            stopped: false,
            waits: if is_timer {
                WakeCause::Nothing
            } else {
                WakeCause::Poll
            },
            idle_poll: None,
            until: None,
            last_activity: 0,
            counts: TaskCounts::default(),
        }
    }

    /// A job that is due has to wait, perhaps since earlier.
    pub(crate) fn holds_up(&mut self, since: Cycle) {
        self.since.get_or_insert(since);
    }

    /// A job begins.
    pub fn begins(&mut self, now: Cycle) {
        self.counts.jobs += 1;
        if let Some(since) = self.since.take() {
            self.counts.wait(since, now);
        }
    }

    /// The task makes an access.
    pub fn works(&mut self) {
        self.waits = WakeCause::Nothing;
        self.until = None;
    }

    /// The task sleeps from `until` on, at which its job is over, and polls meanwhile if it polls;
    /// at the latest to `due`.
    pub fn falls_asleep(
        &mut self,
        polls: Option<IdlePoll>,
        now: Cycle,
        until: Cycle,
        due: Option<Cycle>,
    ) {
        self.waits = WakeCause::Poll;
        self.until = due.map(|due| due.max(until).max(now + 1));
        self.idle_poll = polls;
        self.due = match polls {
            Some(poll) => (now + poll.interval).max(until),
            None => self.until.unwrap_or(Cycle::MAX),
        };
    }

    /// When a task that sleeps wakes in any case.
    pub const fn sleeps_until(&self) -> Option<Cycle> {
        self.until
    }

    /// Whether a task that polls in its sleep is to wake now.
    pub fn ends_sleep(&self, now: Cycle) -> bool {
        self.until == Some(now) && self.is_idle()
    }

    /// The task waits for a packet, until a cycle if one is given.
    pub fn waits_for_packet(&mut self, due: Option<Cycle>) {
        self.waits = WakeCause::Packet;
        self.due = due.unwrap_or(Cycle::MAX);
    }

    /// The task has taken a packet, readable from `at` on: the cycle at which its job has to be
    /// posted, if the task waits for one.
    pub fn takes_packet(&mut self, at: Cycle) -> Option<Cycle> {
        // A job that was due already, and waits for the core, will find the packet.
        if self.waits != WakeCause::Packet || self.parked {
            return None;
        }
        self.waits = WakeCause::Nothing;
        self.due = self.due.min(at);
        Some(self.due)
    }

    /// The task's poll found nothing.
    pub(crate) fn becomes_idle(&mut self, poll: IdlePoll) {
        self.waits = WakeCause::Poll;
        self.idle_poll = Some(poll);
    }

    pub(crate) const fn is_idle(&self) -> bool {
        self.idle_poll.is_some()
    }

    /// The polls of an idle task that have begun before `now`, with what each
    /// takes.
    fn polls_before(&self, now: Cycle) -> (u64, IdlePoll) {
        let nothing = IdlePoll {
            interval: 1,
            poll: 0,
        };
        match self.idle_poll {
            Some(poll) if now > self.due => ((now - self.due).div_ceil(poll.interval), poll),
            poll => (0, poll.unwrap_or(nothing)),
        }
    }

    /// Counts the polls that an idle task has made before `now`.
    pub(crate) fn catch_up(&mut self, now: Cycle) {
        let (polls, poll) = self.polls_before(now);
        self.due += polls * poll.interval;
        self.counts.jobs += polls;
        self.counts.busy += polls * poll.poll;
    }

    /// What it has done before `now`.
    pub(crate) fn counts_at(&self, now: Cycle) -> TaskCounts {
        let (polls, poll) = self.polls_before(now);
        TaskCounts {
            jobs: self.counts.jobs + polls,
            busy: self.counts.busy + polls * poll.poll,
            ..self.counts
        }
    }

    /// Until when the last poll before `now` lasts, of an idle task.
    pub(crate) fn poll_end(&mut self, now: Cycle) -> Cycle {
        self.catch_up(now);
        self.idle_poll
            .map_or(0, |poll| self.due - poll.interval + poll.poll)
    }

    /// An idle task can poll again from `now` on.
    pub fn goes_on(&mut self, now: Cycle) {
        if self.is_idle() && self.due < now {
            self.counts.wait(self.due, now);
            self.due = now;
        }
    }

    /// An interrupt at `now` calls for a poll at `at`, or something may have come
    /// onto its ring (`at` is `None`): when the poll has to be posted, if it has.
    pub fn wake(&mut self, now: Cycle, at: Option<Cycle>) -> Option<Cycle> {
        if self.waits != WakeCause::Poll || !self.is_idle() && at.is_none_or(|at| self.due <= at) {
            return None;
        }
        self.idle_poll = None;
        let due = at.map_or(self.due, |at| self.due.min(at));
        if due < now {
            // The core has been at another job since.
            self.holds_up(due);
        }
        self.due = due.max(now);
        Some(self.due)
    }
}
