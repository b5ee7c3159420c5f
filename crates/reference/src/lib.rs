//! The reference core: a microengine model written for readability.
//!
//! This core does the same as the engine (`npsim-engine`), at the same cycles, and shares no code
//! with it: words are decoded and executed one at a time, one instruction per event, each at its
//! own cycle; operands are looked up when used; condition codes are four flags; a branch considers
//! which instruction ran before it rather than which precedes it in memory. Any difference between
//! the two is a bug in one of them, which is the purpose of this core: `npsim run --core reference`
//! produces the same capture and the same counts, several times slower.
//!
//! Both cores perform the same checks, this one with shorter messages. Two things differ when a
//! fault ends a run: of several faults of one instruction, another may come first; and the counts
//! of microengines that did not fault are exact, whereas the engine, having run ahead of the fault,
//! estimates them.
//!
//! Where to find what: `turn` has the arbiter and the steps of one instruction, `perform` the
//! effects of an instruction and its successor, `operands` registers and local memory, `alu` and
//! `special` the arithmetic, `commands` the commands to the units, `csr` the local CSRs,
//! `neighbour` the next-neighbour registers, `account` the accounting of time, and `core_impl` the
//! chip's view of all this.

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
    /// Longwords of local memory that the current instruction accesses, with true for a write.
    accesses: Vec<(u16, bool)>,
}

/// The post-modifications that the current instruction's operands apply at its end.
#[derive(Clone, Copy, Debug, Default)]
struct Steps {
    pointers: [i32; 2],
    transfer_index: i32,
    ring: bool,
}

/// The reason why an instruction does not execute now.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Stop {
    /// The command FIFO is full; the instruction is retried when there is room.
    Held,
    /// A fault was raised.
    Fault,
}

impl Reference {
    /// Creates an idle microengine without a program.
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
