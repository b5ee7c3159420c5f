//! Execution of a command when it starts.

use npsim_isa::CommandOp;

use super::rings::RINGS;
use super::{Scratch, pulled_words};
use crate::Cycle;
use crate::kernel::check::Check;
use crate::kernel::fabric::{CommandId, Fabric};
use crate::kernel::queue::references;
use crate::kernel::trace_event::{MemoryName, RingName, TraceEventKind, Writer};
use crate::kernel::unit::HasTarget;

impl Scratch {
    /// Starts a command that was never in the pipe.
    #[inline(never)]
    pub(super) fn start(&mut self, slot: CommandId, fabric: &mut Fabric) {
        self.start_as(slot, fabric);
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // Nearly all commands end up here.
    pub(super) fn start_as(&mut self, slot: CommandId, fabric: &mut Fabric) {
        use CommandOp as Op;
        let command = &fabric.flight(slot).command;
        let (op, address) = (command.op, command.address);
        let count = usize::from(references(command.count));
        let words = count as Cycle;
        // Passing the operation as a constant saves looking it up again.
        match op {
            Op::ScratchGet => {
                self.occupy(slot, Op::ScratchGet, (words, 0), fabric);
                self.start_get(slot, ring_number(address), count, fabric);
            }
            Op::ScratchPut => {
                self.occupy(slot, Op::ScratchPut, (0, words), fabric);
                self.start_put(slot, ring_number(address), count, fabric);
            }
            Op::ScratchRead => {
                self.occupy(slot, Op::ScratchRead, (words, 0), fabric);
                let Some(range) = self.range(address, count) else {
                    return self.unpopulated(slot, fabric);
                };
                fabric.flight_mut(slot).data[..count].copy_from_slice(&self.words[range]);
                let at = fabric.now + self.leads.read + self.paced(count);
                fabric.push_at(slot, count as u8, at);
            }
            Op::ScratchWrite => {
                self.occupy(slot, Op::ScratchWrite, (0, words), fabric);
                let Some(range) = self.range(address, count) else {
                    return self.unpopulated(slot, fabric);
                };
                if !self.locks.is_empty() {
                    self.update_locks(slot, &range, fabric);
                }
                self.words[range].copy_from_slice(&fabric.flight(slot).data[..count]);
                fabric.finish(slot);
            }
            _ => {
                self.occupy(slot, op, (1, 1), fabric);
                self.start_atomic(slot, fabric);
            }
        }
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // Part of starting a command.
    fn start_get(&mut self, slot: CommandId, ring: usize, count: usize, fabric: &mut Fabric) {
        let out = &mut fabric.flight_mut(slot).data[..count];
        self.rings.get(&self.words, ring, out);
        self.rings.show(ring, fabric);
        fabric.ring_carries(RingName::Scratch(ring as u8), slot, count, true);
        let at = fabric.now + self.leads.ring_get + self.paced(count);
        fabric.push_at(slot, count as u8, at);
    }

    #[inline(always)]
    #[allow(clippy::inline_always)] // Part of starting a command.
    fn start_put(&mut self, slot: CommandId, ring: usize, count: usize, fabric: &mut Fabric) {
        fabric.ring_carries(RingName::Scratch(ring as u8), slot, count, false);
        let data = &fabric.flight(slot).data[..count];
        let lost = self.rings.put(&mut self.words, ring, data);
        self.rings.show(ring, fabric);
        if lost > 0 {
            overflowed(slot, ring, count, lost, fabric);
        }
        fabric.finish(slot);
    }

    /// Cycles that a burst takes beyond its first longword because the memory is slower than the
    /// push bus.
    #[inline]
    const fn paced(&self, count: usize) -> Cycle {
        (count as Cycle - 1) * self.leads.paced
    }

    fn start_atomic(&mut self, slot: CommandId, fabric: &mut Fabric) {
        let flight = fabric.flight_mut(slot);
        let command = &flight.command;
        let (op, immediate) = (command.op, command.immediate);
        let Some(range) = self.range(command.address, 1) else {
            return self.unpopulated(slot, fabric);
        };
        let operand = immediate.unwrap_or(flight.data[0]);
        let word = &mut self.words[range.start];
        let old = *word;
        let (new, returns) = atomic(op, old, operand);
        *word = new;
        if returns {
            flight.data[0] = old;
        }
        if !self.locks.is_empty() {
            let command = flight.command;
            let longword = (range.start as u32, 1);
            self.locks
                .command(&command, longword, |_| old, |_| new, fabric);
        }
        if returns {
            let has_pulled = immediate.is_none() && pulled_words(op, 1, false) > 0;
            let lead = if has_pulled {
                self.leads.atomic_pulled
            } else {
                self.leads.atomic
            };
            fabric.push_at(slot, 1, fabric.now + lead);
        } else {
            fabric.finish(slot);
        }
    }

    /// Updates the locks before a write changes longwords that may include some.
    #[cold]
    #[inline(never)]
    fn update_locks(
        &mut self,
        slot: CommandId,
        range: &std::ops::Range<usize>,
        fabric: &mut Fabric,
    ) {
        let flight = fabric.flight(slot);
        let (command, data) = (flight.command, flight.data);
        let longwords = (range.start as u32, range.len() as u32);
        let words = &self.words[range.clone()];
        let (old, new) = (|at: u32| words[at as usize], |at: u32| data[at as usize]);
        self.locks.command(&command, longwords, old, new, fabric);
    }

    /// Occupies the memory for a command that reads and writes this many longwords.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Nearly all commands only read or only write.
    fn occupy(
        &mut self,
        slot: CommandId,
        op: CommandOp,
        (reads, writes): (Cycle, Cycle),
        fabric: &mut Fabric,
    ) {
        let now = fabric.now;
        let waited = now - fabric.flight(slot).unit_scratch;
        self.counters.started(op, (reads + writes) as u8, waited);
        self.take(now, reads, writes);
        if fabric.trace.is_open() {
            self.trace_execution(slot, fabric);
        }
    }

    /// Reports to observers how long the memory is busy with a command that starts now, and which
    /// longwords the command writes.
    #[cold]
    #[inline(never)]
    fn trace_execution(&self, slot: CommandId, fabric: &mut Fabric) {
        use CommandOp as Op;
        fabric.record_service(slot, Self::FIRST, 0, fabric.now, self.free_at);
        if !fabric.trace.wants(TraceEventKind::Written) {
            return;
        }
        let command = fabric.flight(slot).command;
        let count = usize::from(references(command.count));
        let by = Writer::of(&command);
        match command.op {
            Op::ScratchRead | Op::ScratchGet => {}
            Op::ScratchPut => {
                let ring = self.rings.ring(ring_number(command.address));
                for address in ring.next_addresses(count as u32) {
                    fabric.trace_written(MemoryName::Scratch, address, 1, by);
                }
            }
            op => {
                let words = if op == Op::ScratchWrite { count } else { 1 };
                if self.range(command.address, words).is_some() {
                    fabric.trace_written(MemoryName::Scratch, command.address, words, by);
                }
            }
        }
    }
}

/// Raises the check for a put that overflowed its ring.
#[cold]
#[inline(never)]
fn overflowed(slot: CommandId, ring: usize, count: usize, lost: u32, fabric: &mut Fabric) {
    let message = format!(
        "a put of {count} longwords to scratch ring {ring} overwrote the {lost} oldest on it"
    );
    let help = "test the ring's full status before the put, or make the ring larger";
    fabric.fault(
        slot,
        Some(Check::RingOverflow),
        message,
        Some(help.to_owned()),
    );
}

/// Ring number in the address of get and put.
fn ring_number(address: u32) -> usize {
    (address >> 2) as usize % RINGS
}

/// The new value of an atomic operation, and whether the old one is returned.
fn atomic(op: CommandOp, old: u32, operand: u32) -> (u32, bool) {
    use CommandOp as Op;
    match op {
        Op::ScratchSwap => (operand, true),
        Op::ScratchSet => (old | operand, false),
        Op::ScratchTestAndSet => (old | operand, true),
        Op::ScratchClr => (old & !operand, false),
        Op::ScratchTestAndClr => (old & !operand, true),
        Op::ScratchAdd => (old.wrapping_add(operand), false),
        Op::ScratchTestAndAdd => (old.wrapping_add(operand), true),
        Op::ScratchSub => (old.wrapping_sub(operand), false),
        Op::ScratchTestAndSub => (old.wrapping_sub(operand), true),
        Op::ScratchIncr => (old.wrapping_add(1), false),
        Op::ScratchTestAndIncr => (old.wrapping_add(1), true),
        Op::ScratchDecr => (old.wrapping_sub(1), false),
        Op::ScratchTestAndDecr => (old.wrapping_sub(1), true),
        _ => (old, false),
    }
}
