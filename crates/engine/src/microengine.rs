//! The state of a microengine, and the waking of its contexts.

use npsim_chip::Cycle;
use npsim_chip::core::{ContextPhase, MeStats, Program};
use npsim_chip::kernel::event::Event;
use npsim_chip::kernel::fabric::Fabric;
use npsim_chip::kernel::snapshot::stamp;
use npsim_image::ContextMode;
use npsim_isa::{CONTEXTS, Context, ContextSet, Operand};
use npsim_profile::Profile;
use serde::{Deserialize, Serialize};

use crate::aborted_slots::AbortedSlots;
use crate::block::BlockTiming;
use crate::bound_program::BoundProgram;
use crate::context::Contexts;
use crate::datapath::Datapath;
use crate::local_memory::LocalMemory;
use crate::pending_sync::SyncPoint;
use crate::predecoded_program::Predecoded;
use crate::registers::{self, Initialised, RELATIVE, resolve};
use crate::scoreboard::Scoreboard;
use crate::stalls::Stalls;
use crate::timing::Timing;

/// The action of a microengine's next turn.
///
/// ```text
/// Idle --signal--> Pick --a context is ready--> Run --yields--> Swap --a context is ready--> Run
///                   |                            |                |
///                   +--none is ready--> Idle     |                +--none is ready--> Idle
///                                                +--FIFO full--> Held --room--> Run
///                                                |
///                                                +--breakpoint--> Halted --Core::start--> Pick
/// ```
///
/// `Pick` is posted for the cycle of the signal: the arbiter chooses there, and the context runs
/// after the wake-up latency. `Swap` is posted for the last cycle of the context that yields, one
/// before the microengine's own: the ready contexts are determined as of that cycle, when the state
/// of others is final. A turn that need not wait for that swaps at once and never enters `Swap`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum Phase {
    /// No context is ready; a signal posts the next turn.
    Idle,
    /// The arbiter takes the next ready context.
    Pick,
    /// A context executes.
    Run,
    /// The context has yielded the pipeline in the previous cycle.
    Swap,
    /// The command FIFO is full; the fabric posts the turn when there is room.
    Held,
    /// A breakpoint stopped the microengine.
    Halted,
}

/// The reason for leaving the dispatch loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LoopExit {
    /// A single instruction needs the slow path, or the limit is near.
    Continue,
    /// The turn resumes when the chip has reached the microengine's cycle.
    Post,
    /// The context yields the pipeline.
    Swap,
    /// The turn is over: the next one is posted, or none is needed.
    Over,
    /// The command FIFO is full.
    Held,
    /// A fault was raised.
    Stop,
    /// A breakpoint was reached.
    Halt,
}

/// The control transfer after the last defer slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) enum DeferredTransfer {
    Jump(u16),
    /// The context resumes at this address, or after the slots.
    Swap(Option<u16>),
}

/// Reasons for the slow path.
pub(crate) mod slow {
    /// Defer slots are being executed.
    pub const DEFER: u8 = 1;
    /// The next `immed` receives a local CSR's value.
    pub const CSR: u8 = 2;
    /// `CC_ENABLE` prevents changes of the condition codes.
    pub const CODES_OFF: u8 = 4;
    /// Writes of index registers are in flight.
    pub const PENDING: u8 = 8;
}

