//! Arrival of a command at a channel.

use npsim_isa::CommandOp;

use super::super::op_traits::{OpTraits, Pulls};
use super::{
    AddressRange, Channel, CommandFlags, QueuedCommand, entry_number, longword, mark_blocking,
    pulled_words,
};
use crate::kernel::fabric::{CommandId, Fabric};
use crate::units::sram::Leads;

impl Channel {
    /// Handles a command that has reached the inlet.
    ///
    /// Two out of three commands read memory, or read and write one longword of it. Knowing the
    /// kind beforehand leaves little to do for these, so the cases are separated here.
    #[inline]
    pub(crate) fn arrive(&mut self, slot: CommandId, fabric: &mut Fabric, leads: &Leads) {
        let command = &fabric.flight(slot).command;
        let first = longword(command.address);
        let count = u32::from(command.count);
        if command.op == CommandOp::SramRead && (1..=16).contains(&count) {
            let end = first + count;
            if end as usize <= self.memory.len() {
                return self.accept_read(slot, first, end, fabric, leads);
            }
        }
        let marks = OpTraits::of(command.op).marks;
        if marks.has(CommandFlags::ATOMIC) && (first as usize) < self.memory.len() {
            return self.accept_atomic(slot, first, fabric, leads);
        }
        if marks.has(CommandFlags::ENTRY) {
            return self.accept_entry_command(slot, fabric, leads);
        }
        self.accept_other(slot, fabric, leads);
    }

    #[inline(never)]
    fn accept_read(
        &mut self,
        slot: CommandId,
        first: u32,
        end: u32,
        fabric: &mut Fabric,
        leads: &Leads,
    ) {
        let waiting = QueuedCommand {
            concern: AddressRange { first, end },
            slot,
            marks: CommandFlags::READ,
        };
        self.accept::<true>(waiting, 0, fabric, leads);
    }

    #[inline(never)]
    fn accept_atomic(&mut self, slot: CommandId, first: u32, fabric: &mut Fabric, leads: &Leads) {
        let command = &fabric.flight(slot).command;
        let traits = OpTraits::of(command.op);
        let takes = traits.pulls == Pulls::Operand && command.immediate.is_none();
        let waiting = QueuedCommand {
            concern: AddressRange::one(first),
            slot,
            marks: traits
                .marks
                .among(CommandFlags::PUSHES, CommandFlags::EXCHANGE),
        };
        self.accept::<false>(waiting, takes.into(), fabric, leads);
    }

    #[inline(never)]
    fn accept_entry_command(&mut self, slot: CommandId, fabric: &mut Fabric, leads: &Leads) {
        let command = &fabric.flight(slot).command;
        let traits = OpTraits::of(command.op);
        let pulled = pulled_words(command, traits.pulls);
        let entry = entry_number(command.address);
        let waiting = QueuedCommand {
            concern: AddressRange::of_entry(entry),
            slot,
            marks: traits.marks.among(CommandFlags::NEEDS, CommandFlags::USE),
        };
        // With devices attached, the entry alone does not decide it.
        if usize::from(entry) < self.entries.len() && self.devices.is_empty() {
            self.accept::<true>(waiting, pulled, fabric, leads);
        } else {
            self.accept_outside(waiting, pulled, fabric, leads);
        }
    }

    #[inline(never)]
    fn accept_other(&mut self, slot: CommandId, fabric: &mut Fabric, leads: &Leads) {
        let command = &fabric.flight(slot).command;
        let traits = OpTraits::of(command.op);
        let pulled = pulled_words(command, traits.pulls);
        let waiting = QueuedCommand {
            concern: AddressRange::of(command, traits.names),
            slot,
            marks: traits.marks,
        };
        if self.has(waiting.concern) {
            self.accept::<false>(waiting, pulled, fabric, leads);
        } else {
            self.accept_outside(waiting, pulled, fabric, leads);
        }
    }

