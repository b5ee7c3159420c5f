//! The ring or queue that a command operates on.

use npsim_chip::kernel::fabric::BusCommand;
use npsim_chip::kernel::trace_event::RingName;
use npsim_isa::Unit;

/// The ring or queue of a put, get, enqueue or dequeue command.
pub(crate) fn ring_of(command: &BusCommand) -> RingName {
    match command.op.info().unit {
        Unit::Scratch => RingName::Scratch((command.address >> 2 & 15) as u8),
        _ => RingName::Sram {
            channel: (command.address >> 30) as u8,
            entry: (command.address >> 24 & 63) as u8,
        },
    }
}
