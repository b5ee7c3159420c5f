//! What a command does when it starts.

use npsim_isa::CommandOp;

use super::{Channel, Facts, Marks, Waiting, longword, masked, paced, words};
use crate::kernel::fabric::{BusCommand, Fabric, Slot};
use crate::kernel::memory::OutOfRange;
use crate::kernel::trace_event::{RingName, TraceEvent};
use crate::kernel::unit::Placed;
use crate::units::sram::atomic::{self, Atomic};
use crate::units::sram::{Leads, Sram};

impl Channel {
    /// Apart from the search for what can start, which it would burden with all that
    /// it needs.
    #[inline(never)]
    pub(super) fn start(&mut self, waiting: &Waiting, fabric: &mut Fabric, leads: &Leads) {
        let slot = waiting.slot;
        let command = &fabric.flight(slot).command;
        let (op, count) = (command.op, words(command));
        let facts = Facts::of(op);
        let moved = if facts.counts { count } else { 1 };
        let waited = fabric.now - waiting.since;
        self.counters.started(op, moved as u8, waited);
        // Reads and atomic operations are three of four.
        let done = match facts.atomic {
            _ if waiting.window.is_some() => self.start_window(waiting, fabric, leads),
            Some(shape) => self.start_atomic(slot, shape, fabric, leads),
            None if op == CommandOp::SramRead => self.start_read(slot, count, fabric, leads),
            None => self.start_other(waiting, fabric, leads),
        };
        if fabric.journal.is_open() {
            self.tell(waiting, fabric);
        }
        if done.is_err() {
            self.is_beyond(slot, fabric);
        }
    }

    /// A command has come to an address that the channel does not have.
    #[cold]
    #[inline(never)]
    fn is_beyond(&self, slot: Slot, fabric: &mut Fabric) {
        let command = fabric.flight(slot).command;
        let message = format!(
            "sram[{}] at address {:#x}: its descriptor, link or ring word is beyond the memory of channel {}, which ends at byte {:#x}",
            command.op.info().name,
            command.address,
            self.number,
            self.memory.len() * 4
        );
        let help = "check what the Q-array entry was loaded with, and the buffer addresses (in longwords) that were enqueued";
        fabric.fault(slot, None, message, Some(help.to_owned()));
        fabric.finish(slot);
    }

    /// Tells observers how long the port is busy with a command and what
    /// is in its Q-array entry now.
    #[cold]
    #[inline(never)]
    fn tell(&self, waiting: &Waiting, fabric: &mut Fabric) {
        let now = fabric.now;
        let (lane, until) = match waiting.marks {
            marks if marks.has(Marks::WRITES) => (1, self.write_free),
            marks if marks.has(Marks::READS) => (0, self.read_free),
            _ => (0, now),
        };
        fabric.serves(
            waiting.slot,
            Sram::target(self.number),
            lane,
            now,
            until.max(now),
        );
        if let Some(entry) = waiting.concern.entry() {
            let ring = RingName::Sram {
                channel: self.number,
                entry: entry as u8,
            };
            let fill = self.entries[entry].count();
            fabric.journal.tell(now, || TraceEvent::Ring { ring, fill });
        }
    }

    #[inline]
    fn start_read(
        &mut self,
        slot: Slot,
        count: u32,
        fabric: &mut Fabric,
        leads: &Leads,
    ) -> Result<(), OutOfRange> {
        let now = fabric.now;
        self.use_read(now, count, leads);
        let flight = fabric.flight_mut(slot);
        let first = longword(flight.command.address) as usize;
        self.memory
            .read(first, &mut flight.data[..count as usize])?;
        fabric.push_at(slot, count as u8, now + leads.read + paced(count, leads));
        Ok(())
    }

