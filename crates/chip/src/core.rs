//! The interface between a chip and the cores that execute its microcode.
//!
//! The chip, its units and everything above them see a microengine as a [`Core`]: something that
//! takes turns, has registers that are pushed to and pulled from, and is woken by signals. Each
//! core lives in a crate of its own: `npsim-engine`, which runs ahead of the chip,
//! `npsim-reference`, which is written for readability, or any other. It implements the trait, and
//! [`Chip::new`](crate::chip::Chip::new) puts it on a chip.
//!
//! # Contract of a core
//!
//! - It takes its turns from [`Event::Microengine`], which it posts for itself. At most one such
//!   event of a core is pending at a time. A core that waits for a signal, or for room in its
//!   command FIFO, has none: [`Core::signal`] or the fabric posts it.
//! - Anything that reads or changes the state of others (a command, a signal, an input state, a
//!   ring) executes at a cycle when no event of an earlier cycle, and none of a lower rank at that
//!   cycle, is still to be handled: in an event of its own at this cycle, or ahead of the chip
//!   while [`EventQueue::next_time`](crate::kernel::event::EventQueue::next_time) lies after it.
//!   All such accesses are therefore ordered by cycle and index, however far a core runs ahead in
//!   between, and the others do not depend on which core it is. An operation that only posts an
//!   event for a later cycle, and whose place there does not depend on when it was posted (a timer,
//!   a signal of a microengine), may execute earlier.
//! - It executes nothing at or after [`Fabric::horizon`]. A horizon one cycle
//!   after [`Core::local_time`] is a single step.
//! - Equal calls give equal states. A core never reads the host's time, and its state is what
//!   [`Core::save`] writes.

mod loaded;
mod probe;
mod report;
mod stats;

use std::fmt;

use npsim_isa::{ContextSet, Operand};
use serde::{Deserialize, Serialize};

pub use loaded::{DecodedWord, Program, ProgramError};
pub use probe::{CoreProbe, DeferSlots, IndexName, IndexWrite, TransferOwner};
pub use report::{WaitInfo, signal_name_at};
pub use stats::{ContextTimes, MeStats, ahead};

use crate::Cycle;
#[cfg(doc)]
use crate::kernel::event::Event;
use crate::kernel::fabric::{CommandId, Fabric, TransferKind};
use crate::kernel::fault_injection::Stall;
use crate::kernel::remote_access::RemoteAccess;
use crate::kernel::saved_memory::StateError;
use crate::kernel::snapshot::{SnapshotError, StateReader, StateVector};
use crate::kernel::trace_event::ContextState;
use npsim_profile::Profile;

/// A kind of core: its name and its constructor.
#[derive(Clone, Copy)]
pub struct CoreKind {
    /// The name, which is also part of a saved state; no two kinds share one.
    pub name: &'static str,
    /// Creates an idle core without a program, given its index on the chip.
    pub make: fn(u8, &Profile) -> Box<dyn Core>,
}

impl PartialEq for CoreKind {
    fn eq(&self, other: &Self) -> bool {
        self.name == other.name
    }
}

impl Eq for CoreKind {}

impl fmt::Debug for CoreKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("CoreKind").field(&self.name).finish()
    }
}

/// The phase of a context as the arbiter sees it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ContextPhase {
    /// Not enabled.
    Inactive,
    /// Ready for the pipeline.
    Ready,
    /// Has the pipeline.
    Executing,
    /// Waits for signals.
    Sleeping,
}

/// The present state of a context.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextView {
    /// The phase of the context.
    pub phase: ContextPhase,
    /// The cycle at which the phase began.
    pub since: Cycle,
    /// Address of the current instruction, or of the one where the context resumes.
    pub pc: u16,
    /// Address of the instruction with which the context last yielded the pipeline.
    pub yielded_at: u16,
    /// Bit s: signal s has arrived and has not been consumed.
    pub signals: u16,
    /// Bit s: the context waits for signal s.
    pub wakeup: u16,
    /// Whether one of these signals is enough.
    pub any: bool,
}

impl ContextView {
    /// Address of the current instruction, or of the one with which the context went to sleep.
    #[must_use]
    pub fn place(&self) -> u16 {
        if self.phase == ContextPhase::Sleeping {
            self.yielded_at
        } else {
            self.pc
        }
    }

    /// The state as an observer sees it.
    #[must_use]
    #[inline]
    pub fn state(&self) -> ContextState {
        match self.phase {
            ContextPhase::Inactive => ContextState::Inactive,
            ContextPhase::Ready => ContextState::Ready,
            ContextPhase::Executing => ContextState::Executing,
            ContextPhase::Sleeping if self.any && self.wakeup == 0 => ContextState::Killed,
            ContextPhase::Sleeping => ContextState::Waiting {
                signals: self.wakeup,
                any: self.any,
            },
        }
    }
}

