//! Contexts that sleep and that nothing can wake any more.
//!
//! A context that waits for a signal goes on if something that is under way raises it (a
//! command, a timer, a frame that may come), or another context that can still go on. So
//! those are sought that can: whoever is awake, whoever waits for what is under way, and,
//! again and again, whoever waits for what an instruction raises that one of these may
//! still come to (`raise.rs`). The others sleep for ever, however busy the rest of
//! the chip is.
//!
//! All that is not known counts as possible: the value of a register, the way a branch
//! goes, where a computed jump leads. So a context that is named here does sleep for ever;
//! one that is not named may. Where a run has come to rest, two things are taken from what
//! has happened: a command gives its signals to another context by `indirect_ref`, and a
//! context puts another one on a freelist, only if some have done so in the run. Where it
//! is broken off they count as possible too.

mod raise;
mod request;

use std::sync::Arc;

use npsim_image::Image;
use npsim_isa::Unit;

use crate::Cycle;
use crate::chip::Chip;
use crate::core::{ContextPhase, WaitInfo, signal_name_at};
use crate::kernel::check::{Check, Fault};
use crate::kernel::disturb::numbered;
use crate::kernel::event::Event;
use crate::kernel::trace_event::ContextState;
use raise::{Among, Code, Raise, looks, of_instruction, reachable, reachable_by};
use request::requests;

/// Signals 1 to 15.
const ALL_SIGNALS: u16 = 0xfffe;
/// Places that a message names.
const PLACES_SHOWN: usize = 4;

/// Contexts of a microengine that wait for the same at the same place, for ever.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct NeverWoken {
    /// Index of the microengine.
    pub me: u8,
    /// The contexts, ascending.
    pub contexts: Vec<u8>,
    /// Since when all of them wait.
    pub since: Cycle,
    /// The instruction with which they gave up the pipeline.
    pub at: u16,
    /// The same in the source.
    pub place: String,
    /// Bit s: signal s is missing and nothing raises it.
    pub signals: u16,
    /// One of them would do.
    pub any: bool,
    /// The signals by the names that the program gives them.
    pub names: Vec<String>,
}

impl NeverWoken {
    /// `8 contexts of microengine 0 wait since cycle 900 for signal 3 (`police`)`
    #[must_use]
    pub fn sentence(&self) -> String {
        let joint = if self.any { " or " } else { " and " };
        let (who, waits) = match self.contexts[..] {
            [one] => (format!("context {one}"), "waits"),
            _ => (format!("{} contexts", self.contexts.len()), "wait"),
        };
        format!(
            "{who} of microengine {} {waits} since cycle {} for {}",
            self.me,
            self.since,
            self.names.join(joint)
        )
    }
}

/// A context as the search sees it.
#[derive(Clone, Copy)]
struct Sleeper {
    me: u8,
    context: u8,
    missing: u16,
    any: bool,
    /// Signals that may still reach it.
    possible: u16,
    alive: bool,
    /// It may go on from any address.
    anywhere: bool,
}

/// An instruction that raises a signal for a context, and a context that may come to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Sender {
    /// Index of the microengine.
    pub me: u8,
    /// The context.
    pub context: u8,
    /// The instruction.
    pub pc: u16,
    /// Bit s: it raises signal s, of those that were asked for.
    pub signals: u16,
    /// Whom it signals is computed while it runs, so that it may be another.
    pub computed: bool,
    /// The context may still go on; else it sleeps for ever itself.
    pub alive: bool,
}

/// What a run that ends leaves behind it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outlook {
    /// It has come to rest: no frame moves, and what did not happen so far does not.
    AtRest,
    /// It could go on.
    GoesOn,
}

impl Sleeper {
    fn is_woken(self) -> bool {
        if self.any {
            self.missing & self.possible != 0
        } else {
            self.missing & !self.possible == 0
        }
    }
}

/// The loop that a context is in which never leaves it, in words: its addresses and its
/// first and last line. `None` where the address is in no loop. What would have been taken
/// for a [look](looks) is in none: it was not come to.
pub(crate) fn round_of(image: &Arc<Image>, context: u8, pc: u16) -> Option<String> {
    let code = Code::of(image);
    let silent = |instruction: &npsim_isa::Instruction| !looks(instruction);
    let from = |at: u16| reachable_by(&code, context, at..=at, silent);
    let back = |at: &u16| *at != pc && from(*at).contains(&pc);
    let mut round: Vec<u16> = from(pc).into_iter().filter(back).collect();
    round.push(pc);
    round.sort_unstable();
    let (first, last) = (*round.first()?, *round.last()?);
    let (from, to) = (image.place(first), image.place(last));
    Some(if from == to {
        format!("it goes round at {from} (address {first})")
    } else {
        format!("it goes round among the addresses {first} to {last}, {from} to {to}")
    })
}