    #[inline]
    fn start_atomic(
        &mut self,
        slot: Slot,
        Atomic {
            operand: takes,
            returns,
        }: Atomic,
        fabric: &mut Fabric,
        leads: &Leads,
    ) -> Result<(), OutOfRange> {
        let now = fabric.now;
        self.use_read(now, 1, leads);
        self.use_write(now, 1, leads);
        let flight = fabric.flight_mut(slot);
        let command = &flight.command;
        let (op, immediate) = (command.op, command.immediate);
        let first = longword(command.address);
        self.atomics.retain(|busy| busy.1 > now);
        self.atomics
            .push((first, now + leads.turnaround + leads.longword));
        let operand = immediate.unwrap_or(flight.data[0]);
        let (old, new) = self
            .memory
            .change(first as usize, |old| atomic::apply(op, old, operand))?;
        if returns {
            flight.data[0] = old;
        }
        if !self.locks.is_empty() {
            let command = flight.command;
            self.locks
                .command(&command, (first, 1), |_| old, |_| new, fabric);
        }
        if returns {
            let lead = if takes && immediate.is_none() {
                leads.atomic_pulled
            } else {
                leads.atomic
            };
            fabric.push_at(slot, 1, now + lead);
        } else {
            fabric.finish(slot);
        }
        Ok(())
    }

    /// Apart, since what these need would burden the others.
    #[inline(never)]
    fn start_other(
        &mut self,
        waiting: &Waiting,
        fabric: &mut Fabric,
        leads: &Leads,
    ) -> Result<(), OutOfRange> {
        let slot = waiting.slot;
        let command = fabric.flight(slot).command;
        if let Some(entry) = waiting.concern.entry() {
            self.entry_free[entry] = fabric.now + leads.same_entry;
            return self.start_entry(slot, &command, entry, fabric, leads);
        }
        let register = longword(command.address);
        match command.op {
            CommandOp::SramCsrRd => {
                let value = self.registers.get(&register).copied().unwrap_or(0);
                fabric.flight_mut(slot).data[0] = value;
                fabric.push_at(slot, 1, fabric.now + leads.csr);
            }
            CommandOp::SramCsrWr => {
                let value = fabric.flight(slot).data[0];
                self.registers.insert(register, value);
                fabric.finish(slot);
            }
            _ => self.start_write(slot, &command, fabric, leads)?,
        }
        Ok(())
    }

    fn start_write(
        &mut self,
        slot: Slot,
        command: &BusCommand,
        fabric: &mut Fabric,
        leads: &Leads,
    ) -> Result<(), OutOfRange> {
        let (first, count) = (longword(command.address) as usize, words(command));
        self.use_write(fabric.now, count, leads);
        if !self.locks.is_empty() {
            self.tell_locks(slot, command, fabric);
        }
        let data = &fabric.flight(slot).data[..count as usize];
        if count == 1 && command.byte_mask & 15 != 15 {
            let new = data[0];
            self.memory
                .change(first, |old| masked(old, new, command.byte_mask))?;
        } else {
            self.memory.write(first, data)?;
        }
        fabric.finish(slot);
        Ok(())
    }

    /// A write is about to change longwords, locks perhaps among them.
    #[cold]
    #[inline(never)]
    fn tell_locks(&mut self, slot: Slot, command: &BusCommand, fabric: &mut Fabric) {
        let data = fabric.flight(slot).data;
        let (first, count) = (longword(command.address), words(command));
        let partial = count == 1 && command.byte_mask & 15 != 15;
        let memory = &self.memory;
        let old = |at: u32| memory.get((first + at) as usize).unwrap_or(0);
        let new = |at: u32| match (partial, data[at as usize]) {
            (true, word) => masked(old(at), word, command.byte_mask),
            (false, word) => word,
        };
        self.locks
            .command(command, (first, count), old, new, fabric);
    }