/// One microengine.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Microengine {
    pub(crate) index: u8,
    pub(crate) number: u8,
    pub(crate) timing: Timing,
    /// Rebuilt from its image when a state is restored.
    #[serde(skip, default = "Predecoded::absent")]
    pub(crate) program: Predecoded,
    /// The program bound to each context that has run.
    #[serde(skip)]
    pub(crate) bound: Box<[BoundProgram; CONTEXTS as usize]>,
    pub(crate) datapath: Datapath,
    pub(crate) memory: LocalMemory,
    pub(crate) initialised: Initialised,
    pub(crate) scoreboard: Scoreboard,
    pub(crate) contexts: Contexts,
    pub(crate) enabled: ContextSet,
    pub(crate) mode: ContextMode,
    /// Bits of `CTX_ENABLES` that are stored without any effect.
    pub(crate) other_enables: u32,
    pub(crate) nn_self: bool,
    pub(crate) nn_empty_threshold: u8,
    pub(crate) csr_pointer: Context,
    /// Local CSRs without an effect in this model, by longword.
    #[serde(with = "serde_big_array::BigArray")]
    pub(crate) held_csrs: [u32; 128],
    pub(crate) random: u32,
    pub(crate) random_set: Cycle,
    pub(crate) random_free_running: bool,
    pub(crate) timestamp: u64,
    pub(crate) timestamp_set: Cycle,
    pub(crate) profile_count: u32,

    pub(crate) phase: Phase,
    /// Local time: the cycle of the next instruction.
    pub(crate) cycle: Cycle,
    pub(crate) pc: u16,
    pub(crate) slow: u8,
    pub(crate) defer_left: u8,
    pub(crate) after: DeferredTransfer,
    /// The instruction whose defer slots are being executed.
    pub(crate) deferred_by: u16,
    /// Slots that are aborted after the defer slots.
    pub(crate) after_penalty: Cycle,
    #[serde(with = "stamp::datapath")]
    pub(crate) csr_value: u32,
    pub(crate) block: BlockTiming,
    pub(crate) last: Context,
    pub(crate) pick_latency: Cycle,
    /// The cycles at which the last refill after an idle time begins and ends.
    pub(crate) refilled: (Cycle, Cycle),
    /// The cycle of the current turn's event, at which shared state may always be read. Set by each
    /// turn.
    #[serde(skip)]
    pub(crate) turn_start: Cycle,
    /// How far turns run before the limit is computed again. The division of a run into turns is
    /// not part of the chip's state.
    #[serde(skip)]
    pub(crate) run_until: Cycle,
    /// Before this cycle, the limit is farther away than the program's length; 0 makes the next
    /// turn compute both.
    #[serde(skip)]
    pub(crate) fast_until: Cycle,
    /// The synchronisation point with which the next turn begins, if known. Derived from the
    /// program.
    #[serde(skip)]
    pub(crate) pending_sync: Option<SyncPoint>,
    /// Saved separately.
    #[serde(skip)]
    pub(crate) aborted_slots: AbortedSlots,
    pub(crate) running: bool,
    /// The cycle at which the running context has had the pipeline for too long without polling
    /// shared state; `Cycle::MAX` while no context has it.
    pub(crate) watchdog_at: Cycle,
    /// The stalls of contexts injected by the user.
    pub(crate) stalls: Stalls,
    pub(crate) stats: MeStats,
}

impl Microengine {
    /// Creates an idle microengine without a program, all registers as after reset. `last` is the
    /// highest context, so that context 0 is picked first.
    #[must_use]
    pub fn new(index: u8, profile: &Profile) -> Self {
        let timing = Timing::new(profile);
        let program = Predecoded::new(Program::empty(), timing);
        Self {
            index,
            number: profile.number_of(index),
            timing,
            program,
            bound: Box::default(),
            datapath: Datapath::new(),
            memory: LocalMemory::new(timing.local_memory_words),
            initialised: Initialised::new(),
            scoreboard: Scoreboard::default(),
            contexts: Contexts::new(),
            enabled: ContextSet::EMPTY,
            mode: ContextMode::Eight,
            other_enables: 0,
            nn_self: false,
            nn_empty_threshold: 0,
            csr_pointer: Context::FIRST,
            held_csrs: [0; 128],
            random: 1,
            random_set: 0,
            random_free_running: false,
            timestamp: 0,
            timestamp_set: 0,
            profile_count: 0,
            phase: Phase::Idle,
            cycle: 0,
            pc: 0,
            slow: 0,
            defer_left: 0,
            after: DeferredTransfer::Jump(0),
            deferred_by: 0,
            after_penalty: 0,
            csr_value: 0,
            block: BlockTiming::default(),
            last: Context::LAST,
            pick_latency: 0,
            refilled: (0, 0),
            pending_sync: None,
            aborted_slots: AbortedSlots::default(),
            turn_start: 0,
            run_until: 0,
            fast_until: 0,
            running: false,
            watchdog_at: Cycle::MAX,
            stalls: Stalls::none(),
            stats: MeStats::default(),
        }
    }