/// The body of [`Core::pushed`], instantiated for each kind of core.
#[inline(always)]
#[allow(clippy::inline_always)] // Instantiated once for each kind of core.
pub fn push_to(core: &mut (impl Core + ?Sized), slot: CommandId, fabric: &mut Fabric) {
    let flight = fabric.flight(slot);
    let command = &flight.command;
    let data = &flight.data[..usize::from(flight.words)];
    core.push(command.transfer_kind, command.transfer, data);
    let (context, signals) = (command.signal_context, command.push_signals);
    if signals != 0 {
        core.signal(context, signals, fabric);
    }
}

/// The body of [`Core::pulled`], instantiated for each kind of core.
#[inline(always)]
#[allow(clippy::inline_always)] // Instantiated once for each kind of core.
pub fn pull_from(core: &mut (impl Core + ?Sized), slot: CommandId, fabric: &mut Fabric) {
    let flight = fabric.flight_mut(slot);
    let command = &flight.command;
    let data = &mut flight.data[..usize::from(flight.words)];
    core.pull(command.transfer_kind, command.transfer, data);
    let (context, signals) = (command.signal_context, command.pull_signals);
    if signals != 0 {
        core.signal(context, signals, fabric);
    }
}

/// One microengine: eight contexts, their registers and local memory, and the arbiter that
/// schedules them on the pipeline.
///
/// Contexts are numbered 0 to 7 (higher numbers are taken modulo 8), absolute registers 0 to 127.
pub trait Core: fmt::Debug + Send + Sync {
    /// The kind of this core.
    fn kind(&self) -> CoreKind;

    /// A copy of the core in its present state.
    fn boxed_clone(&self) -> Box<dyn Core>;

    /// The index on the chip.
    fn index(&self) -> u8;

    /// Loads a program with its initial register values.
    fn load(&mut self, program: Program);

    /// The loaded program.
    fn program(&self) -> &Program;

    /// Enables contexts at address 0 and lets the arbiter choose among them. In four-context mode
    /// the odd ones stay inactive.
    fn start(&mut self, contexts: ContextSet, fabric: &mut Fabric);

    /// Sets the initial value of `PSEUDO_RANDOM_NUMBER` before the start. The register would never
    /// leave 0, so 1 is used instead.
    fn seed_random(&mut self, value: u32);

    /// Takes the turn given by [`Event::Microengine`]. While the fabric's trace buffer is open,
    /// every instruction and every change of a context is recorded there.
    fn run(&mut self, fabric: &mut Fabric);

    /// Takes the turn while the trace buffer is closed.
    fn run_unobserved(&mut self, fabric: &mut Fabric) {
        self.run(fabric);
    }

    /// Delivers signals to a context: bit s of `mask` is signal s.
    fn signal(&mut self, context: u8, mask: u16, fabric: &mut Fabric);

    /// Handles the event of a future count, which is stale if the timer has been set again.
    fn timer(&mut self, context: u8, fabric: &mut Fabric);

    /// Writes a word to the next-neighbour registers, as a put to the ring or to a single register.
    fn nn_put(&mut self, index: u8, value: u32, ring: bool, fabric: &mut Fabric);

    /// Writes data to IN registers, starting at an absolute register, and ends a unit's claim to
    /// them.
    fn push(&mut self, kind: TransferKind, register: u8, words: &[u32]);

    /// Reads data from OUT registers, starting at an absolute register, and ends a unit's claim to
    /// them.
    fn pull(&mut self, kind: TransferKind, register: u8, out: &mut [u32]);

    /// Delivers a command's data to its IN registers and its signals to its context.
    fn pushed(&mut self, slot: CommandId, fabric: &mut Fabric) {
        push_to(self, slot, fabric);
    }

    /// Takes a command's data from its OUT registers and delivers signals to its context.
    fn pulled(&mut self, slot: CommandId, fabric: &mut Fabric) {
        pull_from(self, slot, fabric);
    }

    /// Hands IN registers over to a unit that will push to them without a command.
    fn claim_in_registers(&mut self, kind: TransferKind, register: u8, words: u8);

    /// Declares, from the start on, the transfer registers that others may access without a command
    /// of this core. A core that executes ahead of the chip waits for the chip to catch up before
    /// it uses them, so that an instruction sees the changes that others make.
    fn expose(&mut self, exposed: RemoteAccess);

    /// Stalls a context for a time. Returns false if the microengine does not run this context.
    fn stall(&mut self, stall: Stall) -> bool;

    /// The requested stalls.
    fn stalls(&self) -> &[Stall];

    /// Handles the end of a stall of a context.
    fn stall_over(&mut self, fabric: &mut Fabric);

