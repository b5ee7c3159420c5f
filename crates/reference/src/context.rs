//! Contexts and the accounting of their time.

use npsim_chip::Cycle;
use npsim_chip::core::{ContextPhase, ContextTimes};
use serde::{Deserialize, Serialize};

/// The state of one context, a hardware thread.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Thread {
    pub phase: ContextPhase,
    pub since: Cycle,
    times: ContextTimes,
    /// The address at which it continues.
    pub pc: u16,
    /// Address of the instruction with which the context last yielded the pipeline.
    pub yielded_at: u16,
    /// Bit s: signal s has arrived and is not yet consumed.
    pub signals: u16,
    /// Bit s: signal s is awaited; bit 0: wakes immediately.
    pub wakeup: u16,
    /// Whether any of them suffices, instead of all.
    pub any: bool,
    pub future_count: u16,
    pub future_signal: u8,
    /// The cycle at which the timer will match, if armed.
    pub timer_due: Option<Cycle>,
}

impl Thread {
    pub fn new() -> Self {
        Self {
            phase: ContextPhase::Inactive,
            since: 0,
            times: ContextTimes::default(),
            pc: 0,
            yielded_at: 0,
            signals: 0,
            wakeup: 0,
            any: false,
            future_count: 0,
            future_signal: 0,
            timer_due: None,
        }
    }

    /// Enters a phase, but not before the end of the current one: a signal that arrives during the
    /// slots lost by a swap is noticed at their end.
    pub fn enter(&mut self, phase: ContextPhase, at: Cycle) {
        let at = at.max(self.since);
        self.count(at);
        self.phase = phase;
    }

    fn count(&mut self, until: Cycle) {
        let spent = until.saturating_sub(self.since);
        self.since = until.max(self.since);
        *match self.phase {
            ContextPhase::Inactive => &mut self.times.inactive,
            ContextPhase::Ready => &mut self.times.ready,
            ContextPhase::Executing => &mut self.times.executing,
            ContextPhase::Sleeping => &mut self.times.sleeping,
        } += spent;
    }

    /// Returns the times up to `now`. A phase that begins after `now`, at the end of a swap's lost
    /// slots or of a refill, has already been counted: as ready for at most `ready` cycles, and
    /// before that as executing.
    pub fn times_at(&self, now: Cycle, ready: Cycle) -> ContextTimes {
        let mut it = self.clone();
        it.count(now);
        let beyond = it.since.saturating_sub(now);
        let ready = beyond.min(ready).min(it.times.ready);
        it.times.ready -= ready;
        it.times.executing -= (beyond - ready).min(it.times.executing);
        it.times
    }

    /// Whether the context may wake. Signal 0 has always arrived; an empty mask is satisfied with
    /// `all` and never with `any`, which is how a context is killed.
    pub fn may_wake(&self) -> bool {
        let arrived = self.signals | 1;
        if self.any {
            arrived & self.wakeup != 0
        } else {
            arrived & self.wakeup == self.wakeup
        }
    }

    /// Wakes the context and consumes the signals that it awaited; with `any` it consumes none,
    /// since the program determines which ones arrived.
    pub fn wake(&mut self) {
        if !self.any {
            self.signals &= !self.wakeup;
        }
    }
}
