//! The engine: a core that runs ahead of the chip until it has to synchronise with it.
//!
//! Instructions are predecoded at load into dense operations (`operation`, `predecode_instruction`,
//! `predecoded_program`) and bound to the registers of each context that runs them (`bound_program`). A turn
//! (`turn`) executes them in the dispatch loop (`dispatch`) on the microengine's own time.
//! What an operation is stands in one table (`uop`); which handler it has in the loop depends on
//! what is around it in its basic block (`block`).
//!
//! What reads what others write, or reaches them, is a synchronisation point (`synchronise`): it
//! executes only when no event of the chip is due before it, so all synchronisation points of all
//! microengines execute in one order. Writes that only post an event (`posted_writes`) for a later
//! cycle need not wait.
//!
//! The first execution of an operation by a context takes the slow path (`slow_path`), which makes
//! every check and records what is initialised; so does each that always needs more than the loop
//! has. Registers that a unit is about to fill or to empty are reserved on the
//! scoreboard (`scoreboard`). What is known of a command before its address is a
//! template (`template`).

// What is marked is the body of one caller, a part of moving data, or is given a constant kind of
// which all but one arm disappear. Which of the marks pay has not been measured one by one.
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
