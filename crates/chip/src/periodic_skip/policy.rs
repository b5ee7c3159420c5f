//! When a chip tries to skip time, and what it remembers of its tries.
//!
//! A try costs the host some million instructions, so it has to be likely to save more than
//! that: the chip has to have been idle for a while (longer after each try in vain), and enough
//! cycles with events have to lie ahead.

use super::search_state::PiecewiseSearch;
use crate::Cycle;
use crate::kernel::snapshot::StateVector;

/// Cycles for which a chip is idle before its first try.
const FIRST_TRY: Cycle = 1024;
/// The most cycles for which it has to be idle, where tries come to nothing.
const LAST_TRY: Cycle = 1 << 26;
/// Cycles with events that have to be saved for a try to pay.
const WORTH: u64 = 4_000;
/// Cycles with events in idle time after which about as many are likely to come, so that a search pays
/// which goes on in the next runs.
const WORTH_A_SEARCH: u64 = 4 * WORTH;

/// How far a run may go at once.
#[derive(Clone, Copy)]
pub(crate) struct Bounds {
    /// The end of the run.
    pub until: Cycle,
    /// Where it is to stop between two events.
    pub pause: Cycle,
    /// Where it is to come back if no time is skipped there.
    pub progress_at: Cycle,
}

/// What came of a try.
pub(super) enum SkipOutcome {
    /// No period was found.
    NoPeriod,
    /// No period was found before the next event from outside.
    TooShort,
    /// The run ended.
    Stopped,
    /// Time was skipped, as far as periods fit before this deadline.
    Skipped {
        /// The end of the try, or something in the chip that comes earlier.
        deadline: Cycle,
    },
}

/// A try in progress: the figures that show afterwards whether it paid.
pub(super) struct Attempt {
    /// Cycles with events and cycles in all since idle time began to be measured.
    handled: u128,
    passed: u128,
    /// Cycles that were skipped before.
    skipped: Cycle,
}

/// Whether and when a chip tries to skip time.
#[derive(Debug)]
pub(crate) struct SkipPolicy {
    on: bool,
    /// No event before this cycle makes it try.
    try_at: Cycle,
    /// No event before this cycle needs more than to be handled: the next try is not before
    /// it, nor the end of the run, nor a pause or a report of progress.
    pub wake_at: Cycle,
    /// Cycles with events that were handled.
    pub handled: u64,
    /// Jobs of tasks and events of the media interface: whatever can reach the outside.
    pub outside: u64,
    /// How long the chip has to be idle before a try.
    settle: Cycle,
    /// `handled` when idle time began to be measured, and when that was.
    pub(super) since: (u64, Cycle),
    /// The period that was found last.
    pub(super) last_period: Option<Cycle>,
    /// Cycles that were skipped so far.
    pub(super) skipped: Cycle,
    /// Until when the periods that were found last go on.
    pub(super) silent: Cycle,
    /// Room for the states that are compared.
    pub(super) states: Box<[StateVector; 3]>,
    /// Room for states of an observer, compared beside those of the chip.
    pub(super) observed: Box<[StateVector; 3]>,
    /// Room for the state that follows.
    pub(super) next: Vec<u64>,
    /// A search that goes on in this run or the next.
    pub(super) search: Option<PiecewiseSearch>,
}

/// A copied chip finds out anew when to try.
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
            silent: 0,
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

    /// The run ends at this cycle, or is to come back from there.
    pub(crate) fn wake_before(&mut self, end: Cycle) {
        self.wake_at = self.try_at.min(end);
    }

    /// The run ends at this cycle, if not earlier.
    pub(crate) fn end_before(&mut self, end: Cycle) {
        self.wake_at = self.wake_at.min(end);
    }

    /// Whether a try is due at `now` on a chip whose media interface and tasks were active
    /// at `active` last.
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

    /// Begins a try to skip the time from `now` to `end`, if that may pay.
    pub(super) fn begin(&mut self, now: Cycle, end: Cycle) -> Option<Attempt> {
        let (handled, since) = self.since;
        let handled = u128::from(self.handled - handled) + 1;
        let passed = u128::from(now.saturating_sub(since)) + 1;
        let left = u128::from(end.saturating_sub(now));
        if handled * left < passed * u128::from(WORTH) {
            // What is known now is known until then.
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

    /// Whether a search pays that may last longer than the run: of a chip that has been idle for long.
    pub(super) fn may_search_on(&self) -> bool {
        self.handled - self.since.0 >= WORTH_A_SEARCH
    }

    /// A search goes on at this cycle.
    pub(super) fn search_at(&mut self, at: Cycle) {
        self.try_at = at;
    }

    /// A search came to nothing at `now`: the next one is far.
    pub(super) fn give_up(&mut self, now: Cycle) {
        self.settle = (self.settle * 2).min(LAST_TRY);
        self.try_at = now.saturating_add(self.settle);
    }

    /// A search has found a period at `now` that goes on until `deadline`.
    pub(super) fn has_found(&mut self, now: Cycle, deadline: Cycle) {
        self.settle = (self.settle / 4 * 3).max(FIRST_TRY);
        self.try_at = deadline.max(now + 1);
    }

    /// Says when to try again after a try, which was to go to `end` and came to `now`.
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
        let paid = saved >= attempt.passed * u128::from(WORTH);
        (self.settle, self.try_at) = match *outcome {
            SkipOutcome::NoPeriod => (longer, now.saturating_add(longer)),
            SkipOutcome::Skipped { .. } if !paid => (longer, now.saturating_add(longer)),
            // Until there no more periods fit.
            SkipOutcome::Skipped { deadline } if deadline >= end => (sooner, end),
            SkipOutcome::Skipped { deadline } => (sooner, deadline.saturating_add(sooner)),
            // There was too little time, which says nothing about periods.
            SkipOutcome::TooShort => (settle, end),
            SkipOutcome::Stopped => (settle, now.saturating_add(settle)),
        };
    }
}
