//! Reads and writes of the longwords of memories.

use npsim_chip::kernel::fabric::BusCommand;
use npsim_chip::kernel::trace_event::{MemoryName, Writer};
use npsim_isa::{CommandOp, Unit};

use crate::names::Memory;
use crate::search::CodePoint;

/// What wrote a longword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Author {
    /// A command or a task of the core.
    Chip(Writer),
    /// The debugger itself, at the user's request.
    UserRequest,
}

impl Author {
    /// The context and the instruction, if a context did it.
    #[must_use]
    pub const fn place(self) -> Option<CodePoint> {
        match self {
            Self::Chip(Writer::Command {
                me, context, pc, ..
            }) => Some(CodePoint { me, context, pc }),
            Self::Chip(Writer::Task(_)) | Self::UserRequest => None,
        }
    }
}

/// Whether a write of longwords, from a byte address of a memory on, covers a particular longword.
#[must_use]
pub fn writes(
    (written, first, words): (MemoryName, u32, u16),
    memory: Memory,
    address: u32,
) -> bool {
    let of_it = match (written, memory) {
        (MemoryName::Scratch, Memory::Scratch) | (MemoryName::Dram, Memory::Dram) => true,
        (MemoryName::Sram(channel), Memory::Sram(other)) => channel == other,
        _ => false,
    };
    of_it && address.wrapping_sub(first) / 4 < u32::from(words)
}

/// Whether a command reads a longword by its address; commands on rings and queues do not count.
#[must_use]
pub fn reads(command: &BusCommand, memory: Memory, address: u32) -> bool {
    use CommandOp as Op;
    let (its, bytes) = match (command.op.info().unit, memory) {
        (Unit::Scratch, Memory::Scratch) => (address, 4),
        (Unit::Sram, Memory::Sram(channel)) => (u32::from(channel) << 30 | address, 4),
        (Unit::Dram, Memory::Dram) => (address, 8),
        _ => return false,
    };
    let count = match command.op {
        Op::ScratchRead | Op::SramRead | Op::DramRead | Op::DramTbufWr => command.count,
        op if op.is_atomic() => 1,
        _ => return false,
    };
    let first = command.address & !(bytes - 1);
    let beyond = u64::from(first) + u64::from(bytes) * u64::from(count);
    (u64::from(first)..beyond).contains(&u64::from(its))
}
