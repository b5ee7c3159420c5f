//! What a channel knows of each operation beforehand.

use npsim_isa::CommandOp;
use serde::{Deserialize, Serialize};

use super::atomic::{self, Atomic};
use super::uses_entry;

/// Which data pins a command needs to start.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub(super) enum Port {
    Read,
    Write,
    None,
}

/// What a command names.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Names {
    /// As many longwords as its count says; whether it writes them.
    Longwords { writes: bool },
    /// One longword, which it reads and writes.
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
    /// As many as its count says.
    Count,
    One,
    /// One, unless the command carries it.
    Operand,
}

/// What is known of an operation.
#[derive(Clone, Copy, Debug)]
pub(super) struct Facts {
    pub port: Port,
    pub names: Names,
    pub pulls: Pulls,
    /// Whether it reads and writes a longword in one, and how.
    pub atomic: Option<Atomic>,
    /// Whether it needs the push bus.
    pub pushes: bool,
    /// Whether it moves as many longwords as its count says; else one.
    pub counts: bool,
}

const OPERATIONS: usize = CommandOp::ALL.len();

/// The facts of all operations, so that one place of a table tells them.
static FACTS: [Facts; OPERATIONS] = {
    let mut all = [Facts::new(CommandOp::ALL[0]); OPERATIONS];
    let mut at = 0;
    while at < OPERATIONS {
        all[CommandOp::ALL[at] as usize] = Facts::new(CommandOp::ALL[at]);
        at += 1;
    }
    all
};

impl Facts {
    /// The facts of an operation.
    #[inline]
    pub fn of(op: CommandOp) -> &'static Self {
        &FACTS[op as usize]
    }

    const fn new(op: CommandOp) -> Self {
        use CommandOp as Op;
        let atomic = atomic::shape(op);
        Self {
            port: match op {
                Op::SramWrite
                | Op::SramPut
                | Op::SramJournal
                | Op::SramFastJournal
                | Op::SramEnqueue
                | Op::SramWrQdesc
                | Op::SramWrQdescCount => Port::Write,
                Op::SramEnqueueTail | Op::SramCsrRd | Op::SramCsrWr => Port::None,
                _ => Port::Read,
            },
            names: match op {
                op if uses_entry(op) => Names::Entry,
                Op::SramCsrRd | Op::SramCsrWr => Names::Register,
                Op::SramRead => Names::Longwords { writes: false },
                Op::SramWrite => Names::Longwords { writes: true },
                _ => Names::Longword,
            },
            pulls: match (op, atomic) {
                (Op::SramWrite | Op::SramPut | Op::SramJournal, _) => Pulls::Count,
                (Op::SramCsrWr, _) => Pulls::One,
                (_, Some(Atomic { operand: true, .. })) => Pulls::Operand,
                _ => Pulls::Nothing,
            },
            atomic,
            pushes: op.info().pushes,
            counts: op.info().takes_count,
        }
    }
}
