//! Which commands read and write which longwords.

use npsim_chip::kernel::fabric::BusCommand;
use npsim_isa::{CommandOp, Unit};

use crate::names::Memory;

/// What a command does to a longword.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Touch {
    /// The command reads the memory.
    pub reads: bool,
    /// The command writes the memory.
    pub writes: bool,
}

/// What a command does to a longword that its address names; nothing for one that rings,
/// queues and devices lead elsewhere.
#[must_use]
pub fn touches(command: &BusCommand, memory: Memory, address: u32) -> Option<Touch> {
    use CommandOp as Op;
    let unit = command.op.info().unit;
    let (its, bytes) = match (unit, memory) {
        (Unit::Scratch, Memory::Scratch) => (address, 4),
        (Unit::Sram, Memory::Sram(channel)) => (u32::from(channel) << 30 | address, 4),
        (Unit::Dram, Memory::Dram) => (address, 8),
        (
            Unit::Scratch
            | Unit::Sram
            | Unit::Dram
            | Unit::Msf
            | Unit::Pci
            | Unit::Hash
            | Unit::Cap,
            _,
        ) => return None,
    };
    let (reads, writes) = match command.op {
        Op::ScratchRead | Op::SramRead | Op::DramRead | Op::DramTbufWr => (true, false),
        Op::ScratchWrite | Op::SramWrite | Op::DramWrite | Op::DramRbufRd => (false, true),
        op if op.is_atomic() => (true, true),
        _ => return None,
    };
    let count = if command.op.is_atomic() {
        1
    } else {
        command.count
    };
    let first = command.address & !(bytes - 1);
    let beyond = u64::from(first) + u64::from(bytes) * u64::from(count);
    let inside = (u64::from(first)..beyond).contains(&u64::from(its));
    inside.then_some(Touch { reads, writes })
}

/// Whether a command may write longwords that its address does not name: rings and queues
/// keep theirs in memory.
#[must_use]
pub fn may_write_elsewhere(command: &BusCommand, memory: Memory) -> bool {
    use CommandOp as Op;
    match memory {
        Memory::Scratch => command.op == Op::ScratchPut,
        Memory::Sram(channel) => {
            let op = command.op;
            let writes = matches!(
                op,
                Op::SramPut
                    | Op::SramEnqueue
                    | Op::SramEnqueueTail
                    | Op::SramJournal
                    | Op::SramFastJournal
                    | Op::SramWrQdesc
                    | Op::SramWrQdescCount
            );
            writes && command.address >> 30 == u32::from(channel)
        }
        Memory::Dram | Memory::Local => false,
    }
}
