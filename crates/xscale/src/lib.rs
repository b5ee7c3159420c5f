//! The general-purpose core as a processor: an XScale that runs a program from an ELF file alongside the
//! microengines.
//!
//! The [`Processor`] is one more task of the core (`npsim_chip::gpp`). `npsim-arm` executes its instructions; this
//! crate provides what surrounds them: the [memory map](map), caches as a timing model, interrupt controller,
//! timers, UART, and checks for mistakes that silicon lets pass. [`with_program`] adds the section `[gpp.program]`
//! to project files.
//!
//! A job of the task runs instructions up to the next access beyond the program's cached memory, or for a quantum,
//! all in one cycle of the chip; the access itself begins the next job, and so takes effect at its own cycle, at
//! the costs that the core's other tasks pay. A program that waits for an interrupt, or repeats a loop in which
//! nothing changes, sleeps and costs the simulation nothing.

mod architecture;
mod board;
mod cache;
mod calls;
mod clocks;
mod debug_work;
mod devices;
mod elf;
mod frame;
mod imports;
pub mod interrupts;
mod job;
mod keys;
mod lines;
pub mod map;
mod pipeline;
mod probe;
mod problem;
mod processor;
mod setup;
mod soundness;
pub mod timers;
pub mod uart;
mod watch;

pub use cache::{Cache, CacheMode};
pub use devices::Counts;
pub use elf::{ElfError, Import, Program, Segment, TableSymbol};
pub use frame::Frame;
pub use lines::{LineRow, Place};
pub use probe::{Probe, ProbeEvent, ProbeHit};
pub use processor::Processor;
pub use setup::{LoadedTable, Owner, Setup};

use npsim_project::Registry;

/// Adds the core's program, `[gpp.program]`, to a registry.
#[must_use]
pub fn with_program(registry: Registry) -> Registry {
    registry.with_task(keys::ProgramKind)
}