    /// The program of the running context.
    pub(crate) fn bound_program(&self) -> &BoundProgram {
        &self.bound[self.datapath.context.index()]
    }

    /// Resolves the program for the running context, if not done yet.
    #[inline]
    pub(crate) fn bind(&mut self) {
        if self.bound_program().is_empty() {
            self.bind_new();
        }
    }

    #[cold]
    #[inline(never)]
    pub(crate) fn bind_new(&mut self) {
        let bound_program = BoundProgram::new(&self.program, (self.index, self.datapath.context));
        self.bound[self.datapath.context.index()] = bound_program;
    }

    pub(crate) fn usable(&self, contexts: ContextSet) -> ContextSet {
        contexts.intersection(self.mode.running())
    }

    /// Posts the arbiter's turn.
    #[inline]
    pub(crate) fn wake(&mut self, latency: Cycle, fabric: &mut Fabric) {
        self.phase = Phase::Pick;
        self.pick_latency = latency;
        fabric
            .events
            .post(fabric.now, Event::Microengine(self.index));
    }

    /// Raises signals of a context. Rare cases are tail calls, here and below, so that nothing has
    /// to be saved across a call.
    #[inline]
    pub(crate) fn raise(&mut self, context: Context, mask: u16, fabric: &mut Fabric) {
        let it = &mut self.contexts[context];
        if it.signals & mask & !1 != 0 {
            return self.raise_again(context, mask, fabric);
        }
        it.signals |= mask;
        self.reconsider(context, fabric);
    }

    /// Raises signals of which at least one has not been consumed yet.
    #[cold]
    #[inline(never)]
    pub(crate) fn raise_again(&mut self, context: Context, mask: u16, fabric: &mut Fabric) {
        let again = self.contexts[context].signals & mask & !1;
        self.raised_twice(context, again, fabric);
        self.contexts[context].signals |= mask;
        self.reconsider(context, fabric);
    }

    /// Makes a sleeping context ready if its condition holds.
    #[inline]
    pub(crate) fn reconsider(&mut self, context: Context, fabric: &mut Fabric) {
        let it = &self.contexts[context];
        if it.state() == ContextPhase::Sleeping && it.satisfied() {
            self.contexts
                .enter(context, ContextPhase::Ready, fabric.now);
            if fabric.trace.is_open() {
                return self.ready_observed(context, fabric);
            }
            if self.phase == Phase::Idle {
                self.wake(self.timing.wake, fabric);
            }
        }
    }

    /// Handles a context that has become ready in an observed run.
    #[cold]
    #[inline(never)]
    pub(crate) fn ready_observed(&mut self, context: Context, fabric: &mut Fabric) {
        self.put_context(context, fabric);
        if self.phase == Phase::Idle {
            self.wake(self.timing.wake, fabric);
        }
    }

    /// Traces a context's new state if the run is observed.
    pub(crate) fn trace_context_if_open(&self, context: Context, fabric: &mut Fabric) {
        if fabric.trace.is_open() {
            self.put_context(context, fabric);
        }
    }

    /// The slot that an operand names for a context; `incoming` selects the IN register.
    pub(crate) fn slot_of(
        &self,
        operand: Operand,
        context: Context,
        incoming: bool,
    ) -> Option<usize> {
        let limit = self.mode.registers();
        let slot = if incoming {
            registers::source_slot(operand, limit)
        } else {
            registers::destination_slot(operand, limit)
        }?;
        (slot & !RELATIVE < registers::CONSTANT)
            .then(|| resolve(slot, u16::from(context.register_base())))
    }
}
