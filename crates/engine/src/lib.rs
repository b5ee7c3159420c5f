//! The microengine: an interpreter of decoded instructions that runs ahead of
//! the rest of the chip until it must poll it.
//!
//! Pure operations (`datapath`) run in a loop on the microengine's own
//! time. Whatever reads what others write, or reaches them, is a poll: it
//! executes only when no event of the chip is due before it, so all polls of
//! all microengines happen in one order. An operation's first execution by a
//! context takes the attentive path, which checks and records what is
//! initialised; then the interpreter's loop has it, unless it needs attention always
//! (indexed transfer registers): `attention` finds out. A `lane` is the
//! program as one context runs it; `interpreter` is the loop that executes it, whose quick
//! forms (`form`) leave out what nobody reads, and which keeps account of time by the `line`
//! of code; an `action` is what it does at an address; what that loop leaves a line for stands in `aside`; a `template` is what is known of a command.

mod action;
mod ahead;
mod aside;
mod attend;
mod cam;
mod claims;
mod commands;
mod context;
mod control;
mod crc;
mod csr_order;
mod datapath;
mod fault;
mod form;
mod inside;
mod interpreter;
mod lane;
mod line;
mod local_csr;
mod local_memory;
mod next_neighbour;
mod operation;
mod predecode;
mod predecoded;
mod random;
mod registers;
mod seam;
mod sender;
mod stall;
mod template;
#[cfg(test)]
mod tests;
mod timers;
mod timing;
mod turn;
mod unary;
mod watchdog;

use npsim_image::ContextMode;
use npsim_isa::Operand;
use serde::{Deserialize, Serialize};

use ahead::Thrown;
use claims::Claims;
use context::Contexts;
use datapath::Datapath;
use interpreter::Poll;
use lane::Lane;
use line::Line;
use local_memory::LocalMemory;
use npsim_chip::Cycle;
use npsim_chip::core::{ContextPhase, CoreKind, MeStats, Program};
use npsim_chip::kernel::event::Event;
use npsim_chip::kernel::fabric::Fabric;
use npsim_chip::kernel::snapshot::stamp;
use npsim_chip::profile::Profile;
use predecoded::Predecoded;
use registers::{Initialised, RELATIVE, resolve};
use stall::Stalls;
use timing::Timing;

/// What the microengine does when it gets its turn.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum Phase {
    /// No context is ready; a signal posts the next turn.
    Idle,
    /// The arbiter takes the next ready context.
    Pick,
    /// A context executes.
    Run,
    /// The context has given up the pipeline in the previous cycle.
    Swap,
    /// The fabric tells when the command FIFO has room.
    Held,
    /// A breakpoint stopped it.
    Halted,
}

/// Why the interpreter left its loop.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Flow {
    Continue,
    /// To go on when the chip has come to its cycle.
    Post,
    /// The context gives up the pipeline.
    Swap,
    /// The turn is over: the next one is posted, or none is to be.
    Over,
    /// The command FIFO is full.
    Held,
    /// A fault stands.
    Stop,
    /// A breakpoint.
    Halt,
}

/// What follows the last defer slot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
enum After {
    Jump(u16),
    /// The context resumes here, or after the slots.
    Swap(Option<u16>),
}

/// Reasons for the slow path.
mod slow {
    /// Defer slots are being executed.
    pub const DEFER: u8 = 1;
    /// The next `immed` gets a local CSR's value.
    pub const CSR: u8 = 2;
    /// `CC_ENABLE` keeps the condition codes as they are.
    pub const CODES_OFF: u8 = 4;
    /// Writes of index registers are on their way.
    pub const PENDING: u8 = 8;
}

/// The engine, for [`Chip::new`](npsim_chip::chip::Chip::new).
pub const ENGINE: CoreKind = CoreKind {
    name: "engine",
    make: |index, profile| Box::new(Microengine::new(index, profile)),
};

/// One microengine.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Microengine {
    index: u8,
    number: u8,
    timing: Timing,
    /// Loaded again from its image when a state is restored.
    #[serde(skip, default = "Predecoded::absent")]
    program: Predecoded,
    /// The program of each context, once the context runs.
    #[serde(skip)]
    lanes: Box<[Lane; 8]>,
    datapath: Datapath,
    memory: LocalMemory,
    initialised: Initialised,
    claims: Claims,
    contexts: Contexts,
    /// Bit c: context c is enabled.
    enabled: u8,
    mode: ContextMode,
    /// Bits of `CTX_ENABLES` that only hold their value.
    other_enables: u32,
    nn_self: bool,
    nn_empty_threshold: u8,
    csr_pointer: u8,
    /// Local CSRs without an effect here, by longword.
    #[serde(with = "serde_big_array::BigArray")]
    held_csrs: [u32; 128],
    random: u32,
    random_set: Cycle,
    random_free_running: bool,
    timestamp: u64,
    timestamp_set: Cycle,
    profile_count: u32,

    phase: Phase,
    /// Local time: the cycle of the next instruction.
    cycle: Cycle,
    pc: u16,
    slow: u8,
    defer_left: u8,
    after: After,
    /// The instruction whose defer slots are being executed.
    deferred_by: u16,
    /// Slots that are thrown away after the defer slots.
    after_penalty: Cycle,
    #[serde(with = "stamp::datapath")]
    csr_value: u32,
    line: Line,
    last: u8,
    pick_latency: Cycle,
    /// When the last refill after an idle time begins and ends.
    refilled: (Cycle, Cycle),
    /// The event's own cycle, at which looking is always in order. Each turn sets it.
    #[serde(skip)]
    entered: Cycle,
    /// How far turns go, until one comes near it: how a run is cut into turns is no state of
    /// the chip.
    #[serde(skip)]
    limit: Cycle,
    /// Before this cycle the limit is farther away than the program is long; 0 lets the next
    /// turn set both.
    #[serde(skip)]
    calm: Cycle,
    /// The poll that the next turn begins with, where it is known. It follows from the program.
    #[serde(skip)]
    refused: Option<Poll>,
    /// Saved on its own.
    #[serde(skip)]
    thrown: Thrown,
    running: bool,
    /// The cycle at which the running context has had the pipeline for too long without
    /// looking at anything that others change; none while nobody has it.
    bark: Cycle,
    /// When which context hangs, if the user wants that.
    stalls: Stalls,
    stats: MeStats,
}

