//! The observer that counts.

use std::sync::Arc;

use npsim_chip::Cycle;
use npsim_chip::chip::Chip;
use npsim_chip::core::Core;
use npsim_chip::kernel::observer::Observer;
use npsim_chip::kernel::trace_event::{Cause, ContextState, Kind as EventKind, Kinds, TraceEvent};
use npsim_chip::watch::Sampler;
use npsim_image::Image;

use super::{MicroengineProfile, Profile, Spent, Wait, Waited};

/// What a stretch of cycles was spent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Ready,
    Waiting(Waited),
    Killed,
    Inactive,
    /// The slots of the context say what on.
    Executing,
}

/// What issue slots were spent on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Use {
    Issued,
    Aborted,
    Stalled,
}

/// Issue slots of a context that follow one another.
#[derive(Clone, Copy, Debug)]
struct Slots {
    from: Cycle,
    until: Cycle,
    pc: u16,
    context: u8,
    spent: Use,
}

/// A stretch of cycles of a context in one state.
#[derive(Clone, Copy, Debug)]
struct Stretch {
    from: Cycle,
    until: Cycle,
    pc: u16,
    context: u8,
    kind: Kind,
}

/// A context's present state.
#[derive(Clone, Copy, Debug)]
struct Present {
    doing: ContextState,
    pc: u16,
    since: Cycle,
    /// The last signal that came since.
    came: Option<(u16, Cause)>,
}

#[derive(Debug)]
struct Tally {
    me: u8,
    image: Arc<Image>,
    /// How often words were issued, as differences to the word before.
    issued: Vec<i64>,
    words: Vec<Spent>,
    contexts: [Spent; 8],
    executing: [Cycle; 8],
    /// Of each word, in the order in which they were first seen.
    waits: Vec<Vec<(Waited, u64, Cycle)>>,
    present: [Present; 8],
    /// A command that waits for room in the FIFO: its context, instruction and
    /// since when.
    held: Option<(u8, u16, Cycle)>,
    /// The slots that were told last. The end of the run may cut them; with the
    /// next ones they are over.
    last: Option<Slots>,
}

impl Tally {
    fn new(me: &dyn Core, now: Cycle) -> Self {
        let words = me.program().image().words.len() + 1;
        let present = |context: u8| {
            let (doing, pc) = me.doing(context);
            Present {
                doing,
                pc,
                since: now,
                came: None,
            }
        };
        Self {
            me: me.index(),
            image: Arc::clone(me.program().image()),
            issued: vec![0; words + 1],
            words: vec![Spent::default(); words],
            contexts: [Spent::default(); 8],
            executing: [0; 8],
            waits: vec![Vec::new(); words],
            present: std::array::from_fn(|context| present(context as u8)),
            held: None,
            last: None,
        }
    }

    #[inline]
    fn slots(&mut self, context: u8, pc: u16, spent: Use, from: Cycle, until: Cycle) {
        let slots = Slots {
            from,
            until,
            pc,
            context,
            spent,
        };
        if let Some(before) = self.last.replace(slots) {
            self.spend(before);
        }
    }

    #[inline]
    fn spend(&mut self, slots: Slots) {
        let cycles = slots.until - slots.from;
        let pc = usize::from(slots.pc).min(self.words.len() - 1);
        let context = &mut self.contexts[usize::from(slots.context & 7)];
        match slots.spent {
            Use::Issued => {
                self.issued[pc] += 1;
                let end = (pc + cycles as usize).min(self.words.len());
                self.issued[end] -= 1;
                context.issued += cycles;
            }
            Use::Aborted => {
                self.words[pc].aborted += cycles;
                context.aborted += cycles;
            }
            Use::Stalled => {
                self.words[pc].stalled += cycles;
                context.stalled += cycles;
            }
        }
    }

    fn change(&mut self, at: Cycle, context: u8, doing: ContextState, pc: u16) {
        let present = &mut self.present[usize::from(context & 7)];
        let before = *present;
        *present = Present {
            doing,
            pc,
            since: at,
            came: None,
        };
        if at > before.since {
            self.count(&before.stretch((self.me, context), at, false));
        }
    }

    fn count(&mut self, stretch: &Stretch) {
        let cycles = stretch.until - stretch.from;
        let pc = usize::from(stretch.pc).min(self.words.len() - 1);
        let at = usize::from(stretch.context & 7);
        let (word, context) = (&mut self.words[pc], &mut self.contexts[at]);
        match stretch.kind {
            Kind::Ready => {
                word.ready += cycles;
                context.ready += cycles;
            }
            Kind::Waiting(waited) => {
                word.waiting += cycles;
                context.waiting += cycles;
                let waits = &mut self.waits[pc];
                match waits.iter_mut().find(|wait| wait.0 == waited) {
                    Some(wait) => {
                        wait.1 += 1;
                        wait.2 += cycles;
                    }
                    None => waits.push((waited, 1, cycles)),
                }
            }
            Kind::Killed => {
                word.killed += cycles;
                context.killed += cycles;
            }
            Kind::Inactive => context.inactive += cycles,
            Kind::Executing => self.executing[at] += cycles,
        }
    }

