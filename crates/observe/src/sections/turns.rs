//! Turns: signals that contexts take and send on.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use npsim_chip::Cycle;
use npsim_chip::kernel::recurring_state::RecurringState;
use npsim_chip::kernel::trace_event::{
    Cause, ContextState, EventKinds, TraceEvent, TraceEventKind,
};
use npsim_image::Image;
use npsim_isa::{CONTEXTS, context_index};

use super::{ExclusiveResource, Part, Tally};
use crate::signal_takers::SignalTakers;

/// Contexts per microengine; their numbers are consecutive.
const EACH: usize = CONTEXTS as usize;

/// The state of a signal at a context.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
enum SignalPhase {
    #[default]
    Away,
    /// It has arrived and is not taken, since a cycle.
    Raised(Cycle),
    /// It was taken, at a cycle and by an instruction.
    Taken(Cycle, u16),
}

#[derive(Clone, Debug, Default)]
struct TurnContext {
    signals: [SignalPhase; 16],
    executing: bool,
    awaited: u16,
    /// The first cycle of its wait.
    waits: Option<Cycle>,
    /// Issued tests: cycle, instruction, and signals.
    tests: VecDeque<(Cycle, u16, u16)>,
}

impl TurnContext {
    /// Ends a wait for signals. If a turn was the last to arrive, the wait is caused by that turn's
    /// holders: it counts for that turn alone, not for other turns held meanwhile.
    fn wait_for_turn(&mut self, since: Cycle, now: Cycle, awaited: u16) {
        let woken = { (1..16).zip(&self.signals[1..]) }.any(|(signal, phase)| {
            awaited >> signal & 1 == 1 && *phase == SignalPhase::Raised(now)
        });
        for phase in self.signals.iter_mut().filter(|_| woken) {
            if let SignalPhase::Taken(from, _) = phase {
                *from += now - since;
            }
        }
    }
}

/// The turns of a chip.
#[derive(Clone, Debug, Default)]
pub(super) struct Turns {
    contexts: Vec<TurnContext>,
    takers: Vec<SignalTakers>,
    latency: Cycle,
    /// Turns sent from one microengine to another: the signal's number and both microengines.
    passed: BTreeSet<(u8, u8, u8)>,
}

impl Turns {
    pub fn new(images: &[Arc<Image>], latency: Cycle) -> Self {
        Self {
            contexts: vec![TurnContext::default(); images.len() * EACH],
            takers: images.iter().map(|image| SignalTakers::of(image)).collect(),
            latency,
            passed: BTreeSet::new(),
        }
    }

    pub fn wants(&self) -> EventKinds {
        let kinds = EventKinds::of(&[TraceEventKind::Signal, TraceEventKind::Context]);
        if self.takers.iter().any(SignalTakers::has_tests) {
            return kinds.and(EventKinds::of(&[TraceEventKind::Issued]));
        }
        kinds
    }

    /// Visits the state that events change.
    pub fn visit_state(&mut self, state: &mut RecurringState<'_>) {
        state.value(self.passed.len() as u64);
        for context in &mut self.contexts {
            for phase in &mut context.signals {
                match phase {
                    SignalPhase::Away => state.value(0),
                    SignalPhase::Raised(at) => {
                        state.value(1);
                        state.time(at);
                    }
                    SignalPhase::Taken(at, pc) => {
                        state.value(2 + u64::from(*pc));
                        state.time(at);
                    }
                }
            }
            state.value(u64::from(context.awaited) << 1 | u64::from(context.executing));
            state.value(u64::from(context.waits.is_some()));
            context.waits.iter_mut().for_each(|it| state.time(it));
            state.value(context.tests.len() as u64);
            for (at, pc, signals) in &mut context.tests {
                state.time(at);
                state.value(u64::from(*pc) << 16 | u64::from(*signals));
            }
        }
    }

    pub fn see(&mut self, at: Cycle, event: &TraceEvent, tally: &mut Tally) {
        match *event {
            TraceEvent::Signal {
                me,
                context,
                signals,
                cause:
                    Cause::Thread {
                        me: from,
                        context: by,
                        pc,
                    },
            } => {
                for signal in (1..16).filter(|signal| signals >> signal & 1 == 1) {
                    self.send(at, signal, (from, by, pc), tally);
                    self.passed.insert((signal, from, me));
                    self.settle((me, context), at, tally);
                    if let Some(it) = self.contexts.get_mut(number(me, context)) {
                        it.signals[usize::from(signal)] = SignalPhase::Raised(at);
                    }
                }
            }
            TraceEvent::Context {
                me,
                context,
                doing,
                pc,
            } => self.change(at, (me, context), (doing, pc), tally),
            TraceEvent::Issued {
                me,
                context,
                pc,
                count,
            } => {
                let Some(it) = self.contexts.get_mut(number(me, context)) else {
                    return;
                };
                for (after, signals) in self.takers[usize::from(me)].tests(pc, count) {
                    it.tests.push_back((at + after, pc + after as u16, signals));
                }
            }
            _ => {}
        }
    }