    /// The local time of the core: all instructions before this cycle have executed.
    fn local_time(&self) -> Cycle;

    /// Counts of all cycles from the start up to but excluding `now`, even if the core has run
    /// further. [`MeStats::total`], its parts and the times of contexts are exact. `now` is not
    /// before the last event that was handled.
    fn stats_at(&self, now: Cycle) -> MeStats;

    /// Declares that no [counts](Self::stats_at) of a cycle before this one will be requested any
    /// more. It is called when a run comes to rest, so that the data a core keeps for cutting its
    /// counts does not depend on how the run was divided.
    fn forget_before(&mut self, now: Cycle) {
        let _ = now;
    }

    /// The present state of a context.
    fn context(&self, context: u8) -> ContextView;

    /// State beyond this trait, for debuggers and reports; `None` for a core that exposes none.
    fn probe(&self) -> Option<&dyn CoreProbe> {
        None
    }

    /// The context that has stopped the whole microengine with a breakpoint. The context is at that
    /// instruction, and has been since the cycle after it.
    fn halted(&self) -> Option<u8> {
        None
    }

    /// Writes a register from outside: general-purpose, next-neighbour or IN transfer. Other
    /// operands are ignored.
    fn write_register(&mut self, register: Operand, context: u8, value: u32);

    /// Reads a register from outside: general-purpose, next-neighbour or IN transfer. Other
    /// operands read as 0.
    fn read_register(&self, register: Operand, context: u8) -> u32;

    /// Reads an OUT transfer register from outside, by its absolute number.
    fn read_out_register(&self, kind: TransferKind, register: u8) -> u32;

    /// Local memory.
    fn local_memory(&self) -> &[u32];

    /// Local memory, writable for a loader.
    fn local_memory_mut(&mut self) -> &mut [u32];

    /// The condition codes N, Z, V and C.
    fn condition_codes(&self) -> [bool; 4];

    /// Tag and state of a CAM entry, 0 to 15.
    fn cam_entry(&self, entry: u8) -> (u32, u8);

    /// CAM entries from the least to the most recently used.
    fn cam_order(&self) -> [u8; 16];

    /// The value of `CRC_REMAINDER`.
    fn crc_remainder(&self) -> u32;

    /// Serializes the core's state, except for the program, into bytes that only this kind of core
    /// can read.
    ///
    /// # Errors
    /// Returns an error if the encoder fails, which no state causes.
    fn save(&self) -> Result<Vec<u8>, StateError>;

    /// Creates a core with this one's program in a state written by [`Core::save`].
    ///
    /// # Errors
    /// Returns an error if the bytes are not such a state.
    fn restored(&self, state: &[u8]) -> Result<Box<dyn Core>, StateError>;

    /// A hash that is equal if the core's state recurs relative to `now`, and very rarely
    /// otherwise: a cheap hint that a comparison of [the whole state](Self::write_vector) may be
    /// worthwhile. `None` if time is never skipped with this kind of core.
    fn state_digest(&self, now: Cycle) -> Option<u64> {
        let _ = now;
        None
    }

    /// Appends the core's state to a vector that is compared with later ones
    /// ([`crate::kernel::snapshot`]).
    ///
    /// # Errors
    /// Returns an error if this kind of core does not support it.
    fn write_vector(&self, out: &mut StateVector) -> Result<(), SnapshotError> {
        let _ = out;
        Err(SnapshotError::unsupported())
    }

    /// Takes over a state from its vector; anything that [`Core::save`] omits stays.
    ///
    /// # Errors
    /// Returns an error if this kind of core does not support it, or if the vector holds no such
    /// state.
    fn read_vector(&mut self, vector: &mut StateReader<'_>) -> Result<(), SnapshotError> {
        let _ = vector;
        Err(SnapshotError::unsupported())
    }

    /// The state of a context, as
    /// [`TraceEvent::Context`](crate::kernel::trace_event::TraceEvent::Context) reports it, and the
    /// address of its next instruction if it executes, or else of the one with which it yielded the
    /// pipeline.
    #[inline]
    fn doing(&self, context: u8) -> (ContextState, u16) {
        let it = self.context(context);
        match it.state() {
            ContextState::Executing => (ContextState::Executing, it.pc),
            other => (other, it.yielded_at),
        }
    }

    /// What a sleeping context waits for; `None` if it does not sleep.
    fn waiting(&self, context: u8) -> Option<WaitInfo> {
        report::waiting(&self.context(context), self.program().image())
    }

    /// Describes what the active contexts do, with one line for all contexts that do the same at
    /// the same place.
    fn state_report(&self) -> Vec<String> {
        report::state_report(self)
    }
}

impl Clone for Box<dyn Core> {
    fn clone(&self) -> Self {
        self.boxed_clone()
    }
}
