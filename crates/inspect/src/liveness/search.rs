//! The search for contexts that can still go on.

use npsim_chip::chip::Chip;
use npsim_chip::core::ContextPhase;
use npsim_chip::kernel::event::Event;
use npsim_chip::kernel::trace_event::ContextState;
use npsim_isa::{CONTEXTS, Unit};

use super::program::FlowProgram;
use super::raise::{ALL_SIGNALS, Issuer, Raise, raise_at};

/// How a run that ends could continue.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Outlook {
    /// The run has come to rest: no frame moves, and kinds of event that have not happened so far
    /// will not happen.
    AtRest,
    /// The run could continue.
    MayContinue,
}

/// An instruction that raises a signal for a context, and a context that may reach the instruction.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SignalSender {
    /// Index of the microengine.
    pub me: u8,
    /// The context.
    pub context: u8,
    /// Address of the instruction.
    pub pc: u16,
    /// Bit s: it raises signal s, out of the requested ones.
    pub signals: u16,
    /// Whether the receiver is computed at run time, so that it may be another context.
    pub computed: bool,
    /// Whether the sending context may still go on; otherwise it is deadlocked itself.
    pub alive: bool,
}

/// The state of a context in the search.
#[derive(Clone, Copy, Debug)]
pub(super) struct SearchThread {
    pub me: u8,
    pub context: u8,
    /// Bit s: it waits for signal s, which has not arrived.
    pub missing: u16,
    /// Whether any one of the missing signals wakes it.
    pub any: bool,
    /// Signals that may still reach it.
    pub possible: u16,
    /// Whether the context can still go on.
    pub live: bool,
    /// Whether the context may continue at any address.
    anywhere: bool,
}

impl SearchThread {
    /// Whether the signals that may still arrive are enough to wake it.
    fn is_woken(self) -> bool {
        if self.any {
            self.missing & self.possible != 0
        } else {
            self.missing & !self.possible == 0
        }
    }

    /// Whether it waits and nothing in flight will wake it.
    pub fn is_open(self) -> bool {
        !self.live && self.missing != 0 && !self.is_woken()
    }

    /// Whether it waits and, once the search is done, nothing can wake it.
    pub fn is_deadlocked(self) -> bool {
        !self.live && self.missing != 0
    }
}

/// The contexts of all programs, with the signals that commands, events and possible frames raise
/// for them.
pub(super) fn threads(chip: &Chip) -> Vec<SearchThread> {
    let cores = (0..).zip(chip.microengines());
    let running = cores.filter(|(_, core)| !core.program().image().words.is_empty());
    let contexts =
        running.flat_map(|(me, core)| (0..CONTEXTS).map(move |context| (me, core, context)));
    let mut all: Vec<_> = contexts
        .map(|(me, core, context)| {
            let view = core.context(context);
            let missing = match view.state() {
                ContextState::Waiting { signals, .. } => signals & !view.signals & ALL_SIGNALS,
                _ => 0,
            };
            SearchThread {
                me,
                context,
                missing,
                any: view.any,
                possible: 0,
                live: matches!(view.phase, ContextPhase::Ready | ContextPhase::Executing),
                anywhere: false,
            }
        })
        .collect();
    add_in_flight(chip, &mut all);
    all
}

/// Adds to `possible` of each thread the signals that may still arrive without any context doing
/// anything: from commands in flight, queued events, and frames.
///
/// The set may be too large but must never be too small, or else a run that goes on would be
/// reported as deadlocked:
///
/// | what is pending | what it may reach |
/// | --- | --- |
/// | any command | the context that it names, with its signals |
/// | a command to the media interface | also its own context, with any signal, which it may put on a freelist (`units/msf/command.rs`) |
/// | a command to the CSR proxy | every context, for it may write the register that raises signals (`units/cap.rs`) |
/// | a signal | its receiver |
/// | a timer | its receiver, with any signal: which one is in a register that only the core reads |
/// | an entry of a receive freelist | its context: a frame may come |
fn add_in_flight(chip: &Chip, all: &mut [SearchThread]) {
    let mut may_reach = |me: u8, context: u8, signals: u16| {
        let mut threads = all.iter_mut();
        if let Some(it) = threads.find(|it| (it.me, it.context) == (me, context)) {
            it.possible |= signals;
        }
    };
    let mut anything = false;
    for flight in chip.fabric().flights() {
        let command = &flight.command;
        let signals = command.pull_signals | command.push_signals;
        may_reach(command.transfer_me, command.signal_context, signals);
        match command.op.info().unit {
            Unit::Msf => may_reach(command.me, command.context, ALL_SIGNALS),
            Unit::Cap => anything = true,
            _ => {}
        }
    }
    for event in chip.fabric().events.pending() {
        match event {
            Event::Signal {
                me,
                context,
                signal,
                ..
            } => may_reach(me, context, 1 << signal),
            Event::Timer { me, context } => may_reach(me, context, ALL_SIGNALS),
            _ => {}
        }
    }
    for waiter in chip.units().msf.receive.all_waiters() {
        may_reach(waiter.me, waiter.context, 1 << waiter.signal);
    }
    if anything {
        for it in all.iter_mut() {
            it.possible = ALL_SIGNALS;
        }
    }
}

/// A search through the programs of a chip.
pub(super) struct Search<'a> {
    chip: &'a Chip,
    outlook: Outlook,
    /// The programs by microengine.
    programs: Vec<FlowProgram>,
}

