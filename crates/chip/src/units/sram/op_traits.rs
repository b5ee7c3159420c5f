//! Properties of each operation that a channel uses, computed ahead of time.

use npsim_isa::CommandOp;

use super::atomic::{self, Atomic};
use super::flags::CommandFlags;
use super::uses_entry;

/// What the address of a command refers to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum NamedAddress {
    /// As many longwords as the command's count.
    Longwords,
    /// One longword, which the command reads and writes.
    Longword,
    /// An entry of the Q-array.
    Entry,
    /// A register of the channel.
    Register,
}

/// How many longwords a command pulls.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Pulls {
    Nothing,
    /// As many as the command's count.
    Count,
    One,
    /// One, unless the command carries it as an immediate.
    Operand,
}

/// The properties of an operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct OpTraits {
    /// The flags that a waiting command gets on arrival.
    pub marks: CommandFlags,
    pub names: NamedAddress,
    pub pulls: Pulls,
    /// Whether it moves as many longwords as the command's count; otherwise one.
    pub counts: bool,
}

const OPERATIONS: usize = CommandOp::ALL.len();

/// The traits of all operations, read with a single access.
static TRAITS: [OpTraits; OPERATIONS] = {
    let mut all = [OpTraits::new(CommandOp::ALL[0]); OPERATIONS];
    let mut at = 0;
    while at < OPERATIONS {
        all[CommandOp::ALL[at] as usize] = OpTraits::new(CommandOp::ALL[at]);
        at += 1;
    }
    all
};

impl OpTraits {
    /// The traits of an operation.
    #[inline]
    pub fn of(op: CommandOp) -> &'static Self {
        &TRAITS[op as usize]
    }

    const fn new(op: CommandOp) -> Self {
        use CommandOp as Op;
        let atomic = atomic::shape(op);
        let names = match op {
            op if uses_entry(op) => NamedAddress::Entry,
            Op::SramCsrRd | Op::SramCsrWr => NamedAddress::Register,
            Op::SramRead | Op::SramWrite => NamedAddress::Longwords,
            _ => NamedAddress::Longword,
        };
        let writes = matches!(
            op,
            Op::SramWrite
                | Op::SramPut
                | Op::SramJournal
                | Op::SramFastJournal
                | Op::SramEnqueue
                | Op::SramWrQdesc
                | Op::SramWrQdescCount
        );
        let needs_pins = !matches!(op, Op::SramEnqueueTail | Op::SramCsrRd | Op::SramCsrWr);
        Self {
            marks: CommandFlags::NONE
                .with(CommandFlags::WRITES, writes)
                .with(CommandFlags::READS, needs_pins && !writes)
                .with(CommandFlags::ATOMIC, atomic.is_some())
                .with(CommandFlags::CHANGES, !matches!(op, Op::SramRead))
                .with(CommandFlags::PUSHES, op.info().pushes)
                .with(CommandFlags::ENTRY, uses_entry(op)),
            names,
            pulls: match (op, atomic) {
                (Op::SramWrite | Op::SramPut | Op::SramJournal, _) => Pulls::Count,
                (Op::SramCsrWr, _) => Pulls::One,
                (_, Some(Atomic { operand: true, .. })) => Pulls::Operand,
                _ => Pulls::Nothing,
            },
            counts: op.info().takes_count,
        }
    }
}
