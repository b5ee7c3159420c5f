//! Two updates that race, and the fault that says so.

use std::fmt;

use npsim_chip::Cycle;
use npsim_chip::kernel::check::{Also, Check, Fault};

/// A memory that contexts share.
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
    /// What keeps updates of it apart.
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
    /// Where it is.
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
    /// When and where it read, if it did.
    pub read: Option<(Cycle, u16)>,
    /// When and where it wrote.
    pub written: (Cycle, u16),
}

/// Two updates of which neither knows of the other.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Race {
    /// The longword.
    pub longword: Longword,
    /// Whose write was first.
    pub first: Update,
    /// Whose was second.
    pub second: Update,
    /// How often the same places raced.
    pub count: u64,
    /// A program of the two reads which signals have come to a context that is not known
    /// (`INDIRECT_CTX_SIG_EVENTS`), so that order may come from signals that are not followed.
    pub unfollowed: bool,
}

impl Race {
    /// Whether the first write lies between read and write of the second, so that it
    /// is lost.
    #[must_use]
    pub fn has_lost(&self) -> bool {
        { self.second.read }.is_some_and(|(read, _)| read < self.first.written.0)
    }

    /// The race as a fault, at the second write; `name` is what the project calls the
    /// longword.
    #[must_use]
    pub fn fault(&self, name: Option<&str>) -> Fault {
        let (first, second) = (&self.first, &self.second);
        let named = name.map_or_else(String::new, |name| format!(" (`{name}`)"));
        let mut also = Vec::new();
        let mut place = |update: &Update, pc: u16, what: &str, at: Cycle| {
            also.push(Also {
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
        let note = match (self.has_lost(), first.read) {
            (true, Some(_)) => {
                "one update is lost: both contexts had read the longword before either wrote it"
            }
            (true, None) => {
                "one update is lost: the second write was made of a value from before the first"
            }
            (false, _) => "these two did not meet in this run, but nothing kept them from it",
        };
        let mut notes = vec![note.to_owned()];
        if self.count > 1 {
            notes.push(format!("the same two places raced {} times", self.count));
        }
        if self.unfollowed {
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
