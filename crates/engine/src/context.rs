//! Contexts, and the set of ready ones for the arbiter.

use npsim_isa::{CONTEXTS, Context, ContextSet};
use std::ops::{Index, IndexMut};

use npsim_chip::Cycle;
use npsim_chip::core::{ContextPhase, ContextTimes};
use npsim_chip::kernel::snapshot::stamp;
use serde::{Deserialize, Serialize, Serializer};

/// The state of one context, a hardware thread.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Thread {
    state: ContextPhase,
    pub pc: u16,
    /// Address of the instruction with which the context last yielded the pipeline.
    pub yielded_at: u16,
    /// Bit s: signal s has arrived and has not been consumed.
    pub signals: u16,
    /// Bit s: the context waits for signal s; bit 0: wakes at once.
    pub wakeup: u16,
    /// Whether any of the signals is enough, rather than all of them.
    pub any: bool,
    #[serde(with = "stamp::count")]
    pub future_count: u16,
    pub future_signal: u8,
    /// The cycle at which the timer matches, if it is armed.
    pub timer_due: Option<Cycle>,
    since: Cycle,
    pub times: ContextTimes,
}

impl Thread {
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

    pub const fn state(&self) -> ContextPhase {
        self.state
    }

    /// The cycle at which the context entered its state.
    pub const fn since(&self) -> Cycle {
        self.since
    }

    /// Advances to a cycle and returns the time spent in the state until then. For a cycle within
    /// the end of the previous state (a signal during the swap), counting starts at that end.
    #[inline]
    fn spend(&mut self, at: Cycle) -> Cycle {
        let spent = at.saturating_sub(self.since);
        self.since += spent;
        spent
    }

    /// [`Self::spend`] when the arbiter gives or takes the pipeline: this is never before the
    /// context entered its state, so that case needs no handling.
    #[inline]
    fn spend_all(&mut self, at: Cycle) -> Cycle {
        at.saturating_sub(std::mem::replace(&mut self.since, at))
    }

    /// Accounts for the time up to a cycle.
    #[inline]
    fn account(&mut self, at: Cycle) {
        let spent = self.spend(at);
        *match self.state {
            ContextPhase::Inactive => &mut self.times.inactive,
            ContextPhase::Ready => &mut self.times.ready,
            ContextPhase::Executing => &mut self.times.executing,
            ContextPhase::Sleeping => &mut self.times.sleeping,
        } += spent;
    }

    /// The times up to a cycle. The context may have entered its phase after that cycle, at the end
    /// of aborted slots or of a refill: until then it was ready for at most `ready` cycles, and
    /// executing before.
    pub fn times_at(&self, until: Cycle, ready: Cycle) -> ContextTimes {
        let mut it = self.clone();
        it.account(until);
        let beyond = it.since.saturating_sub(until);
        let ready = beyond.min(ready).min(it.times.ready);
        it.times.ready -= ready;
        it.times.executing -= (beyond - ready).min(it.times.executing);
        it.times
    }

    /// Whether the wake-up condition holds. An empty mask never wakes with `any` (kill) and always
    /// wakes with `all`.
    #[inline]
    pub fn satisfied(&self) -> bool {
        let arrived = self.signals | 1;
        if self.any {
            arrived & self.wakeup != 0
        } else {
            arrived & self.wakeup == self.wakeup
        }
    }

    /// Consumes signals when the context wakes: with `all` those it waited for, with `any` none,
    /// since the program determines which arrived.
    #[inline]
    fn consume(&mut self) {
        if !self.any {
            self.signals &= !self.wakeup;
        }
    }
}

/// All contexts of a microengine. The set of ready ones is kept separately, since the arbiter
/// reads it at each swap.
#[derive(Clone, Debug, Deserialize)]
#[serde(from = "[Thread; CONTEXTS as usize]")]
pub(crate) struct Contexts {
    all: [Thread; CONTEXTS as usize],
    ready: ContextSet,
}

impl From<[Thread; CONTEXTS as usize]> for Contexts {
    fn from(all: [Thread; CONTEXTS as usize]) -> Self {
        let is_ready = |context: &Context| all[context.index()].state == ContextPhase::Ready;
        let ready = Context::all().filter(is_ready).collect();
        Self { all, ready }
    }
}

impl Serialize for Contexts {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        self.all.serialize(to)
    }
}

impl Index<Context> for Contexts {
    type Output = Thread;

    #[inline]
    fn index(&self, context: Context) -> &Thread {
        &self.all[context.index()]
    }
}

impl IndexMut<Context> for Contexts {
    #[inline]
    fn index_mut(&mut self, context: Context) -> &mut Thread {
        &mut self.all[context.index()]
    }
}

impl Contexts {
    pub fn new() -> Self {
        Self::from(std::array::from_fn(|_| Thread::new()))
    }

    pub fn iter(&self) -> impl Iterator<Item = &Thread> {
        self.all.iter()
    }

    /// Starts accounting for all contexts at a cycle.
    pub fn open(&mut self, at: Cycle) {
        for thread in &mut self.all {
            thread.since = at;
        }
    }

    /// Moves a context to a state at a cycle.
    #[inline]
    pub fn enter(&mut self, context: Context, state: ContextPhase, at: Cycle) {
        let it = &mut self[context];
        it.account(at);
        it.state = state;
        if state == ContextPhase::Ready {
            self.ready.insert(context);
        } else {
            self.ready.remove(context);
        }
    }

    /// Takes the pipeline from the executing context at a cycle and determines its next state.
    #[inline]
    pub fn leave(&mut self, context: Context, enabled: bool, at: Cycle) {
        let it = &mut self[context];
        it.times.executing += it.spend_all(at);
        let ready = enabled && it.satisfied();
        it.state = if ready {
            ContextPhase::Ready
        } else if enabled {
            ContextPhase::Sleeping
        } else {
            ContextPhase::Inactive
        };
        if ready {
            self.ready.insert(context);
        }
    }

    /// Gives the pipeline to a ready context at a cycle.
    #[inline]
    pub fn begin(&mut self, context: Context, at: Cycle) {
        self.ready.remove(context);
        let it = &mut self[context];
        it.consume();
        it.times.ready += it.spend_all(at);
        it.state = ContextPhase::Executing;
    }

    /// The set of ready contexts.
    #[inline]
    pub const fn ready(&self) -> ContextSet {
        self.ready
    }
}