    /// Accepts a command that the channel can serve by itself. If its kind is `KNOWN`, little is
    /// left to do to start it, so the start is inlined; otherwise it is a separate call.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Most of it is decided at the call site.
    fn accept<const KNOWN: bool>(
        &mut self,
        mut waiting: QueuedCommand,
        pulled: u8,
        fabric: &mut Fabric,
        leads: &Leads,
    ) {
        let now = fabric.now;
        let fifo = waiting.fifo();
        // The inlet is empty as long as no FIFO can be full.
        if self.waiting.len() >= self.fifo_depth && self.must_stay_in_inlet(fifo) {
            return self.queue_held(waiting, fabric, leads);
        }
        if pulled != 0 {
            self.in_fifo[fifo] += 1;
            self.put(waiting, fabric);
            fabric.pull(waiting.slot, pulled, now + leads.write);
            fabric.release(self.target());
            if self.turn_at <= now {
                self.advance(0, fabric, leads);
            }
            return;
        }
        waiting.marks = waiting.marks.with(CommandFlags::READY, true);
        fabric.release(self.target());
        if self.turn_at <= now {
            return self.join(waiting, fabric, leads);
        }
        // Only the new command is checked here, before it joins those waiting.
        let free = self.free_at(waiting, fabric);
        let held_back = self.waiting.iter().any(|other| other.conflicts(waiting));
        if free <= now && !held_back {
            self.counters.count_immediate();
            if KNOWN {
                return self.start(waiting, 0, fabric, leads);
            }
            return self.start_outlined(waiting, fabric, leads);
        }
        self.in_fifo[fifo] += 1;
        if held_back {
            mark_blocking(&mut self.waiting, waiting.concern);
            return self.put(waiting, fabric);
        }
        waiting.marks = waiting.marks.with(CommandFlags::NO_OLDER_CONFLICT, true);
        self.put(waiting, fabric);
        self.schedule_turn_by(free, fabric);
    }

    /// Whether a command for a FIFO has to stay in the inlet: others are there, or the FIFO is
    /// full.
    #[inline(never)]
    fn must_stay_in_inlet(&self, fifo: usize) -> bool {
        let taken = self.in_fifo[0] + self.in_fifo[1];
        taken < self.waiting.len() || self.in_fifo[fifo] >= self.fifo_depth
    }

    /// Puts a ready command into its FIFO when others may start, too.
    #[inline(never)]
    fn join(&mut self, waiting: QueuedCommand, fabric: &mut Fabric, leads: &Leads) {
        self.in_fifo[waiting.fifo()] += 1;
        self.put(waiting, fabric);
        self.advance(0, fabric, leads);
    }

    /// Handles a command for something the channel does not have itself: a device, or an address
    /// where there is nothing.
    #[cold]
    #[inline(never)]
    fn accept_outside(
        &mut self,
        mut waiting: QueuedCommand,
        pulled: u8,
        fabric: &mut Fabric,
        leads: &Leads,
    ) {
        let slot = waiting.slot;
        match self.check(&fabric.flight(slot).command) {
            Ok(None) => self.accept::<false>(waiting, pulled, fabric, leads),
            Ok(Some(window)) => {
                waiting.concern = window.concern();
                waiting.marks = waiting.marks.with(CommandFlags::WINDOW, true);
                self.windows.push((slot, window));
                self.queue_held(waiting, fabric, leads);
            }
            Err((message, help)) => {
                fabric.release(self.target());
                fabric.fault(slot, None, message, Some(help));
                fabric.finish(slot);
            }
        }
    }

    /// Appends a command to those waiting.
    #[inline(always)]
    #[allow(clippy::inline_always)] // Part of its hot caller.
    fn put(&mut self, waiting: QueuedCommand, fabric: &mut Fabric) {
        fabric.flight_mut(waiting.slot).unit_scratch = fabric.now;
        self.waiting.push(waiting);
        self.counters.count_arrival(fabric.now);
    }

    /// Queues a command that stays in the inlet or is for a device.
    #[cold]
    #[inline(never)]
    fn queue_held(&mut self, waiting: QueuedCommand, fabric: &mut Fabric, leads: &Leads) {
        self.put(waiting, fabric);
        self.take_now(fabric, leads);
        self.advance_from(self.waiting.len() - 1, fabric, leads);
    }

    /// Whether the channel itself has the longwords or the register that a command concerns.
    #[inline]
    fn has(&self, concern: AddressRange) -> bool {
        // Registers are numbered after all memory.
        concern.end as usize <= self.memory.len() || concern.is_register()
    }
}