impl Chip {
    /// The contexts that sleep for ever, by microengine and place. A search through the
    /// programs: for the end of a run.
    #[must_use]
    pub fn never_woken(&self, outlook: Outlook) -> Vec<NeverWoken> {
        let mut all = self.contexts_in_search();
        self.count_what_is_under_way(&mut all);
        if all
            .iter()
            .all(|it| it.alive || it.missing == 0 || it.is_woken())
        {
            return Vec::new();
        }
        self.spread_life(&mut all, &self.codes(), outlook);
        let mut groups: Vec<NeverWoken> = Vec::new();
        for it in all.iter().filter(|it| !it.alive && it.missing != 0) {
            let core = &self.microengines()[usize::from(it.me)];
            let view = core.context(it.context);
            let image = core.program().image();
            let signals = it.missing & !it.possible;
            let same = |group: &&mut NeverWoken| {
                (group.me, group.at, group.signals, group.any)
                    == (it.me, view.yielded_at, signals, it.any)
            };
            if let Some(group) = groups.iter_mut().find(same) {
                group.contexts.push(it.context);
                group.since = group.since.max(view.since);
                continue;
            }
            groups.push(NeverWoken {
                me: it.me,
                contexts: vec![it.context],
                since: view.since,
                at: view.yielded_at,
                place: image.place(view.yielded_at),
                signals,
                any: it.any,
                names: (1..16)
                    .filter(|signal| signals >> signal & 1 == 1)
                    .map(|signal| signal_name_at(image, signal, view.yielded_at))
                    .collect(),
            });
        }
        groups
    }

    /// What [`Self::never_woken`] finds, as a fault at the present cycle; nothing where
    /// it finds nothing.
    #[must_use]
    pub fn never_woken_fault(&self, outlook: Outlook) -> Option<Fault> {
        let groups = self.never_woken(outlook);
        let first = groups.iter().max_by_key(|group| {
            let earlier = std::cmp::Reverse((group.since, group.me, group.at));
            (group.contexts.len(), earlier)
        })?;
        let mut notes = vec![self.raisers_note(first.me, &first.contexts, first.signals, outlook)];
        for group in groups.iter().filter(|group| *group != first) {
            notes.push(format!("{}, at {}", group.sentence(), group.place));
        }
        let which = numbered(&first.contexts);
        if first.contexts.len() > 1 {
            notes.push(format!("these are {which} of microengine {}", first.me));
        }
        Some(Fault {
            check: Some(Check::NeverWoken),
            cycle: self.now(),
            me: Some(first.me),
            context: first.contexts.first().copied(),
            pc: Some(first.at),
            message: format!(
                "{}, which nothing raises any more",
                first.sentence()
            ),
            notes,
            help: Some(
                "raise it on every path: a turn has to be passed on also where a packet is dropped; a context that has nothing more to do gives up with ctx_arb[kill]"
                    .to_owned(),
            ),
            also: Vec::new(),
        })
    }

    /// Raises [`Check::NeverWoken`] for contexts that sleep for ever: for a run that has
    /// come to rest.
    pub fn raise_never_woken(&mut self) {
        if let Some(fault) = self.never_woken_fault(Outlook::AtRest) {
            self.fabric.checks.raise(fault);
        }
    }

    /// The other contexts that may come to an instruction that raises one of some
    /// signals of a context: those of which it is sure that they mean this context, or,
    /// where there are none, all that may. A search through the programs.
    pub(crate) fn senders(
        &self,
        me: u8,
        context: u8,
        signals: u16,
        outlook: Outlook,
    ) -> Vec<Sender> {
        let codes = self.codes();
        let mut all = self.contexts_in_search();
        self.count_what_is_under_way(&mut all);
        self.spread_life(&mut all, &codes, outlook);
        let mut found = Vec::new();
        for who in all.iter().filter(|it| (it.me, it.context) != (me, context)) {
            let asleep = who.missing != 0;
            if !who.alive && !asleep {
                // It is not enabled, or gave up for good.
                continue;
            }
            let code = &codes[usize::from(who.me)];
            let among = self.among(who.me, who.context, outlook);
            for pc in self.reached_by(*who, code) {
                let Some(raise) = of_instruction(code, pc, among) else {
                    continue;
                };
                let raised = raise.signals & signals;
                let it = raise.me.is_none_or(|to| to == me) && raise.contexts >> context & 1 == 1;
                if raised != 0 && it {
                    found.push(Sender {
                        me: who.me,
                        context: who.context,
                        pc,
                        signals: raised,
                        computed: raise.is_computed(),
                        alive: who.alive,
                    });
                }
            }
        }
        let sure = found.iter().filter(|it| it.alive && !it.computed);
        let sure = sure.fold(0, |all, it| all | it.signals);
        for it in found.iter_mut().filter(|it| it.computed) {
            it.signals &= !sure;
        }
        found.retain(|it| it.signals != 0);
        found
    }

