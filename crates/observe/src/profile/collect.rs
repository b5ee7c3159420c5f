//! The observer that counts cycles.

use npsim_isa::{CONTEXTS, context_index};
use std::sync::Arc;

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::core::Core;
use npsim_chip::kernel::observer::Observer;
use npsim_chip::kernel::recurring_state::RecurringState;
use npsim_chip::kernel::trace_event::{
    Cause, ContextState, EventKinds, TraceEvent, TraceEventKind as EventKind,
};
use npsim_chip::watch::Sampler;
use npsim_image::Image;

use crate::context_span::ContextSpan;

use super::program::ProgramTally;
use super::{CycleBreakdown, MicroengineProfile, Profile, Wait, WaitEnd};

/// How an issue slot was spent.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum SlotUse {
    Issued,
    Aborted,
    Stalled,
}

/// Consecutive issue slots of a context.
#[derive(Clone, Copy, Debug)]
struct SlotRun {
    from: Cycle,
    until: Cycle,
    pc: u16,
    context: u8,
    spent: SlotUse,
}

/// A context's present state, with the last signals that have arrived since it began.
type Present = ContextSpan<Option<(u16, Cause)>>;

#[derive(Debug)]
struct Tally {
    me: u8,
    image: Arc<Image>,
    /// Issue counts of words, as differences to the previous word.
    issued: Vec<i64>,
    words: Vec<CycleBreakdown>,
    contexts: [CycleBreakdown; CONTEXTS as usize],
    executing: [Cycle; CONTEXTS as usize],
    /// The waits at each word, in the order in which they were first seen.
    waits: Vec<Vec<(WaitEnd, u64, Cycle)>>,
    present: [Present; CONTEXTS as usize],
    /// A command that waits for room in the FIFO: its context, its instruction
    /// and the first cycle of the wait.
    held: Option<(u8, u16, Cycle)>,
    /// The slots of the last event, which the end of the run may cut off.
    last: SlotRun,
}

impl Tally {
    fn new(me: &dyn Core, now: Cycle) -> Self {
        let words = me.program().image().words.len() + 1;
        Self {
            me: me.index(),
            image: Arc::clone(me.program().image()),
            issued: vec![0; words + 1],
            words: vec![CycleBreakdown::default(); words],
            contexts: [CycleBreakdown::default(); CONTEXTS as usize],
            executing: [0; CONTEXTS as usize],
            waits: vec![Vec::new(); words],
            present: Present::all(me, now),
            held: None,
            last: SlotRun {
                from: 0,
                until: 0,
                pc: 0,
                context: 0,
                spent: SlotUse::Stalled,
            },
        }
    }

