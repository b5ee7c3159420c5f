//! Contexts and the arbiter that gives them the pipeline.

use crate::Cycle;
use crate::core::{ContextPhase, ContextTimes};
use crate::quiescence::stamp;
use serde::{Deserialize, Serialize};

/// One hardware thread.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(super) struct Context {
    pub state: ContextPhase,
    pub pc: u16,
    /// The instruction with which it last gave up the pipeline.
    pub yielded_at: u16,
    /// Bit s: signal s has arrived and is not consumed.
    pub signals: u16,
    /// Bit s: signal s is waited for; bit 0: wakes at once.
    pub wakeup: u16,
    /// Any of them instead of all.
    pub any: bool,
    #[serde(with = "stamp::count")]
    pub future_count: u16,
    pub future_signal: u8,
    /// When the timer will match, if armed.
    pub timer_due: Option<Cycle>,
    since: Cycle,
    pub times: ContextTimes,
}

impl Context {
    pub fn new() -> Self {
        Self {
            state: ContextPhase::Inactive,
            pc: 0,
            yielded_at: 0,
            signals: 0,
            wakeup: 0,
            any: false,
            future_count: 0,
            future_signal: 0,
            timer_due: None,
            since: 0,
            times: ContextTimes::default(),
        }
    }

    /// Begins the account at a cycle.
    pub fn open(&mut self, at: Cycle) {
        self.since = at;
    }

    /// Goes to a state at a cycle; one that lies in the end of the previous
    /// state (a signal during the swap) counts from there.
    pub fn enter(&mut self, state: ContextPhase, at: Cycle) {
        let at = at.max(self.since);
        self.account(at);
        self.state = state;
    }

    /// When it entered its state.
    pub const fn since(&self) -> Cycle {
        self.since
    }

    /// Writes the time up to a cycle down.
    pub fn account(&mut self, at: Cycle) {
        let spent = at.saturating_sub(self.since);
        self.since = at.max(self.since);
        *match self.state {
            ContextPhase::Inactive => &mut self.times.inactive,
            ContextPhase::Ready => &mut self.times.ready,
            ContextPhase::Executing => &mut self.times.executing,
            ContextPhase::Sleeping => &mut self.times.sleeping,
        } += spent;
    }

    /// Its times up to a cycle. What it entered may lie after that cycle, at the end
    /// of slots that were thrown away or of a refill: then it was ready until then
    /// for at most `ready` cycles, and executed before.
    pub fn times_at(&self, until: Cycle, ready: Cycle) -> ContextTimes {
        let mut it = self.clone();
        it.account(until);
        let beyond = it.since.saturating_sub(until);
        let ready = beyond.min(ready).min(it.times.ready);
        it.times.ready -= ready;
        it.times.executing -= (beyond - ready).min(it.times.executing);
        it.times
    }

    /// Whether the wake-up condition holds. An empty mask never wakes as `any`
    /// (kill) and always as `all`.
    pub fn satisfied(&self) -> bool {
        let arrived = self.signals | 1;
        if self.any {
            arrived & self.wakeup != 0
        } else {
            arrived & self.wakeup == self.wakeup
        }
    }

    /// The signals a waking context takes: with `all` those it waited for, with
    /// `any` none, since the program finds out which came.
    pub fn consume(&mut self) {
        if !self.any {
            self.signals &= !self.wakeup;
        }
    }
}

/// The ready context after `last` in round robin, `last` itself at the end. Those
/// without their bit in `among` do not count.
#[inline]
pub(super) fn next_ready(contexts: &[Context; 8], last: u8, among: u8) -> Option<u8> {
    let mut ready = 0_u8;
    for (c, context) in contexts.iter().enumerate() {
        ready |= u8::from(context.state == ContextPhase::Ready) << c;
    }
    ready &= among;
    // The context after the last one comes to bit 0.
    let first = (last + 1) & 7;
    let turned = ready.rotate_right(u32::from(first));
    (ready != 0).then(|| (first + turned.trailing_zeros() as u8) & 7)
}
