//! When a task's jobs are due and what the task has done; common to all tasks.

use serde::{Deserialize, Serialize};

use crate::Cycle;

/// Counts of a task's work.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct TaskCounts {
    /// Jobs begun: polls of a ring, runs of a timer.
    pub jobs: u64,
    /// Cycles spent on accesses and work.
    pub busy: Cycle,
    /// Number of jobs that became due during another.
    pub waits: u64,
    /// Total cycles for which they waited.
    pub waited: Cycle,
    /// The longest of these waits.
    pub waited_longest: Cycle,
}

impl TaskCounts {
    /// Counts a job that was due at `since` and could begin, or be made up for, at `now`.
    fn wait(&mut self, since: Cycle, now: Cycle) {
        if now > since {
            self.waits += 1;
            self.waited += now - since;
            self.waited_longest = self.waited_longest.max(now - since);
        }
    }
}

/// Polls that find nothing; counted, not simulated.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct IdlePoll {
    /// Cycles from one poll to the next; at least 1.
    pub interval: Cycle,
    /// Cycles for which a poll occupies the core.
    pub poll: Cycle,
}

/// Events that can bring a task's next job forward.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum WakeCause {
    /// None: the task waits for an access or for its timer.
    Nothing,
    /// An interrupt, or something on a ring: the job is a poll.
    Poll,
    /// A packet that the task takes.
    Packet,
}

/// When the jobs of one task are due.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Schedule {
    /// The cycle of the event that it waits for; for an idle task, that of its next poll.
    pub due: Cycle,
    /// The cycle since which a job has been due but unable to begin.
    since: Option<Cycle>,
    /// Whether the task waits for the end of another's job, without an event of its own.
    pub parked: bool,
    /// Whether the task's timer was stopped, as nothing else is left to happen, or the task has
    /// ended.
    pub stopped: bool,
    /// Besides the cycle at which it is due, the event that it waits for.
    waits: WakeCause,
    /// The polls of an idle task, which are only counted: no event is posted for them.
    idle_poll: Option<IdlePoll>,
    /// For a sleeping task, when it wakes in any case.
    until: Option<Cycle>,
    /// When it last did more than poll an empty ring or run on its timer.
    pub last_activity: Cycle,
    pub counts: TaskCounts,
}

impl Schedule {
    /// The schedule of a task whose first job is due at a cycle.
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

    /// Records that a due job has to wait, possibly since earlier.
    pub(crate) fn note_delay(&mut self, since: Cycle) {
        self.since.get_or_insert(since);
    }

    /// Records that a job begins.
    pub fn begin_job(&mut self, now: Cycle) {
        self.counts.jobs += 1;
        if let Some(since) = self.since.take() {
            self.counts.wait(since, now);
        }
    }

    /// Records that the task makes an access.
    pub fn note_access(&mut self) {
        self.waits = WakeCause::Nothing;
        self.until = None;
    }

    /// Puts the task to sleep from `until` on, when its job ends; it makes the given polls
    /// meanwhile and wakes at `due` at the latest.
    pub fn put_to_sleep(
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

    /// When a sleeping task wakes in any case.
    pub const fn sleeps_until(&self) -> Option<Cycle> {
        self.until
    }

    /// Whether a task that polls while sleeping has to wake now.
    pub fn must_wake(&self, now: Cycle) -> bool {
        self.until == Some(now) && self.is_idle()
    }

    /// Lets the task wait for a packet, at most until a cycle if one is given.
    pub fn wait_for_packet(&mut self, due: Option<Cycle>) {
        self.waits = WakeCause::Packet;
        self.due = due.unwrap_or(Cycle::MAX);
    }

    /// Records that the task has taken a packet, readable from `at` on. Returns the cycle at which
    /// its job has to be posted, if the task is waiting for one.
    pub fn takes_packet(&mut self, at: Cycle) -> Option<Cycle> {
        // A job that is already due, and waits for the core, will find the packet.
        if self.waits != WakeCause::Packet || self.parked {
            return None;
        }
        self.waits = WakeCause::Nothing;
        self.due = self.due.min(at);
        Some(self.due)
    }

    /// Makes the task idle after a poll that found nothing.
    pub(crate) fn set_idle(&mut self, poll: IdlePoll) {
        self.waits = WakeCause::Poll;
        self.idle_poll = Some(poll);
    }

    pub(crate) const fn is_idle(&self) -> bool {
        self.idle_poll.is_some()
    }

    /// The number of an idle task's polls that have begun before `now`, and their costs.
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

    /// The counts before `now`.
    pub(crate) fn counts_at(&self, now: Cycle) -> TaskCounts {
        let (polls, poll) = self.polls_before(now);
        TaskCounts {
            jobs: self.counts.jobs + polls,
            busy: self.counts.busy + polls * poll.poll,
            ..self.counts
        }
    }

    /// For an idle task, the end of its last poll before `now`.
    pub(crate) fn poll_end(&mut self, now: Cycle) -> Cycle {
        self.catch_up(now);
        self.idle_poll
            .map_or(0, |poll| self.due - poll.interval + poll.poll)
    }

    /// Lets an idle task poll again from `now` on.
    pub fn resume_polling(&mut self, now: Cycle) {
        if self.is_idle() && self.due < now {
            self.counts.wait(self.due, now);
            self.due = now;
        }
    }

    /// Brings a poll forward: to `at`, after an interrupt at `now`, or, if `at` is `None`, to the
    /// task's next poll because something may be on its ring. Returns the cycle at which the poll
    /// has to be posted, if it has to be.
    pub fn wake(&mut self, now: Cycle, at: Option<Cycle>) -> Option<Cycle> {
        if self.waits != WakeCause::Poll || !self.is_idle() && at.is_none_or(|at| self.due <= at) {
            return None;
        }
        self.idle_poll = None;
        let due = at.map_or(self.due, |at| self.due.min(at));
        if due < now {
            // The core has been busy with another job since then.
            self.note_delay(due);
        }
        self.due = due.max(now);
        Some(self.due)
    }
}