    /// Visits the state that events change.
    fn visit_state(&mut self, state: &mut RecurringState<'_>) {
        for (at, word) in (0..).zip(&mut self.issued) {
            if *word != 0 {
                let mut times = word.cast_unsigned();
                state.value(at);
                state.count(&mut times);
                *word = times.cast_signed();
            }
        }
        for (at, spent) in (0..).zip(self.words.iter_mut().chain(&mut self.contexts)) {
            if spent.total() != 0 {
                state.value(at);
                spent.each_mut().into_iter().for_each(|it| state.count(it));
            }
        }
        self.executing.iter_mut().for_each(|it| state.count(it));
        for (_, times, cycles) in self.waits.iter_mut().flatten() {
            state.count(times);
            state.count(cycles);
        }
        for present in &mut self.present {
            state.time(&mut present.since);
            state.value(u64::from(present.pc));
        }
        state.value(u64::from(self.held.is_some()));
        if let Some((_, _, since)) = &mut self.held {
            state.time(since);
        }
        state.time(&mut self.last.from);
        state.time(&mut self.last.until);
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // `spent` is constant in each caller.
    fn slots(&mut self, context: u8, pc: u16, spent: SlotUse, from: Cycle, until: Cycle) {
        let slots = SlotRun {
            from,
            until,
            pc,
            context,
            spent,
        };
        self.last = slots;
        self.spend(&slots);
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // It is all that its caller does.
    fn spend(&mut self, slots: &SlotRun) {
        let cycles = slots.until - slots.from;
        let pc = usize::from(slots.pc).min(self.words.len() - 1);
        let context = &mut self.contexts[context_index(slots.context)];
        match slots.spent {
            SlotUse::Issued => {
                let end = (pc + cycles as usize).min(self.words.len());
                self.issued[pc] += 1;
                self.issued[end] -= 1;
                context.issued += cycles;
            }
            SlotUse::Aborted => {
                self.words[pc].aborted += cycles;
                context.aborted += cycles;
            }
            SlotUse::Stalled => {
                self.words[pc].stalled += cycles;
                context.stalled += cycles;
            }
        }
    }

    /// Removes what was last counted beyond the end.
    fn cut(&mut self, end: Cycle) {
        let slots = self.last;
        let until = end.clamp(slots.from, slots.until);
        let (cycles, left) = (slots.until - until, until - slots.from);
        let pc = usize::from(slots.pc).min(self.words.len() - 1);
        let context = &mut self.contexts[context_index(slots.context)];
        match slots.spent {
            SlotUse::Issued => {
                let last = self.words.len();
                let from = (pc + left as usize).min(last);
                self.issued[from] -= 1;
                self.issued[(from + cycles as usize).min(last)] += 1;
                context.issued -= cycles;
            }
            SlotUse::Aborted => {
                self.words[pc].aborted -= cycles;
                context.aborted -= cycles;
            }
            SlotUse::Stalled => {
                self.words[pc].stalled -= cycles;
                context.stalled -= cycles;
            }
        }
    }

    #[inline]
    fn change(&mut self, at: Cycle, context: u8, doing: ContextState, pc: u16) {
        let before = self.present[context_index(context)];
        if at > before.since {
            self.count(&before, context, at, false);
        }
        self.present[context_index(context)].change(at, doing, pc);
    }

    /// Counts the cycles of a context's state, which ends because the next begins or the run ends.
    #[inline]
    fn count(&mut self, before: &Present, context: u8, until: Cycle, still: bool) {
        let cycles = until - before.since;
        let pc = usize::from(before.pc).min(self.words.len() - 1);
        let at = context_index(context);
        let (word, of_context) = (&mut self.words[pc], &mut self.contexts[at]);
        match before.doing {
            ContextState::Ready => {
                word.ready += cycles;
                of_context.ready += cycles;
            }
            ContextState::Executing => self.executing[at] += cycles,
            ContextState::Waiting { signals, .. } => {
                word.waiting += cycles;
                of_context.waiting += cycles;
                let waited = waited(before, signals, (self.me, context), still);
                self.count_wait(pc, waited, cycles);
            }
            ContextState::Killed => {
                word.killed += cycles;
                of_context.killed += cycles;
            }
            ContextState::Inactive => of_context.inactive += cycles,
        }
    }

    /// Counts the cycles that a context waited at a word.
    #[inline(never)]
    fn count_wait(&mut self, pc: usize, waited: WaitEnd, cycles: Cycle) {
        let waits = &mut self.waits[pc];
        match waits.iter_mut().find(|wait| wait.0 == waited) {
            Some(wait) => {
                wait.1 += 1;
                wait.2 += cycles;
            }
            None => waits.push((waited, 1, cycles)),
        }
    }

    fn finish(mut self, start: Cycle, end: Cycle) -> MicroengineProfile {
        for context in 0..CONTEXTS {
            let present = self.present[usize::from(context)];
            if present.since < end {
                self.count(&present, context, end, true);
            }
        }
        if let Some((context, pc, since)) = self.held.filter(|held| held.2 < end) {
            self.slots(context, pc, SlotUse::Stalled, since, end);
        }
        self.cut(end);
        let mut times = 0;
        for (word, change) in self.words.iter_mut().zip(&self.issued) {
            times += change;
            word.issued = times.unsigned_abs();
        }
        let executing: Cycle = self.executing.iter().sum();
        MicroengineProfile {
            index: self.me,
            image: self.image,
            words: self.words,
            contexts: self.contexts,
            idle: (end - start).saturating_sub(executing),
            waits: { (0..).zip(self.waits) }
                .flat_map(|(pc, mut waits)| {
                    waits.sort_unstable_by_key(|wait| wait.0);
                    waits.into_iter().map(move |(waited, count, cycles)| Wait {
                        pc,
                        waited,
                        count,
                        cycles,
                    })
                })
                .collect(),
        }
    }
}

/// What ended a context's wait for signals.
fn waited(span: &Present, signals: u16, (me, context): (u8, u8), still: bool) -> WaitEnd {
    if still {
        return WaitEnd::Unfinished(signals);
    }
    span.collected
        .map_or(WaitEnd::ConditionChanged, |(came, cause)| {
            let woke = if came & signals == 0 {
                came
            } else {
                came & signals
            };
            let (cause, issued) = without_issuer(cause, me, context);
            WaitEnd::Signalled {
                signal: woke.trailing_zeros() as u8,
                cause,
                issued,
            }
        })
}

/// A cause without its microengine and context, so that commands of the same kind from any context
/// count as one; and the instruction of the command if the context issued it itself.
fn without_issuer(cause: Cause, me: u8, context: u8) -> (Cause, Option<u16>) {
    match cause {
        Cause::Command {
            op,
            me: issuer,
            context: own,
            pc,
        } => {
            let kind = Cause::Command {
                op,
                me: 0,
                context: 0,
                pc: 0,
            };
            (kind, ((issuer, own) == (me, context)).then_some(pc))
        }
        Cause::Thread { .. } => {
            let kind = Cause::Thread {
                me: 0,
                context: 0,
                pc: 0,
            };
            (kind, None)
        }
        other => (other, None),
    }
}

/// An observer that counts cycles by instruction and by what they were spent on.
#[derive(Debug)]
pub struct Collector {
    start: Cycle,
    packets: u64,
    tallies: Vec<Tally>,
    programs: Vec<ProgramTally>,
}

impl Collector {
    /// A collector that counts the chip's cycles from now on. The chip must not
    /// be in the aftermath of an instruction: it is at the start of a run, or
    /// between two parts of it.
    #[must_use]
    pub fn new(chip: &Chip) -> Self {
        let now = chip.now();
        Self {
            start: now,
            packets: 0,
            tallies: chip
                .microengines()
                .iter()
                .map(|me| Tally::new(&**me, now))
                .collect(),
            programs: ProgramTally::all(chip.gpp().tasks(), now),
        }
    }

    /// The profile, once the run has reached a cycle.
    #[must_use]
    pub fn finish(self, end: Cycle) -> Profile {
        let start = self.start;
        Profile {
            cycles: end - start,
            packets: self.packets,
            microengines: self
                .tallies
                .into_iter()
                .filter(|tally| !tally.image.words.is_empty())
                .map(|tally| tally.finish(start, end))
                .collect(),
            programs: { self.programs.into_iter() }
                .map(|it| it.finish(end))
                .collect(),
        }
    }
}

impl Sampler for Collector {}

impl Observer for Collector {
    fn wants(&self) -> EventKinds {
        EventKinds::of(&[
            EventKind::Issued,
            EventKind::Aborted,
            EventKind::Stalled,
            EventKind::Held,
            EventKind::Context,
            EventKind::Signal,
            EventKind::Departed,
            EventKind::Function,
        ])
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // This is the body of the loop over a batch.
    fn see(&mut self, at: Cycle, what: &TraceEvent) {
        match *what {
            TraceEvent::Issued {
                me,
                context,
                pc,
                count,
            } => {
                let until = at + Cycle::from(count);
                self.tallies[usize::from(me)].slots(context, pc, SlotUse::Issued, at, until);
            }
            TraceEvent::Aborted {
                me,
                context,
                pc,
                slots,
            } => self.tallies[usize::from(me)].slots(context, pc, SlotUse::Aborted, at, at + slots),
            TraceEvent::Stalled {
                me,
                context,
                pc,
                from,
            } => {
                let tally = &mut self.tallies[usize::from(me)];
                tally.held = None;
                tally.slots(context, pc, SlotUse::Stalled, from, at);
            }
            TraceEvent::Held { me, context, pc } => {
                self.tallies[usize::from(me)].held = Some((context, pc, at));
            }
            TraceEvent::Context {
                me,
                context,
                doing,
                pc,
            } => self.tallies[usize::from(me)].change(at, context, doing, pc),
            TraceEvent::Signal {
                me,
                context,
                signals,
                cause,
            } => {
                let tally = &mut self.tallies[usize::from(me)];
                let present = &mut tally.present[context_index(context)];
                // A signal that arrived before the state began, while the slots of a swap were
                // discarded, has not ended it. Its event may come after that of the state.
                if at >= present.since {
                    present.collected = Some((signals, cause));
                }
            }
            TraceEvent::Departed { .. } => self.packets += 1,
            TraceEvent::Function {
                task,
                doing,
                depth,
                function,
            } => {
                let program = self.programs.iter_mut().find(|it| it.is_of(task));
                if let Some(program) = program {
                    program.change(at, doing, depth, function);
                }
            }
            _ => {}
        }
    }

    fn needs_order(&self) -> bool {
        false
    }

    fn visit_state(&mut self, _: Cycle, state: &mut RecurringState<'_>) -> bool {
        state.value(self.packets);
        self.tallies.iter_mut().for_each(|it| it.visit_state(state));
        self.programs
            .iter_mut()
            .for_each(|it| it.visit_state(state));
        true
    }
}