    fn codes(&self) -> Vec<Code> {
        let cores = self.microengines().iter();
        cores.map(|core| Code::of(core.program().image())).collect()
    }

    fn contexts_in_search(&self) -> Vec<Sleeper> {
        let cores = (0..).zip(self.microengines());
        let running = cores.filter(|(_, core)| !core.program().image().words.is_empty());
        let contexts =
            running.flat_map(|(me, core)| (0..8).map(move |context| (me, core, context)));
        contexts
            .map(|(me, core, context)| {
                let view = core.context(context);
                let waits = match view.state() {
                    ContextState::Waiting { signals, .. } => signals & !view.signals & ALL_SIGNALS,
                    _ => 0,
                };
                let awake = matches!(view.phase, ContextPhase::Ready | ContextPhase::Executing);
                Sleeper {
                    me,
                    context,
                    missing: waits,
                    any: view.any,
                    possible: 0,
                    alive: awake,
                    anywhere: false,
                }
            })
            .collect()
    }

    /// What commands, events and frames that may come raise.
    fn count_what_is_under_way(&self, all: &mut [Sleeper]) {
        let mut may_reach = |me: u8, context: u8, signals: u16| {
            let found = all
                .iter_mut()
                .find(|it| (it.me, it.context) == (me, context));
            if let Some(it) = found {
                it.possible |= signals;
            }
        };
        let mut anything = false;
        for flight in self.fabric.flights() {
            let command = &flight.command;
            let signals = command.pull_signals | command.push_signals;
            may_reach(command.transfer_me, command.signal_context, signals);
            // It may be about to put its context on a freelist, or to raise a signal.
            match command.op.info().unit {
                Unit::Msf => may_reach(command.me, command.context, ALL_SIGNALS),
                Unit::Cap => anything = true,
                _ => {}
            }
        }
        for event in self.fabric.events.pending() {
            match event {
                Event::Signal {
                    me,
                    context,
                    signal,
                    ..
                } => may_reach(me, context, 1 << signal),
                // What it raises stands in a register that is not looked at here.
                Event::Timer { me, context } => may_reach(me, context, ALL_SIGNALS),
                _ => {}
            }
        }
        for waiter in self.units.msf.receive.all_waiters() {
            may_reach(waiter.me, waiter.context, 1 << waiter.signal);
        }
        if anything {
            for it in all.iter_mut() {
                it.possible = ALL_SIGNALS;
            }
        }
    }

    /// Wakes whoever waits for what those raise that are awake, until that wakes nobody.
    fn spread_life(&self, all: &mut [Sleeper], codes: &[Code], outlook: Outlook) {
        let mut done = vec![false; all.len()];
        loop {
            for it in all.iter_mut().filter(|it| it.missing != 0 && !it.alive) {
                it.alive = it.is_woken();
            }
            let Some(next) = (0..all.len()).find(|&at| all[at].alive && !done[at]) else {
                return;
            };
            done[next] = true;
            let code = &codes[usize::from(all[next].me)];
            for raise in self.raised_by(all[next], code, outlook) {
                for (it, done) in all.iter_mut().zip(&mut done) {
                    if raise.me.is_some_and(|me| me != it.me)
                        || raise.contexts >> it.context & 1 == 0
                    {
                        continue;
                    }
                    it.possible |= raise.signals;
                    if raise.revives && !it.anywhere {
                        (it.alive, it.anywhere, *done) = (true, true, false);
                    }
                }
            }
        }
    }

    /// What a context may still raise that is awake or comes to be.
    fn raised_by(&self, who: Sleeper, code: &Code, outlook: Outlook) -> Vec<Raise> {
        let among = self.among(who.me, who.context, outlook);
        let raises = self
            .reached_by(who, code)
            .into_iter()
            .filter_map(|at| of_instruction(code, at, among));
        let mut raises: Vec<_> = raises.collect();
        raises.sort_unstable();
        raises.dedup();
        raises
    }

