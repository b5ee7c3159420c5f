//! The seam between a chip and whatever executes its microcode.
//!
//! The chip, its units and everything above them know a microengine as a
//! [`Core`]: something that gets turns, to which registers are pushed and from
//! which they are pulled, and that is woken by signals. A core comes from
//! a crate of its own: `npsim-engine`, which runs ahead of the chip, `npsim-reference`, which is
//! written to be read, or any other. It implements the trait, and
//! [`Chip::new`](crate::chip::Chip::new) puts it on a chip.
//!
//! # What a core promises
//!
//! - It gets its turns from [`Event::Microengine`], which it posts for itself.
//!   Only one such event of a core is pending at a time. One that waits for a
//!   signal, or for room in its command FIFO, has none: [`Core::signal`] posts it,
//!   or the fabric does.
//! - What reads or changes the state of others (a command, a signal, an input
//!   state, a ring) executes at a cycle when no event of an earlier cycle, and
//!   none of a lower rank at that cycle, is still to be handled: in an event of
//!   its own at this cycle, or ahead of the chip while
//!   [`EventQueue::next_time`](crate::kernel::event::EventQueue::next_time) lies
//!   after it. So the order of all such accesses is that of cycle and index,
//!   however far a core runs ahead in between, and it does not matter to the
//!   others which core it is. What only posts an event for a later cycle, whose
//!   place there does not depend on when it was posted (a timer, a signal of a
//!   microengine), may execute before that.
//! - It executes nothing at or after [`Fabric::horizon`]. A horizon one cycle
//!   after [`Core::local_time`] is a single step.
//! - The same calls give the same state. A core never asks for the host's time,
//!   and its state is what [`Core::save`] writes.

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

/// A kind of core: what it is called and how one is made.
#[derive(Clone, Copy)]
pub struct CoreKind {
    /// The name, which is also in a saved state; no two kinds share one.
    pub name: &'static str,
    /// Makes an idle core without a program, from its index on the chip.
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

/// What a context does, as far as the arbiter is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ContextPhase {
    /// Not enabled.
    Inactive,
    /// Wants the pipeline.
    Ready,
    /// Has it.
    Executing,
    /// Waits for signals.
    Sleeping,
}

/// One context as it stands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ContextView {
    /// What it does.
    pub phase: ContextPhase,
    /// When it began to.
    pub since: Cycle,
    /// Address at which it is or goes on.
    pub pc: u16,
    /// The instruction with which the context last yielded the pipeline.
    pub yielded_at: u16,
    /// Bit s: signal s has arrived and is not consumed.
    pub signals: u16,
    /// Bit s: signal s is waited for.
    pub wakeup: u16,
    /// One of them is enough.
    pub any: bool,
}

impl ContextView {
    /// The instruction at which it is, or with which it went to sleep.
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

/// What [`Core::pushed`] does: a whole function of each kind of core.
#[inline(always)]
#[allow(clippy::inline_always)] // It is a whole function of each kind of core.
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

/// What [`Core::pulled`] does: a whole function of each kind of core.
#[inline(always)]
#[allow(clippy::inline_always)] // It is a whole function of each kind of core.
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

/// One microengine: eight contexts, their registers and local memory, and the
/// arbiter that gives them the pipeline.
///
/// Contexts are numbers 0 to 7 (higher ones are taken modulo 8), absolute
/// registers 0 to 127.
pub trait Core: fmt::Debug + Send + Sync {
    /// What kind of core it is.
    fn kind(&self) -> CoreKind;

    /// A copy of the core in its present state.
    fn boxed_clone(&self) -> Box<dyn Core>;

    /// The index on the chip.
    fn index(&self) -> u8;

    /// Loads a program with its initial register values.
    fn load(&mut self, program: Program);

    /// The program that is loaded.
    fn program(&self) -> &Program;

    /// Enables contexts at address 0 and lets the arbiter choose among them. In four-context mode the odd ones stay inactive.
    fn start(&mut self, contexts: ContextSet, fabric: &mut Fabric);

    /// Gives `PSEUDO_RANDOM_NUMBER` a value before the start. The register would
    /// never leave 0, so 1 stands for it.
    fn seed_random(&mut self, value: u32);

    /// Takes the turn that [`Event::Microengine`] gives. While the fabric's trace buffer
    /// is open, every instruction and every change of a context is written there.
    fn run(&mut self, fabric: &mut Fabric);

    /// Takes the turn while the trace buffer is closed.
    fn run_unobserved(&mut self, fabric: &mut Fabric) {
        self.run(fabric);
    }

    /// Signals reach a context: bit s of `mask` is signal s.
    fn signal(&mut self, context: u8, mask: u16, fabric: &mut Fabric);

    /// A future count may have come: it has unless the timer was set again.
    fn timer(&mut self, context: u8, fabric: &mut Fabric);

    /// A word arrives in the next-neighbour registers, as a put to the ring or
    /// as a write of one register.
    fn nn_put(&mut self, index: u8, value: u32, ring: bool, fabric: &mut Fabric);

    /// Data reaches IN registers, from an absolute register on; a unit's claim
    /// to them ends.
    fn push(&mut self, kind: TransferKind, register: u8, words: &[u32]);

    /// Takes OUT registers, from an absolute register on; a unit's claim to
    /// them ends.
    fn pull(&mut self, kind: TransferKind, register: u8, out: &mut [u32]);

    /// The data and the signals of a command reach its IN registers and its context.
    fn pushed(&mut self, slot: CommandId, fabric: &mut Fabric) {
        push_to(self, slot, fabric);
    }

