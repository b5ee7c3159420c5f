//! Two updates that race, and the fault that reports them.

use std::fmt;

use npsim_chip::Cycle;
use npsim_chip::kernel::check::{Check, Fault, RelatedPlace};

/// A memory shared by contexts.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum SharedMemory {
    /// The scratchpad.
    Scratch,
    /// A channel of SRAM.
    Sram(u8),
    /// A microengine's local memory.
    Local(u8),
}

impl SharedMemory {
    /// Advice on how to serialise updates of it.
    const fn remedy(self) -> &'static str {
        match self {
            Self::Scratch | Self::Sram(_) => {
                "make it one atomic operation (add, incr, test_and_add...), or read and write under a lock that all of them take, or in a turn"
            }
            Self::Local(_) => {
                "read and write it with no `ctx_arb` or `ctx_swap` between: contexts yield nowhere else; or do both under a lock or in a turn"
            }
        }
    }
}

impl fmt::Display for SharedMemory {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Scratch => write!(f, "scratch"),
            Self::Sram(channel) => write!(f, "sram{channel}"),
            Self::Local(me) => write!(f, "the local memory of ME {me}"),
        }
    }
}

/// A longword.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub struct Longword {
    /// The memory that contains it.
    pub memory: SharedMemory,
    /// Byte address in the memory.
    pub address: u32,
}

/// One of two updates.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Update {
    /// Microengine.
    pub me: u8,
    /// Context.
    pub context: u8,
    /// Cycle and address of the instruction that read it, if there was a read.
    pub read: Option<(Cycle, u16)>,
    /// Cycle and address of the instruction that wrote it.
    pub written: (Cycle, u16),
}

/// Two updates neither of which knows about the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    /// The longword.
    pub longword: Longword,
    /// The update whose write came first.
    pub first: Update,
    /// The update whose write came second.
    pub second: Update,
    /// How often these places raced.
    pub count: u64,
    /// Whether one of the two programs reads the signals of an arbitrary context
    /// (`INDIRECT_CTX_SIG_EVENTS`), so that ordering may come from signals that are not tracked.
    pub untracked: bool,
}

impl Race {
    /// Whether the first write lies between the read and the write of the second update, so that it
    /// is lost.
    #[must_use]
    pub fn has_lost_update(&self) -> bool {
        { self.second.read }.is_some_and(|(read, _)| read < self.first.written.0)
    }

    /// The race as a fault, at the second write; `name` is the project's name for the longword.
    #[must_use]
    pub fn fault(&self, name: Option<&str>) -> Fault {
        let (first, second) = (&self.first, &self.second);
        let named = name.map_or_else(String::new, |name| format!(" (`{name}`)"));
        let mut also = Vec::new();
        let mut place = |update: &Update, pc: u16, what: &str, at: Cycle| {
            also.push(RelatedPlace {
                me: update.me,
                context: update.context,
                pc,
                what: format!(
                    "{what} by ME {} context {} at cycle {at}",
                    update.me, update.context
                ),
            });
        };
        if let Some((at, pc)) = second.read {
            place(second, pc, "read", at);
        }
        if let Some((at, pc)) = first.read {
            place(first, pc, "read", at);
        }
        place(first, first.written.1, "written", first.written.0);
        let note = match (self.has_lost_update(), first.read) {
            (true, Some(_)) => {
                "one update is lost: both contexts had read the longword before either wrote it"
            }
            (true, None) => {
                "one update is lost: the second write used a value from before the first"
            }
            (false, _) => "these two did not meet in this run, but nothing prevents it",
        };
        let mut notes = vec![note.to_owned()];
        if self.count > 1 {
            notes.push(format!("the same two places raced {} times", self.count));
        }
        if self.untracked {
            notes.push(
                "signals that are read from INDIRECT_CTX_SIG_EVENTS are not followed, as the CSR may be another context's: if one of them keeps the two apart, this is no race".to_owned(),
            );
        }
        Fault {
            check: Some(Check::LostUpdate),
            cycle: second.written.0,
            me: Some(second.me),
            context: Some(second.context),
            pc: Some(second.written.1),
            message: format!(
                "the longword 0x{:x} of {}{named} is updated by two contexts, and no lock, signal or ring keeps them apart",
                self.longword.address, self.longword.memory
            ),
            notes,
            help: Some(self.longword.memory.remedy().to_owned()),
            also,
        }
    }
}