    /// Handles the arrival of a signal that a context sent.
    fn send(&mut self, at: Cycle, signal: u8, (me, context, pc): (u8, u8, u16), tally: &mut Tally) {
        let sent = at.saturating_sub(self.latency);
        self.settle((me, context), sent + 1, tally);
        let Some(it) = self.contexts.get_mut(number(me, context)) else {
            return;
        };
        let phase = &mut it.signals[usize::from(signal)];
        let SignalPhase::Taken(since, taken) = *phase else {
            return;
        };
        *phase = SignalPhase::Away;
        let what = ExclusiveResource::Turn { me, signal };
        if tally.hold(what, (since, sent), (context, (me, taken, pc))) {
            tally.add(at, what, Part::HandedOver, at - sent);
        }
    }

    /// Handles a context's change of state.
    fn change(
        &mut self,
        at: Cycle,
        (me, context): (u8, u8),
        (doing, pc): (ContextState, u16),
        tally: &mut Tally,
    ) {
        self.settle((me, context), at, tally);
        let Some(it) = self.contexts.get_mut(number(me, context)) else {
            return;
        };
        match doing {
            ContextState::Waiting { signals, .. } => {
                it.awaited = signals;
                it.waits = Some(at);
            }
            ContextState::Ready => {
                if it.executing {
                    it.awaited = self.takers[usize::from(me)].awaited(pc);
                }
                let awaited = std::mem::take(&mut it.awaited);
                if let Some(since) = it.waits.take() {
                    it.wait_for_turn(since, at, awaited);
                }
                self.take((me, context), (at, pc), awaited, tally);
            }
            _ => {}
        }
        if let Some(it) = self.contexts.get_mut(number(me, context)) {
            it.executing = doing == ContextState::Executing;
        }
    }

    /// Takes the signals found by tests before a cycle.
    fn settle(&mut self, (me, context): (u8, u8), before: Cycle, tally: &mut Tally) {
        while let Some((at, pc, signals)) = { self.contexts.get_mut(number(me, context)) }
            .and_then(|it| it.tests.pop_front_if(|test| test.0 < before))
        {
            self.take((me, context), (at, pc), signals, tally);
        }
    }

    /// Takes those of some signals that have arrived at a context.
    fn take(
        &mut self,
        (me, context): (u8, u8),
        (at, pc): (Cycle, u16),
        signals: u16,
        tally: &mut Tally,
    ) {
        let Some(it) = self.contexts.get_mut(number(me, context)) else {
            return;
        };
        for signal in (1..16).filter(|signal| signals >> signal & 1 == 1) {
            let phase = &mut it.signals[usize::from(signal)];
            if let SignalPhase::Raised(since) = *phase {
                *phase = SignalPhase::Taken(at, pc);
                let what = ExclusiveResource::Turn { me, signal };
                tally.add(at, what, Part::Idle, at.saturating_sub(since));
                tally.delay((since, at), (me, context), signal);
            }
        }
    }

    /// Groups what belongs together: the signals with one number in microengines that send it to
    /// each other. Everything else forms a group of its own.
    pub fn groups<'a>(
        &self,
        all: impl Iterator<Item = &'a ExclusiveResource>,
    ) -> Vec<Vec<ExclusiveResource>> {
        let mut groups: BTreeMap<ExclusiveResource, Vec<ExclusiveResource>> = BTreeMap::new();
        for &what in all {
            let first = match what {
                ExclusiveResource::Turn { me, signal } => ExclusiveResource::Turn {
                    me: self.first_of(me, signal),
                    signal,
                },
                other => other,
            };
            groups.entry(first).or_default().push(what);
        }
        groups.into_values().collect()
    }

    /// The first of the microengines that pass a turn to each other.
    fn first_of(&self, me: u8, signal: u8) -> u8 {
        let mut known = BTreeSet::from([me]);
        loop {
            let passed = self.passed.iter().filter(|it| it.0 == signal);
            let next = passed.filter(|it| known.contains(&it.1) != known.contains(&it.2));
            let Some(&(_, from, to)) = next.into_iter().next() else {
                return known.first().copied().unwrap_or(me);
            };
            known.extend([from, to]);
        }
    }
}

fn number(me: u8, context: u8) -> usize {
    usize::from(me) * EACH + context_index(context)
}