    fn start_entry(
        &mut self,
        slot: Slot,
        command: &BusCommand,
        number: usize,
        fabric: &mut Fabric,
        leads: &Leads,
    ) -> Result<(), OutOfRange> {
        use CommandOp as Op;
        let now = fabric.now;
        let count = words(command);
        let address = command.address & 0x00ff_ffff;
        let at = address as usize;
        let (channel, entry) = (self.number, number as u8);
        let name = RingName::Sram { channel, entry };
        match command.op {
            Op::SramEnqueue => {
                self.use_write(now, 1, leads);
                let overridden = command.indirect.is_some_and(|word| word & 1 << 20 != 0);
                let marks = overridden.then_some(command.byte_mask);
                self.entries[number].enqueue(&mut self.memory, address, marks)?;
                fabric.queue_carries((self.number, number as u8), address, false, command);
                fabric.finish(slot);
            }
            Op::SramEnqueueTail => {
                self.entries[number].enqueue_tail(address);
                fabric.finish(slot);
            }
            Op::SramDequeue => {
                self.use_read(now, 1, leads);
                let taken = self.entries[number].dequeue(&self.memory)?;
                fabric.flight_mut(slot).data[0] = taken;
                fabric.queue_carries((self.number, number as u8), taken, true, command);
                fabric.push_at(slot, 1, now + leads.dequeue);
            }
            Op::SramPut => {
                fabric.ring_carries(name, slot, count as usize, false);
                let words = &fabric.flight(slot).data[..count as usize];
                let put = self.entries[number].ring_put(&mut self.memory, words)?;
                self.use_write(now, if put.accepted { count } else { 0 }, leads);
                fabric.flight_mut(slot).data[0] = put.status();
                fabric.push_at(slot, 1, now + leads.ring_put);
            }
            Op::SramGet => {
                self.use_read(now, count, leads);
                let out = &mut fabric.flight_mut(slot).data[..count as usize];
                self.entries[number].ring_get(&self.memory, out)?;
                fabric.ring_carries(name, slot, count as usize, true);
                fabric.push_at(
                    slot,
                    count as u8,
                    now + leads.ring_get + paced(count, leads),
                );
            }
            Op::SramJournal => {
                self.use_write(now, count, leads);
                let words = &fabric.flight(slot).data[..count as usize];
                self.entries[number].journal(&mut self.memory, words)?;
                fabric.finish(slot);
            }
            Op::SramFastJournal => {
                self.use_write(now, 1, leads);
                let me = u32::from(fabric.profile.number_of(command.me));
                let tagged = me << 27 | u32::from(command.context & 7) << 24 | address;
                let word = command.immediate.unwrap_or(tagged);
                self.entries[number].journal(&mut self.memory, &[word])?;
                fabric.finish(slot);
            }
            Op::SramWrQdesc | Op::SramWrQdescCount => {
                let mut fields = self.entries[number].descriptor();
                if command.op == Op::SramWrQdescCount {
                    fields[0] = None;
                }
                self.use_write(now, fields.iter().flatten().count() as u32, leads);
                for (place, field) in fields.into_iter().enumerate() {
                    if let Some(word) = field {
                        self.memory.set(at + place, word)?;
                    }
                }
                fabric.finish(slot);
            }
            _ => {
                let mut descriptor = [0; 3];
                self.memory.read(at, &mut descriptor)?;
                let [head, tail, total] = descriptor;
                let entry = &mut self.entries[number];
                if command.op == Op::SramRdQdescOther {
                    entry.load_other(head, tail);
                    self.use_read(now, 1, leads);
                    fabric.finish(slot);
                    return Ok(());
                }
                let mut data = [0; 32];
                self.memory.read(at, &mut data[..count as usize])?;
                if command.op == Op::SramRdQdescHead {
                    entry.load_head(head, total);
                    data[0] = head;
                } else {
                    entry.load_tail(tail, total);
                    data[0] = tail;
                }
                data[1] = total;
                fabric.flight_mut(slot).data = data;
                self.use_read(now, count.max(2), leads);
                fabric.push_at(slot, count as u8, now + leads.read + paced(count, leads));
            }
        }
        Ok(())
    }
}
