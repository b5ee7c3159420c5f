//! Execution of a command when it starts.

use npsim_isa::{CONTEXTS, CommandOp};

use super::{
    AddressRange, Channel, CommandFlags, OpTraits, Pulls, QueuedCommand, entry_number, longword,
    masked, paced, words,
};
use crate::Cycle;
use crate::kernel::fabric::{BusCommand, CommandId, Fabric};
use crate::kernel::memory::OutOfRange;
use crate::kernel::trace_event::{MemoryName, RingName, TraceEvent, TraceEventKind, Writer};
use crate::kernel::unit::HasTarget;
use crate::kernel::unit_counters::PathDirection;
use crate::units::sram::atomic;
use crate::units::sram::qarray::{ADDRESS, QueueEntry};
use crate::units::sram::{Leads, Sram};

impl Channel {
    /// Starts a command that is able to start.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Little of it is left where the kind of command is known.
    pub(super) fn start(
        &mut self,
        waiting: QueuedCommand,
        waited: Cycle,
        fabric: &mut Fabric,
        leads: &Leads,
    ) {
        // Reads and atomic operations make up three quarters of the commands.
        let done = match waiting.marks {
            marks if marks.has(CommandFlags::WINDOW) => {
                self.start_window(waiting, waited, fabric, leads)
            }
            marks if marks.has(CommandFlags::ATOMIC) => {
                self.start_atomic(waiting, waited, fabric, leads)
            }
            marks if !marks.has(CommandFlags::CHANGES) => {
                self.start_read(waiting, waited, fabric, leads)
            }
            marks if marks.has(CommandFlags::ENTRY) => {
                self.start_entry(waiting, waited, fabric, leads)
            }
            _ => self.start_other(waiting, waited, fabric, leads),
        };
        if fabric.trace.is_open() {
            self.trace_execution(waiting.slot, waiting.marks, waiting.concern, fabric);
        }
        if done.is_err() {
            self.fault_beyond_memory(waiting.slot, fabric);
        }
    }

