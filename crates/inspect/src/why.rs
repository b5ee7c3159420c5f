//! Why a context does not go on: what it waits for, and where that is.

use npsim_isa::{CONTEXTS, CommandOp, Unit, cap_csr};

use crate::flights::{CommandLocation, Flight};
use crate::inspect::Inspect;
use crate::liveness::{Outlook, SignalSender};
use npsim_chip::Cycle;
use npsim_chip::core::{ContextPhase, signal_name_at};
use npsim_chip::kernel::event::Event;
use npsim_chip::kernel::fabric::CommandId;
use npsim_chip::kernel::fault_injection::stalled_until;
use npsim_chip::kernel::target::CommandTarget;
use npsim_chip::kernel::trace_event::ContextState;
use npsim_chip::units::msf::may_join_freelist;

/// Why a context does not go on, if so.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ContextStatus {
    /// The context is not enabled.
    Inactive,
    /// The context has exited.
    Killed {
        /// The instruction with which it exited.
        at: u16,
        /// The cycle in which it exited.
        since: Cycle,
    },
    /// The context has the pipeline.
    Executing {
        /// The cycle since which it waits for room in the command FIFO, and the unit that causes
        /// the wait; no unit if the command bus does.
        held: Option<(Cycle, Option<CommandTarget>)>,
        /// Whether a breakpoint stopped it.
        halted: bool,
    },
    /// The context is ready for the pipeline.
    Ready {
        /// The cycle since which it is ready.
        since: Cycle,
        /// The context that has the pipeline.
        executing: Option<u8>,
        /// The contexts that get the pipeline before this one if nothing changes.
        before: Vec<u8>,
        /// The end of a deliberate stall by the user, if there is one.
        stalled_until: Option<Cycle>,
    },
    /// The context waits for signals.
    Asleep(Asleep),
}

/// A context that waits for signals.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Asleep {
    /// The cycle since which it waits.
    pub since: Cycle,
    /// The instruction that waits.
    pub at: u16,
    /// Whether any one of the signals is enough.
    pub any: bool,
    /// Bit s: signal s is awaited and has arrived.
    pub received: u16,
    /// The missing signals, ascending.
    pub missing: Vec<MissingSignal>,
}

/// A missing signal.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct MissingSignal {
    /// The number.
    pub signal: u8,
    /// Number and name: ``signal 3 (`read_done`)``.
    pub name: String,
    /// What will raise it, or may, most certain first. If empty, nothing in flight and no program
    /// raises it.
    pub sources: Vec<SignalOrigin>,
}

impl MissingSignal {
    /// Whether something may still raise it.
    #[must_use]
    pub fn may_arrive(&self) -> bool {
        // If there is no source at all, it may not.
        let asleep =
            |it: &SignalOrigin| matches!(it, SignalOrigin::Sender(sender) if !sender.alive);
        !self.sources.iter().all(asleep)
    }
}

/// A source of a signal.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum SignalOrigin {
    /// The signal is on its way.
    OnTheWay {
        /// The cycle of its arrival.
        due: Cycle,
        /// The microengine, context and instruction that sent it or whose command raises it.
        by: Option<(u8, u8, u16)>,
    },
    /// The context's timer.
    Timer {
        /// The cycle of the signal.
        due: Cycle,
    },
    /// A command in flight: it raises the signal when its data has moved, or sends it from one
    /// context to another.
    Command(CommandId),
    /// The next frame: the context is on a freelist.
    Frame {
        /// Number of the freelist.
        list: usize,
        /// Number of threads before it on the list.
        before: usize,
    },
    /// A command in flight that may put the context on a freelist or send it a signal: the value
    /// that it writes is not known yet.
    PossibleCommand(CommandId),
    /// An instruction of another context.
    Sender(SignalSender),
}