impl<'a> Search<'a> {
    pub fn new(chip: &'a Chip, outlook: Outlook) -> Self {
        let cores = chip.microengines().iter();
        Self {
            chip,
            outlook,
            programs: cores.map(|core| FlowProgram::of(core.as_ref())).collect(),
        }
    }

    /// The program of a microengine.
    pub fn program(&self, me: u8) -> &FlowProgram {
        &self.programs[usize::from(me)]
    }

    /// Marks the threads that can still go on, until no more are woken.
    pub fn mark_live(&self, all: &mut [SearchThread]) {
        let mut done = vec![false; all.len()];
        loop {
            for it in all.iter_mut().filter(|it| it.missing != 0 && !it.live) {
                it.live = it.is_woken();
            }
            let Some(next) = (0..all.len()).find(|&at| all[at].live && !done[at]) else {
                return;
            };
            done[next] = true;
            for raise in self.raised_by(all[next]) {
                for (it, done) in all.iter_mut().zip(&mut done) {
                    if !raise.reaches(it.me, it.context) {
                        continue;
                    }
                    it.possible |= raise.signals;
                    if raise.revives && !it.anywhere {
                        (it.live, it.anywhere, *done) = (true, true, false);
                    }
                }
            }
        }
    }

    /// The signals that a live thread may still raise.
    fn raised_by(&self, thread: SearchThread) -> Vec<Raise> {
        let mut raises: Vec<_> = { self.reached_by(thread).into_iter() }
            .filter_map(|at| self.raise(thread.me, thread.context, at))
            .collect();
        raises.sort_unstable();
        raises.dedup();
        raises
    }

    /// The addresses that a thread may reach.
    fn reached_by(&self, thread: SearchThread) -> Vec<u16> {
        let flow = &self.program(thread.me).flow;
        if thread.anywhere {
            return flow.addresses().collect();
        }
        let view = self.chip.microengines()[usize::from(thread.me)].context(thread.context);
        // An executing context may be in the defer slots of a branch that lies before its address.
        let first = match view.phase {
            ContextPhase::Executing => view.pc.saturating_sub(3),
            _ => view.pc,
        };
        flow.reachable(thread.context, first..=view.pc)
    }

    /// The signals that an instruction may raise for contexts other than the one that executes it.
    fn raise(&self, me: u8, context: u8, at: u16) -> Option<Raise> {
        let goes_on = self.outlook == Outlook::MayContinue;
        let issuer = Issuer {
            profile: self.chip.profile(),
            me,
            context,
            lists_others: goes_on || self.chip.units().msf.receive.lists_others,
            signals_others: goes_on || self.chip.fabric().signals_others,
        };
        raise_at(self.program(me), at, issuer)
    }

    /// The places at which contexts raise some signals for contexts of a microengine.
    pub fn raising_places(&self, to: u8, contexts: &[u8], signals: u16) -> Vec<String> {
        let mut places = Vec::new();
        for (me, program) in (0..).zip(&self.programs) {
            let raises = |at: &u16| {
                (0..CONTEXTS).any(|context| {
                    self.raise(me, context, *at).is_some_and(|raise| {
                        raise.signals & signals != 0
                            && contexts.iter().any(|one| raise.reaches(to, *one))
                    })
                })
            };
            let found = program.flow.addresses().filter(raises);
            places.extend(found.map(|at| program.image.place(at)));
        }
        places
    }
}

/// What contexts may still raise for others: searched once, then queried for each waiting context.
#[derive(Debug)]
pub(crate) struct Senders(Vec<Sending>);

/// A context that is live or waits; the others are not enabled or have exited.
#[derive(Debug)]
struct Sending {
    thread: SearchThread,
    /// The signals that it may raise, with the addresses, ascending.
    raises: Vec<(u16, Raise)>,
}

impl Senders {
    pub fn of(chip: &Chip, outlook: Outlook) -> Self {
        let search = Search::new(chip, outlook);
        let mut all = threads(chip);
        search.mark_live(&mut all);
        let sending = all.into_iter().filter(|it| it.live || it.missing != 0);
        let sending = sending.map(|thread| {
            let reached = search.reached_by(thread).into_iter();
            let raises =
                reached.filter_map(|at| Some((at, search.raise(thread.me, thread.context, at)?)));
            let raises = raises.collect();
            Sending { thread, raises }
        });
        Self(sending.collect())
    }

    /// The other contexts that may reach an instruction that raises one of some signals of a
    /// context: those whose receiver is known to be this context or, if there are none, all those
    /// whose receiver may be.
    pub fn to(&self, me: u8, context: u8, signals: u16) -> Vec<SignalSender> {
        let others =
            { self.0.iter() }.filter(|it| (it.thread.me, it.thread.context) != (me, context));
        let mut found = Vec::new();
        for Sending { thread, raises } in others {
            for (pc, raise) in raises {
                let raised = raise.signals & signals;
                if raised != 0 && raise.reaches(me, context) {
                    found.push(SignalSender {
                        me: thread.me,
                        context: thread.context,
                        pc: *pc,
                        signals: raised,
                        computed: raise.is_computed(),
                        alive: thread.live,
                    });
                }
            }
        }
        let certain = found.iter().filter(|it| it.alive && !it.computed);
        let certain = certain.fold(0, |all, it| all | it.signals);
        for it in found.iter_mut().filter(|it| it.computed) {
            it.signals &= !certain;
        }
        found.retain(|it| it.signals != 0);
        found
    }
}
