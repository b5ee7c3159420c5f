//! When a chip tries to skip time, and what it remembers of its attempts.
//!
//! An attempt costs the host some million instructions, so it has to be likely to save more than
//! that: the chip must have been idle for a while (longer after each failed attempt), and enough
//! cycles with events must lie ahead.

use super::search_state::PiecewiseSearch;
use crate::Cycle;
use crate::kernel::snapshot::StateVector;

/// Cycles for which a chip must be idle before its first attempt.
const FIRST_TRY: Cycle = 1024;
/// Most cycles for which a chip must be idle, after repeated failures.
const LAST_TRY: Cycle = 1 << 26;
/// Cycles with events that must be saved for an attempt to pay off.
const MIN_GAIN: u64 = 4_000;
/// Cycles with events in idle time after which about as many more are likely, so that a search that
/// continues across runs pays off.
const MIN_GAIN_OF_SEARCH: u64 = 4 * MIN_GAIN;

/// How far a run may go before it returns.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    /// The end of the run.
    pub until: Cycle,
    /// Where the run is to stop between two events.
    pub pause: Cycle,
    /// Where the run is to return if no time is skipped there.
    pub progress_at: Cycle,
}

/// The result of an attempt.
pub(super) enum SkipOutcome {
    /// No period was found.
    NoPeriod,
    /// No period was found before the next event from outside.
    TooShort,
    /// The run ended.
    Stopped,
    /// Time was skipped by as many whole periods as fit before this deadline.
    Skipped {
        /// The end of the attempt, or an earlier deadline in the chip.
        deadline: Cycle,
    },
}

/// An attempt in progress: the figures that show afterwards whether it paid off.
pub(super) struct Attempt {
    /// Cycles with events, and cycles in total, since the measurement of idle time began.
    handled: u128,
    passed: u128,
    /// Cycles that had been skipped before.
    skipped: Cycle,
}

/// Whether and when a chip tries to skip time.
#[derive(Debug)]
pub(crate) struct SkipPolicy {
    on: bool,
    /// No event before this cycle triggers an attempt.
    try_at: Cycle,
    /// Events before this cycle only need to be handled: no attempt, end of the run, pause or
    /// progress report comes before it.
    pub wake_at: Cycle,
    /// Number of cycles with events that were handled.
    pub handled: u64,
    /// Number of task jobs and of events of the media interface that can reach the outside.
    pub outside: u64,
    /// Cycles for which the chip must be idle before an attempt.
    settle: Cycle,
    /// The value of `handled` when the measurement of idle time began, and the cycle of that
    /// moment.
    pub(super) since: (u64, Cycle),
    /// The period found last.
    pub(super) last_period: Option<Cycle>,
    /// Number of cycles skipped so far.
    pub(super) skipped: Cycle,
    /// The cycle until which the period found last is known to continue.
    pub(super) quiet_until: Cycle,
    /// Buffers for the states that are compared.
    pub(super) states: Box<[StateVector; 3]>,
    /// Buffers for an observer's states, compared along with those of the chip.
    pub(super) observed: Box<[StateVector; 3]>,
    /// Buffer for the extrapolated state.
    pub(super) next: Vec<u64>,
    /// A search in progress, which continues in this run or the next.
    pub(super) search: Option<PiecewiseSearch>,
}

/// A cloned chip determines anew when to make an attempt.
impl Clone for SkipPolicy {
    fn clone(&self) -> Self {
        Self {
            skipped: self.skipped,
            ..Self::new(self.on)
        }
    }
}

impl Default for SkipPolicy {
    fn default() -> Self {
        Self::new(true)
    }
}

impl SkipPolicy {
    pub(super) fn new(on: bool) -> Self {
        Self {
            on,
            try_at: if on { 0 } else { Cycle::MAX },
            wake_at: 0,
            handled: 0,
            outside: 0,
            settle: FIRST_TRY,
            since: (0, 0),
            last_period: None,
            skipped: 0,
            quiet_until: 0,
            states: Box::default(),
            observed: Box::default(),
            next: Vec::new(),
            search: None,
        }
    }