impl Inspect<'_> {
    /// Why a context does not go on; `None` if there is no such context. For a sleeping context
    /// this may search all programs.
    #[must_use]
    pub fn why(&self, me: u8, context: u8) -> Option<ContextStatus> {
        let view = self.microengine(me).filter(|_| context < CONTEXTS)?;
        let it = view.context(context);
        Some(match it.phase {
            ContextPhase::Inactive => ContextStatus::Inactive,
            ContextPhase::Executing => ContextStatus::Executing {
                held: view.held(),
                halted: view.core().halted() == Some(context),
            },
            ContextPhase::Ready => self.why_ready(me, context),
            ContextPhase::Sleeping => match it.state() {
                ContextState::Waiting { .. } => ContextStatus::Asleep(self.why_asleep(me, context)),
                _ => ContextStatus::Killed {
                    at: it.yielded_at,
                    since: it.since,
                },
            },
        })
    }

    fn why_ready(&self, me: u8, context: u8) -> ContextStatus {
        let core = self.chip().microengines()[usize::from(me)].as_ref();
        let it = core.context(context);
        let executing = (0..CONTEXTS).find(|at| core.context(*at).phase == ContextPhase::Executing);
        // The arbiter examines the contexts in round-robin order, starting after the one that last
        // had the pipeline.
        let last = executing.or_else(|| Some(core.probe()?.last()));
        let ready = |at: &u8| core.context(*at).phase == ContextPhase::Ready;
        let round = last
            .into_iter()
            .flat_map(|last| (1..=CONTEXTS).map(move |n| (last + n) % CONTEXTS));
        let before = round.take_while(|at| *at != context).filter(ready);
        let now = self.now();
        ContextStatus::Ready {
            since: it.since,
            executing,
            before: before.collect(),
            stalled_until: stalled_until(core.stalls(), context, now),
        }
    }

    fn why_asleep(&self, me: u8, context: u8) -> Asleep {
        let core = self.chip().microengines()[usize::from(me)].as_ref();
        let it = core.context(context);
        let absent = it.wakeup & !it.signals & !1;
        let image = core.program().image();
        let missing = (1..16).filter(|signal| absent >> signal & 1 == 1);
        let mut missing: Vec<_> = missing
            .map(|signal| MissingSignal {
                signal,
                name: signal_name_at(image, signal, it.yielded_at),
                sources: self.sources_in_flight(me, context, signal),
            })
            .collect();
        // Sources in flight are the answer. Only if there are none are the programs searched: first
        // for what is likely given what has been seen in the run, then for what is merely possible.
        for outlook in [Outlook::AtRest, Outlook::MayContinue] {
            let open = missing.iter().filter(|it| !it.may_arrive());
            let open = open.fold(0, |all, it| all | 1 << it.signal);
            if open == 0 {
                break;
            }
            let senders = self.senders(outlook).to(me, context, open);
            for it in missing.iter_mut().filter(|it| open >> it.signal & 1 == 1) {
                let sends = |sender: &&SignalSender| sender.signals >> it.signal & 1 == 1;
                it.sources = { senders.iter() }
                    .filter(sends)
                    .copied()
                    .map(SignalOrigin::Sender)
                    .collect();
            }
        }
        Asleep {
            since: it.since,
            at: it.yielded_at,
            any: it.any,
            received: it.wakeup & it.signals & !1,
            missing,
        }
    }

    /// The sources in flight of a signal of a context.
    fn sources_in_flight(&self, me: u8, context: u8, signal: u8) -> Vec<SignalOrigin> {
        let mut sources = Vec::new();
        for (due, event) in self.pending() {
            if let Event::Signal {
                me: to,
                context: thread,
                signal: number,
                by,
            } = event
                && (*to, *thread, *number) == (me, context, signal)
            {
                sources.push(SignalOrigin::OnTheWay {
                    due: *due,
                    by: by.place(),
                });
            }
        }
        let core = self.chip().microengines()[usize::from(me)].as_ref();
        let timer = core.probe().and_then(|it| it.timer(context));
        if let Some((_, due)) = timer.filter(|timer| timer.0 == signal) {
            sources.push(SignalOrigin::Timer { due });
        }
        let raising = self
            .flights()
            .iter()
            .filter(|it| it.raises(me, context, signal));
        sources.extend(raising.map(|it| SignalOrigin::Command(it.slot)));
        for listed in self.freelists() {
            let waiter = listed.waiter;
            if (waiter.me, waiter.context, waiter.signal) == (me, context, signal) {
                sources.push(SignalOrigin::Frame {
                    list: listed.list,
                    before: listed.before,
                });
            }
        }
        sources.extend(
            { self.flights().iter() }.filter_map(|it| self.writes_signal(it, me, context, signal)),
        );
        sources
    }

    /// The source, if a command in flight sends or may send the signal by writing it, or lists the
    /// context for a frame.
    fn writes_signal(
        &self,
        flight: &Flight,
        me: u8,
        context: u8,
        signal: u8,
    ) -> Option<SignalOrigin> {
        let command = &flight.command;
        // A command on its way back has already taken effect.
        let acted = matches!(flight.location, CommandLocation::Result { .. });
        if flight.raises(me, context, signal) || flight.unsolicited || acted {
            return None;
        }
        let profile = self.chip().profile();
        let pulled = flight.data.first().copied();
        match command.op.info().unit {
            Unit::Msf => may_join_freelist(command, pulled, (me, context, signal), profile)
                .then_some(SignalOrigin::PossibleCommand(flight.slot)),
            Unit::Cap if command.op == CommandOp::CapWrite => {
                if command.address != u32::from(cap_csr::INTERTHREAD_SIGNAL) {
                    return None;
                }
                let Some(data) = command.immediate.or(pulled) else {
                    return Some(SignalOrigin::PossibleCommand(flight.slot));
                };
                let to = profile.index_of((data >> 7 & 31) as u8);
                let means = (to, (data >> 4) as u8 % CONTEXTS, (data & 15) as u8);
                (means == (Some(me), context, signal)).then_some(SignalOrigin::Command(flight.slot))
            }
            _ => None,
        }
    }
}
