//! The engine: a core that runs ahead of the chip until it has to synchronise with it.
//!
//! Instructions are predecoded at load into dense operations (`operation`, `predecode_instruction`,
//! `predecoded_program`) and bound to the registers of each context that runs them
//! (`bound_program`). A turn (`turn`) executes them in the dispatch loop (`dispatch`) on the
//! microengine's own time. One table (`uop`) defines all operations; the handler of an operation in
//! the loop depends on its surroundings in the basic block (`block`).
//!
//! An instruction that reads what others write, or affects them, is a synchronisation point
//! (`synchronise`): it executes only when no event of the chip is due before it, so all
//! synchronisation points of all microengines execute in one order. Writes that only post an event
//! (`posted_writes`) for a later cycle need not wait.
//!
//! The first execution of an operation by a context takes the slow path (`slow_path`), which makes
//! every check and records initialised registers; so does any operation that always needs more than
//! the loop provides. Registers that a unit is about to fill or read are reserved on the scoreboard
//! (`scoreboard`). A template (`template`) holds everything about a command except its address.

// Marked functions are the body of a single caller, part of moving data, or take a constant kind,
// for which all but one match arm disappear. The benefit of each mark has not been measured
// individually.
#![allow(clippy::inline_always)]

mod aborted_slots;
mod arbiter;
mod block;
mod bound_program;
mod cam;
mod commands;
mod context;
mod control;
mod core_impl;
mod crc;
mod csr_order;
mod datapath;
mod decoder;
mod dispatch;
mod fault;
mod functions;
mod local_csr;
mod local_memory;
mod loop_exits;
mod microengine;
mod next_neighbour;
mod operands;
mod operation;
mod pending_sync;
mod posted_writes;
mod predecode_instruction;
mod predecoded_program;
mod probe;
mod random;
mod registers;
mod scoreboard;
mod slow_path;
mod stalls;
mod synchronise;
mod template;
#[cfg(test)]
mod tests;
mod timers;
mod timing;
mod turn;
mod unary;
mod uop;
mod watchdog;

use npsim_chip::core::CoreKind;

pub use microengine::Microengine;

/// The engine, for [`Chip::new`](npsim_chip::chip::Chip::new).
pub const ENGINE: CoreKind = CoreKind {
    name: "engine",
    make: |index, profile| Box::new(Microengine::new(index, profile)),
};