    /// The addresses that a context may come to.
    fn reached_by(&self, who: Sleeper, code: &Code) -> Vec<u16> {
        let (me, context) = (who.me, who.context);
        let view = self.microengines()[usize::from(me)].context(context);
        // One that executes may be in the defer slots of a branch that lies before it.
        let from = if view.phase == ContextPhase::Executing {
            view.pc.saturating_sub(3)..=view.pc
        } else {
            view.pc..=view.pc
        };
        if who.anywhere {
            code.addresses().collect()
        } else {
            reachable(code, context, from)
        }
    }

    fn among(&self, me: u8, context: u8, outlook: Outlook) -> Among<'_> {
        let goes_on = outlook == Outlook::GoesOn;
        Among {
            profile: self.profile(),
            me,
            context,
            lists_others: goes_on || self.units.msf.receive.lists_others,
            signals_others: goes_on || self.fabric.signals_others,
        }
    }

    /// Where programs have an instruction that raises what these contexts miss, in words.
    fn raisers_note(&self, me: u8, contexts: &[u8], signals: u16, outlook: Outlook) -> String {
        let mut places = self.places_that_raise(me, contexts, signals, outlook);
        places.extend(self.requests_of(me, signals, !places.is_empty()));
        match &shorten(places)[..] {
            [] if signals.is_power_of_two() => "no instruction of any program raises it".to_owned(),
            [] => "no instruction of any program raises them".to_owned(),
            some => format!(
                "raised at {}, where only contexts come that sleep for ever themselves, or none",
                some.join("; ")
            ),
        }
    }

    /// Where other contexts than these raise it for them.
    fn places_that_raise(
        &self,
        to: u8,
        contexts: &[u8],
        signals: u16,
        outlook: Outlook,
    ) -> Vec<String> {
        let mut places = Vec::new();
        for (me, code) in (0..).zip(&self.codes()) {
            for at in code.addresses() {
                let raises = (0..8).any(|context| {
                    let raise = of_instruction(code, at, self.among(me, context, outlook));
                    raise.is_some_and(|it| {
                        it.signals & signals != 0
                            && it.me.is_none_or(|me| me == to)
                            && contexts.iter().any(|one| it.contexts >> one & 1 == 1)
                    })
                });
                if raises {
                    places.push(code.image.place(at));
                }
            }
        }
        places
    }

    /// The places where the program of a microengine asks for signals that nobody else raises.
    pub(crate) fn places_that_ask(&self, me: u8, signals: u16) -> Vec<String> {
        shorten(self.requests_of(me, signals, false))
    }

    fn requests_of(&self, me: u8, signals: u16, else_raises: bool) -> Vec<String> {
        let code = Code::of(self.microengines()[usize::from(me)].program().image());
        let places = requests(&code, signals, else_raises).into_iter();
        places.map(|at| code.image.place(at)).collect()
    }

    /// The fault of a chip in which every context sleeps, and this one for ever.
    pub(crate) fn deadlock(&self, me: u8, context: u8, wait: &WaitInfo) -> Fault {
        let since = self.microengines()[usize::from(me)].context(context).since;
        // A core that is alone may have run a few cycles ahead.
        let since = since.min(self.now());
        let missing = wait.signals & !wait.arrived & ALL_SIGNALS;
        let mut notes = vec![self.raisers_note(me, &[context], missing, Outlook::AtRest)];
        let states = self.microengines().iter();
        notes.extend(states.flat_map(|core| core.state_report()));
        Fault {
            check: Some(Check::Deadlock),
            cycle: self.now(),
            me: Some(me),
            context: Some(context),
            pc: Some(wait.at),
            message: format!(
                "every context sleeps and nothing is pending that could wake one; microengine {me} context {context} waits for {}, since cycle {since}",
                wait.missing.join(if wait.any { " or " } else { " and " })
            ),
            notes,
            help: Some(
                "look for the command, or the other context, that should have raised the signal; `npsim debug` goes back to it: `why` there, and `who` for who raised it last"
                    .to_owned(),
            ),
            also: Vec::new(),
        }
    }
}

/// Places without what stands there twice, in order, and no more than fit a message.
fn shorten(mut places: Vec<String>) -> Vec<String> {
    places.sort_unstable();
    places.dedup();
    let more = places.len().saturating_sub(PLACES_SHOWN);
    places.truncate(PLACES_SHOWN);
    if more > 0 {
        places.push(format!("{more} more places"));
    }
    places
}
