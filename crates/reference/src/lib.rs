//! The reference core: a microengine that is written to be read.
//!
//! This core does what the engine (`npsim-engine`) does, at the same cycles, and shares no code with
//! it: words are decoded and executed one at a time, one instruction an event, each at its own cycle;
//! operands are looked up when they are used; condition codes are four flags; a branch asks which
//! instruction ran before it instead of which stands before it. A difference between the two is a
//! mistake in one of them, which is the purpose of this core: `npsim run --core reference` gives the
//! same capture and the same counts, several times slower.
//! same capture and the same counts, several times slower.
//!
//! Both cores raise the same checks; here with the shorter messages. Two things differ when a fault
//! ends a run: of several faults of one instruction another may come first, and the counts of
//! microengines that did not fault are exact, where the engine, which has run ahead of the fault,
//! estimates them.
//!
//! Where to read what: `turn` has the arbiter and the course of one instruction,
//! `perform` what an instruction does and leads to, `operands` registers and local
//! memory, `alu` and `special` the arithmetic, `commands` what goes to the units,
//! `csr` the local CSRs, `neighbour` the next-neighbour registers, `account` where
//! the time went, and `core_impl` how a chip sees all this.

mod account;
mod alu;
mod checks;
mod commands;
mod context;
mod core_impl;
mod csr;
mod neighbour;
mod operands;
mod perform;
mod special;
mod state;
mod turn;

use npsim_chip::core::{CoreKind, Program};
use npsim_profile::Profile;

use state::MicroengineState;

/// The reference core, for [`Chip::new`](npsim_chip::chip::Chip::new).
pub const REFERENCE: CoreKind = CoreKind {
    name: "reference",
    make: |index, profile| Box::new(Reference::new(index, profile)),
};

/// One microengine.
#[derive(Clone, Debug)]
pub struct Reference {
    index: u8,
    program: Program,
    state: MicroengineState,
    steps: Steps,
    /// Longwords of local memory that the present instruction reads and writes.
    accesses: Vec<(u16, bool)>,
}

/// What the operands of the present instruction move when it is done.
#[derive(Clone, Copy, Debug, Default)]
struct Steps {
    pointers: [i32; 2],
    transfer_index: i32,
    ring: bool,
}

/// Why an instruction does not execute now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    /// The command FIFO is full: it is tried again when there is room.
    Held,
    /// A fault stands.
    Fault,
}

impl Reference {
    /// An idle microengine without a program.
    #[must_use]
    pub fn new(index: u8, profile: &Profile) -> Self {
        Self {
            index,
            program: Program::empty(),
            state: MicroengineState::new(profile.local_memory_words().into()),
            steps: Steps::default(),
            accesses: Vec::new(),
        }
    }
}