    /// Raises the fault for a command that reached an address beyond the memory of the channel.
    #[cold]
    #[inline(never)]
    fn fault_beyond_memory(&self, slot: CommandId, fabric: &mut Fabric) {
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

    /// Reports to observers how long the port is busy with a command and the new fill level of its
    /// Q-array entry.
    #[cold]
    #[inline(never)]
    fn trace_execution(
        &self,
        slot: CommandId,
        marks: CommandFlags,
        concern: AddressRange,
        fabric: &mut Fabric,
    ) {
        let now = fabric.now;
        let (lane, until) = match marks {
            marks if marks.has(CommandFlags::WRITES) => (1, self.write_free),
            marks if marks.has(CommandFlags::READS) => (0, self.read_free),
            _ => (0, now),
        };
        let target = Sram::target(self.number);
        fabric.record_service(slot, target, lane, now, until.max(now));
        if marks.has(CommandFlags::CHANGES)
            && concern.is_memory()
            && fabric.trace.wants(TraceEventKind::Written)
        {
            let command = fabric.flight(slot).command;
            let AddressRange { first, end } = concern;
            let none = end - first == 1
                && command.op == CommandOp::SramWrite
                && command.byte_mask.trailing_zeros() >= 4;
            if !none {
                self.trace_written(first, end - first, &command, fabric);
            }
        }
        if let Some(entry) = concern.entry() {
            let ring = RingName::Sram {
                channel: self.number,
                entry: entry as u8,
            };
            let fill = self.entries[entry].count();
            fabric.trace.record(now, || TraceEvent::Ring { ring, fill });
        }
    }

    /// Reports to observers that a command writes longwords of the channel.
    fn trace_written(&self, first: u32, words: u32, command: &BusCommand, fabric: &mut Fabric) {
        let memory = MemoryName::Sram(self.number);
        fabric.trace_written(memory, first * 4, words as usize, Writer::of(command));
    }

    /// Reports to observers the longwords written by a command on a Q-array entry; `before` is the
    /// entry's previous state.
    #[cold]
    #[inline(never)]
    fn trace_entry(&self, before: &QueueEntry, command: &BusCommand, fabric: &mut Fabric) {
        use CommandOp as Op;
        let after = &self.entries[entry_number(command.address) as usize];
        match command.op {
            Op::SramEnqueue => {
                if let Some(link) = before.next_link() {
                    self.trace_written(link, 1, command, fabric);
                }
            }
            Op::SramPut | Op::SramJournal | Op::SramFastJournal => {
                for place in before.appended(after) {
                    self.trace_written(place, 1, command, fabric);
                }
            }
            Op::SramWrQdesc | Op::SramWrQdescCount => {
                let first = command.address & ADDRESS;
                let fields = (first..).zip(after.descriptor());
                let head = command.op == Op::SramWrQdesc;
                for (place, _) in fields.filter(|it| it.1.is_some() && (head || it.0 > first)) {
                    self.trace_written(place, 1, command, fabric);
                }
            }
            _ => {}
        }
    }

    /// Starts a read. The command has waited for its pins, so they are free.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Half of the commands are reads.
    fn start_read(
        &mut self,
        waiting: QueuedCommand,
        waited: Cycle,
        fabric: &mut Fabric,
        leads: &Leads,
    ) -> Result<(), OutOfRange> {
        let now = fabric.now;
        let AddressRange { first, end } = waiting.concern;
        let (slot, count) = (waiting.slot, end - first);
        let busy = Cycle::from(count) * leads.longword;
        self.read_free = now + busy;
        self.counters.used(PathDirection::Read, busy);
        self.counters
            .started(CommandOp::SramRead, count as u8, waited);
        let data = &mut fabric.flight_mut(slot).data[..count as usize];
        self.memory.read(first as usize, data)?;
        fabric.push_at(slot, count as u8, now + leads.read + paced(count, leads));
        Ok(())
    }

    /// Starts an atomic operation. The command has waited for its read pins, so they are free.
    #[inline(always)]
    #[allow(clippy::inline_always)] // A third of the commands are atomic operations.
    fn start_atomic(
        &mut self,
        waiting: QueuedCommand,
        waited: Cycle,
        fabric: &mut Fabric,
        leads: &Leads,
    ) -> Result<(), OutOfRange> {
        let now = fabric.now;
        let AddressRange { first, .. } = waiting.concern;
        let (slot, returns) = (waiting.slot, waiting.marks.has(CommandFlags::PUSHES));
        self.read_free = now + leads.longword;
        self.write_free = self.write_free.max(now) + leads.longword;
        self.counters.used(PathDirection::Read, leads.longword);
        self.counters.used(PathDirection::Write, leads.longword);
        let flight = fabric.flight_mut(slot);
        let command = &flight.command;
        let (op, immediate) = (command.op, command.immediate);
        self.counters.started(op, 1, waited);
        let writes_at = now + leads.turnaround + leads.longword;
        self.note_atomic(first, writes_at, now);
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
        if !returns {
            fabric.finish(slot);
            return Ok(());
        }
        let takes = matches!(OpTraits::of(op).pulls, Pulls::Operand);
        let lead = if takes && immediate.is_none() {
            leads.atomic_pulled
        } else {
            leads.atomic
        };
        fabric.push_at(slot, 1, now + lead);
        Ok(())
    }

    /// Starts any other command; separate, to keep the common paths small.
    #[inline(never)]
    fn start_other(
        &mut self,
        waiting: QueuedCommand,
        waited: Cycle,
        fabric: &mut Fabric,
        leads: &Leads,
    ) -> Result<(), OutOfRange> {
        let slot = waiting.slot;
        let command = &fabric.flight(slot).command;
        self.counters.started(command.op, moved(command), waited);
        if waiting.concern.is_register() {
            self.start_register(slot, fabric, leads);
            return Ok(());
        }
        self.start_write(waiting, fabric, leads)
    }

    fn start_register(&mut self, slot: CommandId, fabric: &mut Fabric, leads: &Leads) {
        let flight = fabric.flight_mut(slot);
        let register = longword(flight.command.address);
        if flight.command.op == CommandOp::SramCsrWr {
            self.registers.insert(register, flight.data[0]);
            return fabric.finish(slot);
        }
        flight.data[0] = self.registers.get(&register).copied().unwrap_or(0);
        fabric.push_at(slot, 1, fabric.now + leads.csr);
    }

    #[inline]
    fn start_write(
        &mut self,
        waiting: QueuedCommand,
        fabric: &mut Fabric,
        leads: &Leads,
    ) -> Result<(), OutOfRange> {
        let slot = waiting.slot;
        let AddressRange { first, end } = waiting.concern;
        let count = end - first;
        self.use_write(fabric.now, count, leads);
        if !self.locks.is_empty() {
            self.update_locks(slot, fabric);
        }
        let flight = fabric.flight(slot);
        let data = &flight.data[..count as usize];
        let (first, mask) = (first as usize, flight.command.byte_mask);
        if count == 1 && mask & 15 != 15 {
            let new = data[0];
            self.memory.change(first, |old| masked(old, new, mask))?;
        } else {
            self.memory.write(first, data)?;
        }
        fabric.finish(slot);
        Ok(())
    }

    /// Updates the locks before a write changes longwords that may include some.
    #[cold]
    #[inline(never)]
    fn update_locks(&mut self, slot: CommandId, fabric: &mut Fabric) {
        let flight = fabric.flight(slot);
        let (command, data) = (&flight.command.clone(), flight.data);
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

    /// Starts a command on a Q-array entry.
    #[inline(never)]
    fn start_entry(
        &mut self,
        waiting: QueuedCommand,
        waited: Cycle,
        fabric: &mut Fabric,
        leads: &Leads,
    ) -> Result<(), OutOfRange> {
        use CommandOp as Op;
        let (now, slot) = (fabric.now, waiting.slot);
        let command = &fabric.flight(slot).command.clone();
        self.counters.started(command.op, moved(command), waited);
        let entry = waiting.concern.known_entry();
        let number = usize::from(entry);
        self.entry_free[number] = now + leads.same_entry;
        let count = words(command);
        let address = command.address & ADDRESS;
        let channel = self.number;
        let name = RingName::Sram { channel, entry };
        let before =
            (fabric.trace.wants(TraceEventKind::Written)).then(|| self.entries[number].clone());
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
                let tagged = me << 27 | u32::from(command.context % CONTEXTS) << 24 | address;
                let word = command.immediate.unwrap_or(tagged);
                self.entries[number].journal(&mut self.memory, &[word])?;
                fabric.finish(slot);
            }
            Op::SramWrQdesc | Op::SramWrQdescCount => {
                self.write_descriptor((slot, number), fabric, leads)?;
            }
            _ => self.read_descriptor((slot, number), fabric, leads)?,
        }
        if let Some(before) = before {
            self.trace_entry(&before, command, fabric);
        }
        Ok(())
    }

