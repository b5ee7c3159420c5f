//! The setup of a program, which does not change while it runs.

use std::ops::Range;

use npsim_chip::Cycle;
use npsim_chip::gpp::boot::{ExceptionsSetup, of_router};

use crate::cache::CacheMode;
use crate::elf::Program;

/// A program with all its settings from the project.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Setup {
    /// The name of the file, for people.
    pub name: String,
    /// The folder of the file, to which names of sources in it are relative.
    pub folder: String,
    /// The program.
    pub program: Program,
    /// A number that is unlikely to be the same for another file or other settings.
    pub identity: u64,
    /// How accesses to the program's own memory are modelled.
    pub cache: CacheMode,
    /// Rings that the program may not use, one bit each.
    pub forbidden_rings: u16,
    /// The exceptions that it handles instead of the task.
    pub exceptions: Option<ExceptionsSetup>,
    /// The ring through which packets of the core leave.
    pub core_ring: Option<u8>,
    /// The bytes that the UART receives.
    pub input: Vec<(Cycle, u8)>,
    /// Longwords set to values from the project.
    pub imports: Vec<(u32, u32)>,
    /// The tables to load.
    pub tables: Vec<LoadedTable>,
    /// Functions that run on a division by zero.
    pub zero_division_handlers: Vec<u32>,
    /// DRAM laid out by the project, which the program shares with others, in ascending order.
    pub shared: Vec<Range<u32>>,
}

/// A table of a program, as loaded.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct LoadedTable {
    /// The address of its count, followed by the records.
    pub address: u32,
    /// Longwords per record.
    pub record_words: u32,
    /// The records, one set for all routers or one for each.
    pub routers: Vec<Vec<u32>>,
}

impl LoadedTable {
    /// Count and records for the router at a position in a chain.
    #[must_use]
    pub fn words(&self, node: usize) -> Vec<u32> {
        let records = of_router(&self.routers, node).map_or(&[][..], Vec::as_slice);
        let mut words = vec![records.len() as u32 / self.record_words.max(1)];
        words.extend(records);
        words
    }
}

/// The owner of a range of DRAM.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Owner {
    /// The program, according to its file.
    Program,
    /// The project: buffers and other memory that microengines access too.
    Shared,
    /// None: the program owns what it writes there.
    Free,
}

impl Setup {
    /// The owner of the longword at an address of DRAM.
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
        self.forbidden_rings >> ring & 1 == 0
    }
}