    fn finish(mut self, start: Cycle, end: Cycle) -> MicroengineProfile {
        for context in 0..8 {
            let present = self.present[usize::from(context)];
            if present.since < end {
                self.count(&present.stretch((self.me, context), end, true));
            }
        }
        if let Some((context, pc, since)) = self.held {
            self.slots(context, pc, Use::Stalled, since, end);
        }
        if let Some(mut slots) = self.last.take() {
            slots.until = slots.until.min(end);
            if slots.from < slots.until {
                self.spend(slots);
            }
        }
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

impl Present {
    /// The stretch that ends at a cycle, because the state does or the run.
    fn stretch(&self, (me, context): (u8, u8), until: Cycle, still: bool) -> Stretch {
        let kind = match self.doing {
            ContextState::Inactive => Kind::Inactive,
            ContextState::Ready => Kind::Ready,
            ContextState::Executing => Kind::Executing,
            ContextState::Killed => Kind::Killed,
            ContextState::Waiting { signals, .. } if still => Kind::Waiting(Waited::Still(signals)),
            ContextState::Waiting { signals, .. } => {
                Kind::Waiting(self.came.map_or(Waited::Changed, |(came, cause)| {
                    let woke = if came & signals == 0 {
                        came
                    } else {
                        came & signals
                    };
                    let (cause, issued) = impersonal(cause, me, context);
                    Waited::For {
                        signal: woke.trailing_zeros() as u8,
                        cause,
                        issued,
                    }
                }))
            }
        };
        Stretch {
            from: self.since,
            until,
            pc: self.pc,
            context,
            kind,
        }
    }
}

/// A cause without who it was, so that all contexts and all commands of a kind
/// are one; and the instruction of a command that the context issued itself.
fn impersonal(cause: Cause, me: u8, context: u8) -> (Cause, Option<u16>) {
    match cause {
        Cause::Command {
            op,
            me: issuer,
            context: own,
            pc,
        } => {
            let nobody = Cause::Command {
                op,
                me: 0,
                context: 0,
                pc: 0,
            };
            (nobody, ((issuer, own) == (me, context)).then_some(pc))
        }
        Cause::Thread { .. } => (Cause::Thread { me: 0, context: 0 }, None),
        other => (other, None),
    }
}

/// A observer that counts cycles by instruction and by what they were spent on.
#[derive(Debug)]
pub struct Collector {
    start: Cycle,
    packets: u64,
    tallies: Vec<Tally>,
}

impl Collector {
    /// Counts from now on what a chip does that is not within an instruction's
    /// aftermath: at the start of a run, or between two parts of it.
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
        }
    }

    /// What was counted when the run has come to a cycle.
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
        }
    }
}

impl Sampler for Collector {}

impl Observer for Collector {
    fn wants(&self) -> Kinds {
        Kinds::of(&[
            EventKind::Issued,
            EventKind::Aborted,
            EventKind::Stalled,
            EventKind::Held,
            EventKind::Context,
            EventKind::Signal,
            EventKind::Departed,
        ])
    }

    #[inline]
    fn see(&mut self, at: Cycle, what: &TraceEvent) {
        match *what {
            TraceEvent::Issued {
                me,
                context,
                pc,
                count,
            } => {
                let until = at + Cycle::from(count);
                self.tallies[usize::from(me)].slots(context, pc, Use::Issued, at, until);
            }
            TraceEvent::Aborted {
                me,
                context,
                pc,
                slots,
            } => self.tallies[usize::from(me)].slots(context, pc, Use::Aborted, at, at + slots),
            TraceEvent::Stalled {
                me,
                context,
                pc,
                from,
            } => {
                let tally = &mut self.tallies[usize::from(me)];
                tally.held = None;
                tally.slots(context, pc, Use::Stalled, from, at);
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
                let present = &mut tally.present[usize::from(context & 7)];
                // What came before the state began, while the slots of a swap were thrown
                // away, has not ended it. It may be told after it.
                if at >= present.since {
                    present.came = Some((signals, cause));
                }
            }
            TraceEvent::Departed { .. } => self.packets += 1,
            _ => {}
        }
    }

    fn needs_order(&self) -> bool {
        false
    }
}
