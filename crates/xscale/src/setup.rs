//! What a program is loaded with, which does not change while it runs.

use std::ops::Range;

use npsim_chip::Cycle;
use npsim_chip::gpp::boot::{ExceptionsSetup, of_router};

use crate::cache::CacheMode;
use crate::elf::Program;

/// A program with all that the project says of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// The name of the file, for people.
    pub name: String,
    /// The folder of the file: names of sources in it are relative to that.
    pub folder: String,
    /// The program.
    pub program: Program,
    /// A number that another file, or other settings, would hardly have.
    pub identity: u64,
    /// How the program's own memory is reached.
    pub cache: CacheMode,
    /// Rings of which the program may use none, one bit each.
    pub foreign_rings: u16,
    /// The exceptions that it takes in place of the task.
    pub exceptions: Option<ExceptionsSetup>,
    /// The ring by which packets of the core leave.
    pub core_ring: Option<u8>,
    /// What the UART receives.
    pub input: Vec<(Cycle, u8)>,
    /// Longwords that get values of the project.
    pub imports: Vec<(u32, u32)>,
    /// Tables: the address, and the records as longwords of each router of a chain, or of all.
    pub tables: Vec<LoadedTable>,
    /// Functions that run when something is divided by zero.
    pub division: Vec<u32>,
    /// Memory that the project lays out in DRAM, which the program shares with others, in rising order.
    pub shared: Vec<Range<u32>>,
}

/// A table of a program as it is loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedTable {
    /// Where its count stands, with the records behind.
    pub address: u32,
    /// Longwords of a record.
    pub record: u32,
    /// The records of one router for all, or of each.
    pub routers: Vec<Vec<u32>>,
}

impl LoadedTable {
    /// Count and records of the router at a place of a chain.
    #[must_use]
    pub fn words(&self, node: usize) -> Vec<u32> {
        let records = of_router(&self.routers, node).map_or(&[][..], Vec::as_slice);
        let mut words = vec![records.len() as u32 / self.record.max(1)];
        words.extend(records);
        words
    }
}

/// Whose a piece of DRAM is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The program's, as its file says.
    Program,
    /// The project's: buffers and other memory that microengines reach too.
    Shared,
    /// That of none: what the program writes there is its own.
    Free,
}

impl Setup {
    /// Whose the longword at an address of DRAM is.
    #[must_use]
    pub fn owner(&self, address: u32) -> Owner {
        let within = |range: &Range<u32>| range.contains(&address);
        let mut own = self.program.memory.iter().chain(self.program.stacks());
        if own.any(within) {
            Owner::Program
        } else if self.shared.iter().any(within) {
            Owner::Shared
        } else {
            Owner::Free
        }
    }

    /// Whether the program may use a scratch ring.
    #[must_use]
    pub const fn has_ring(&self, ring: u8) -> bool {
        self.foreign_rings >> ring & 1 == 0
    }
}