    /// The data of a command leaves its OUT registers, and signals reach its context.
    fn pulled(&mut self, slot: CommandId, fabric: &mut Fabric) {
        pull_from(self, slot, fabric);
    }

    /// Gives IN registers to a unit that will push to them without a command.
    fn claim_in(&mut self, kind: TransferKind, register: u8, words: u8);

    /// Others may reach these transfer registers without a command of this core's own, as of
    /// the start. A core that executes ahead of the chip waits for its present to use them, and
    /// an instruction that uses them reads what others change.
    fn expose(&mut self, exposed: RemoteAccess);

    /// Stalls a context for a while; false if the microengine does not run such
    /// a context.
    fn stall(&mut self, stall: Stall) -> bool;

    /// The stalls that were asked for.
    fn stalls(&self) -> &[Stall];

    /// A stall is over that held a context back.
    fn stall_over(&mut self, fabric: &mut Fabric);

    /// Local time: all instructions before this cycle are done.
    fn local_time(&self) -> Cycle;

    /// Counts of all cycles from the start until `now`, without it, although the core
    /// may have run further. They are exact in [`MeStats::total`] and its parts and in
    /// the times of contexts; `now` is not before the last event that was handled.
    fn stats_at(&self, now: Cycle) -> MeStats;

    /// No [counts](Self::stats_at) of a cycle before this one will be asked for any
    /// more. Called where a run comes to rest, so that what a core keeps to cut its
    /// counts does not depend on how the run was cut into parts.
    fn forget_before(&mut self, now: Cycle) {
        let _ = now;
    }

    /// A context as it stands.
    fn context(&self, context: u8) -> ContextView;

    /// State beyond this trait, for debuggers and reports; `None` for a core that
    /// shows none.
    fn probe(&self) -> Option<&dyn CoreProbe> {
        None
    }

    /// The context that has stopped the whole microengine with a breakpoint; it stands at
    /// that instruction, since the cycle behind it.
    fn halted(&self) -> Option<u8> {
        None
    }

    /// Writes a register from outside: general-purpose, next-neighbour, IN
    /// transfer. Other operands are left alone.
    fn write_register(&mut self, register: Operand, context: u8, value: u32);

    /// Reads a register from outside: general-purpose, next-neighbour, IN
    /// transfer. Other operands are 0.
    fn read_register(&self, register: Operand, context: u8) -> u32;

    /// Reads an OUT transfer register from outside, by its absolute number.
    fn read_out_register(&self, kind: TransferKind, register: u8) -> u32;

    /// Local memory.
    fn local_memory(&self) -> &[u32];

    /// Local memory, to be written by a loader.
    fn local_memory_mut(&mut self) -> &mut [u32];

    /// Condition codes N, Z, V, C.
    fn condition_codes(&self) -> [bool; 4];

    /// Tag and state of a CAM entry, 0-15.
    fn cam_entry(&self, entry: u8) -> (u32, u8);

    /// CAM entries from the least to the most recently used.
    fn cam_order(&self) -> [u8; 16];

    /// `CRC_REMAINDER`
    fn crc_remainder(&self) -> u32;

    /// Everything that the past has left in it, but for the program, as bytes that
    /// mean something to this kind only.
    ///
    /// # Errors
    /// The encoder refuses, which no state makes it do.
    fn save(&self) -> Result<Vec<u8>, StateError>;

    /// A core with this one's program in a state that [`Core::save`] has written.
    ///
    /// # Errors
    /// The bytes are no such state.
    fn restored(&self, state: &[u8]) -> Result<Box<dyn Core>, StateError>;

    /// A number that is the same when the core stands as it did before, relative to
    /// `now`, and hardly ever otherwise: a cheap indication of when a comparison of
    /// [the whole state](Self::write_vector) may be worth while. `None` if time is
    /// never skipped with this kind of core.
    fn state_digest(&self, now: Cycle) -> Option<u64> {
        let _ = now;
        None
    }

    /// Adds its state to a vector that is compared with later ones
    /// ([`crate::kernel::snapshot`]).
    ///
    /// # Errors
    /// Its kind cannot.
    fn write_vector(&self, out: &mut StateVector) -> Result<(), SnapshotError> {
        let _ = out;
        Err(SnapshotError::unsupported())
    }

    /// Takes over a state from its vector; what [`Core::save`] leaves out stays.
    ///
    /// # Errors
    /// Its kind cannot, or the vector holds no such state.
    fn read_vector(&mut self, vector: &mut StateReader<'_>) -> Result<(), SnapshotError> {
        let _ = vector;
        Err(SnapshotError::unsupported())
    }

    /// What a context does, as
    /// [`TraceEvent::Context`](crate::kernel::trace_event::TraceEvent::Context) reports
    /// it, and the next instruction when it executes, else the one with which it
    /// yielded the pipeline.
    #[inline]
    fn doing(&self, context: u8) -> (ContextState, u16) {
        let it = self.context(context);
        match it.state() {
            ContextState::Executing => (ContextState::Executing, it.pc),
            other => (other, it.yielded_at),
        }
    }

    /// What a sleeping context waits for; `None` when it does not sleep.
    fn waiting(&self, context: u8) -> Option<WaitInfo> {
        report::waiting(&self.context(context), self.program().image())
    }

    /// What the contexts do that are not inactive, one line for those that do
    /// the same at the same place.
    fn state_report(&self) -> Vec<String> {
        report::state_report(self)
    }
}

impl Clone for Box<dyn Core> {
    fn clone(&self) -> Self {
        self.boxed_clone()
    }
}