    /// Writes the descriptor of an entry to memory.
    #[inline(never)]
    fn write_descriptor(
        &mut self,
        (slot, number): (CommandId, usize),
        fabric: &mut Fabric,
        leads: &Leads,
    ) -> Result<(), OutOfRange> {
        let command = &fabric.flight(slot).command;
        let at = (command.address & ADDRESS) as usize;
        let mut fields = self.entries[number].descriptor();
        if command.op == CommandOp::SramWrQdescCount {
            fields[0] = None;
        }
        self.use_write(fabric.now, fields.iter().flatten().count() as u32, leads);
        for (place, field) in fields.into_iter().enumerate() {
            if let Some(word) = field {
                self.memory.set(at + place, word)?;
            }
        }
        fabric.finish(slot);
        Ok(())
    }

    /// Loads an entry from a descriptor in memory: head or tail with the total, which are also
    /// pushed to the microengine, or the remaining longword.
    #[inline(never)]
    fn read_descriptor(
        &mut self,
        (slot, number): (CommandId, usize),
        fabric: &mut Fabric,
        leads: &Leads,
    ) -> Result<(), OutOfRange> {
        let now = fabric.now;
        let command = &fabric.flight(slot).command;
        let (op, count) = (command.op, words(command));
        let at = (command.address & ADDRESS) as usize;
        let mut descriptor = [0; 3];
        self.memory.read(at, &mut descriptor)?;
        let [head, tail, total] = descriptor;
        let entry = &mut self.entries[number];
        if op == CommandOp::SramRdQdescOther {
            entry.load_other(head, tail);
            self.use_read(now, 1, leads);
            fabric.finish(slot);
            return Ok(());
        }
        let mut data = [0; 32];
        self.memory.read(at, &mut data[..count as usize])?;
        if op == CommandOp::SramRdQdescHead {
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
        Ok(())
    }
}

/// Number of longwords that a command moves.
#[inline]
fn moved(command: &BusCommand) -> u8 {
    if OpTraits::of(command.op).counts {
        words(command) as u8
    } else {
        1
    }
}