impl Microengine {
    /// An idle microengine without a program.
    #[must_use]
    pub fn new(index: u8, profile: &Profile) -> Self {
        let timing = Timing::new(profile);
        let program = Predecoded::new(Program::empty(), timing);
        Self {
            index,
            number: profile.number_of(index),
            timing,
            program,
            lanes: Box::default(),
            datapath: Datapath::new(),
            memory: LocalMemory::new(timing.local_memory_words),
            initialised: Initialised::new(),
            claims: Claims::default(),
            contexts: Contexts::new(),
            enabled: 0,
            mode: ContextMode::Eight,
            other_enables: 0,
            nn_self: false,
            nn_empty_threshold: 0,
            csr_pointer: 0,
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
            after: After::Jump(0),
            deferred_by: 0,
            after_penalty: 0,
            csr_value: 0,
            line: Line::default(),
            last: 7,
            pick_latency: 0,
            refilled: (0, 0),
            refused: None,
            thrown: Thrown::default(),
            entered: 0,
            limit: 0,
            calm: 0,
            running: false,
            bark: Cycle::MAX,
            stalls: Stalls::none(),
            stats: MeStats::default(),
        }
    }

    /// The program of the running context.
    fn lane(&self) -> &Lane {
        &self.lanes[self.datapath.context as usize & 7]
    }

    /// Resolves the program for the running context if that is not done yet.
    #[inline]
    fn open_lane(&mut self) {
        if self.lane().is_empty() {
            self.make_lane();
        }
    }

    #[cold]
    #[inline(never)]
    fn make_lane(&mut self) {
        let lane = Lane::new(&self.program, (self.index, self.datapath.context));
        self.lanes[self.datapath.context as usize & 7] = lane;
    }

    fn usable(&self, contexts: u8) -> u8 {
        match self.mode {
            ContextMode::Four => contexts & 0x55,
            ContextMode::Eight => contexts,
        }
    }

    /// Posts the arbiter's turn.
    #[inline]
    fn wake(&mut self, latency: Cycle, fabric: &mut Fabric) {
        self.phase = Phase::Pick;
        self.pick_latency = latency;
        fabric
            .events
            .post(fabric.now, Event::Microengine(self.index));
    }

    /// What happens rarely is at the end of a function, here and below, so that nothing need
    /// be kept beyond a call.
    #[inline]
    fn raise(&mut self, context: u8, mask: u16, fabric: &mut Fabric) {
        let it = &mut self.contexts[context];
        if it.signals & mask & !1 != 0 {
            return self.raise_again(context & 7, mask, fabric);
        }
        it.signals |= mask;
        self.reconsider(context & 7, fabric);
    }

    /// Raises signals of which at least one has not been consumed yet.
    #[cold]
    #[inline(never)]
    fn raise_again(&mut self, context: u8, mask: u16, fabric: &mut Fabric) {
        let again = self.contexts[context].signals & mask & !1;
        self.raised_twice(context, again, fabric);
        self.contexts[context].signals |= mask;
        self.reconsider(context, fabric);
    }

    /// A sleeping context whose condition holds becomes ready.
    #[inline]
    fn reconsider(&mut self, context: u8, fabric: &mut Fabric) {
        let it = &self.contexts[context];
        if it.state() == ContextPhase::Sleeping && it.satisfied() {
            self.contexts
                .enter(context, ContextPhase::Ready, fabric.now);
            if fabric.journal.is_open() {
                return self.ready_in_sight(context, fabric);
            }
            if self.phase == Phase::Idle {
                self.wake(self.timing.wake, fabric);
            }
        }
    }

    /// A context has become ready while somebody watches.
    #[cold]
    #[inline(never)]
    fn ready_in_sight(&mut self, context: u8, fabric: &mut Fabric) {
        self.write_context(context, fabric);
        if self.phase == Phase::Idle {
            self.wake(self.timing.wake, fabric);
        }
    }

    /// Writes a context's new state down for whoever watches.
    #[inline]
    fn journal_context(&self, context: u8, fabric: &mut Fabric) {
        if fabric.journal.is_open() {
            self.write_context(context, fabric);
        }
    }

    #[cold]
    #[inline(never)]
    fn write_context(&self, context: u8, fabric: &mut Fabric) {
        let (at, what) = self.context_change(context);
        fabric.journal.put(at, what);
    }

    /// The slot an operand names for a context; `incoming`: the IN register.
    fn slot_of(&self, operand: Operand, context: u8, incoming: bool) -> Option<usize> {
        let limit = if self.mode == ContextMode::Four {
            32
        } else {
            16
        };
        let slot = if incoming {
            registers::source_slot(operand, limit)
        } else {
            registers::destination_slot(operand, limit)
        }?;
        (slot & !RELATIVE < registers::CONSTANT).then(|| resolve(slot, u16::from(context & 7) * 16))
    }
}