    /// Whether the chip skips time at all.
    pub(super) fn is_on(&self) -> bool {
        self.on
    }

    /// Sets the cycle at which the run ends or has to return.
    pub(crate) fn wake_before(&mut self, end: Cycle) {
        self.wake_at = self.try_at.min(end);
    }

    /// Sets an earlier end of the run.
    pub(crate) fn end_before(&mut self, end: Cycle) {
        self.wake_at = self.wake_at.min(end);
    }

    /// Whether an attempt is due at `now` on a chip whose media interface and tasks were last
    /// active at `active`.
    pub(super) fn is_due(&mut self, now: Cycle, active: Cycle) -> bool {
        if !self.on {
            self.try_at = Cycle::MAX;
            return false;
        }
        if now < self.try_at {
            return false;
        }
        if now.saturating_sub(active) < self.settle {
            self.try_at = active + self.settle;
            self.search = None;
            self.since = (self.handled, now);
            return false;
        }
        true
    }

    /// Begins an attempt to skip the time from `now` to `end`, if that may pay off.
    pub(super) fn begin(&mut self, now: Cycle, end: Cycle) -> Option<Attempt> {
        let (handled, since) = self.since;
        let handled = u128::from(self.handled - handled) + 1;
        let passed = u128::from(now.saturating_sub(since)) + 1;
        let left = u128::from(end.saturating_sub(now));
        if handled * left < passed * u128::from(MIN_GAIN) {
            // The estimate does not change until then.
            self.try_at = end.max(now + 1);
            return None;
        }
        self.try_at = Cycle::MAX;
        Some(Attempt {
            handled,
            passed,
            skipped: self.skipped,
        })
    }

    /// Whether a search that may last longer than the run pays off: on a chip that has been idle
    /// for long.
    pub(super) fn may_search_on(&self) -> bool {
        self.handled - self.since.0 >= MIN_GAIN_OF_SEARCH
    }

    /// Schedules the next step of a search.
    pub(super) fn search_at(&mut self, at: Cycle) {
        self.try_at = at;
    }

    /// Records that a search failed at `now`: the next one is far off.
    pub(super) fn give_up(&mut self, now: Cycle) {
        self.settle = (self.settle * 2).min(LAST_TRY);
        self.try_at = now.saturating_add(self.settle);
    }

    /// Records that a search found a period at `now` that continues until `deadline`.
    pub(super) fn has_found(&mut self, now: Cycle, deadline: Cycle) {
        self.settle = (self.settle / 4 * 3).max(FIRST_TRY);
        self.try_at = deadline.max(now + 1);
    }

    /// Determines when to try again after an attempt that was to reach `end` and reached `now`.
    pub(super) fn finish(
        &mut self,
        attempt: &Attempt,
        outcome: &SkipOutcome,
        now: Cycle,
        end: Cycle,
    ) {
        let settle = self.settle;
        let sooner = (settle / 4 * 3).max(FIRST_TRY);
        let longer = (settle * 2).min(LAST_TRY);
        let saved = attempt.handled * u128::from(self.skipped - attempt.skipped);
        let paid = saved >= attempt.passed * u128::from(MIN_GAIN);
        (self.settle, self.try_at) = match *outcome {
            SkipOutcome::NoPeriod => (longer, now.saturating_add(longer)),
            SkipOutcome::Skipped { .. } if !paid => (longer, now.saturating_add(longer)),
            // No more periods fit until then.
            SkipOutcome::Skipped { deadline } if deadline >= end => (sooner, end),
            SkipOutcome::Skipped { deadline } => (sooner, deadline.saturating_add(sooner)),
            // There was too little time, which reveals nothing about periods.
            SkipOutcome::TooShort => (settle, end),
            SkipOutcome::Stopped => (settle, now.saturating_add(settle)),
        };
    }
}
