//! Memory and I/O commands: from the instruction to the command on the bus.

use npsim_isa::{CapAccess, CapCsr, CommandOp, Completion, Context, TransferRegister, Unit, Words};

use crate::control::SlowOutcome;
use crate::microengine::{LoopExit, Microengine, slow};
use crate::registers::transfer_file;
use crate::scoreboard::Reservation;
use crate::template::{Swap, awaited, is_media_write, registers_of, signals_of, words_of};
use npsim_chip::kernel::fabric::{BusCommand, Fabric, Issue, TransferKind};
use npsim_chip::kernel::freelist_entry::{FreelistEntry, is_freelist};

/// A command as given by the instruction.
struct CommandRequest {
    op: CommandOp,
    transfer: TransferRegister,
    address: u32,
    count: u8,
    completion: Completion,
    indirect: bool,
    immediate: Option<u32>,
}

/// A command ready for the bus, and the longwords it moves.
struct Prepared {
    command: BusCommand,
    /// Whether it names transfer registers of this microengine.
    transfers: bool,
    pulled: u8,
    pushed: u8,
}

impl Prepared {
    /// Fills in the amount of data and the signals, which follow from the other fields.
    #[inline(always)]
    fn complete(&mut self, completion: Completion) {
        let command = &mut self.command;
        let info = command.op.info();
        let immediate = command.immediate.is_some();
        let words = words_of(info, command.count, immediate);
        (self.pulled, self.pushed) = words;
        (command.pull_signals, command.push_signals) =
            signals_of(info, completion, words, immediate);
    }
}

/// The signals awaited by a context that yields the pipeline with a command, and the number of
/// defer slots before it does.
fn swap_of(command: &BusCommand, completion: Completion) -> Option<(u16, Swap)> {
    let Completion::CtxSwap { signal, defer } = completion else {
        return None;
    };
    let mask = awaited(command.pull_signals, command.push_signals, signal);
    Some((mask, Swap::after(defer)))
}

impl Microengine {
    pub(crate) fn cap_fast_write(
        &mut self,
        csr: u16,
        data: u32,
        fabric: &mut Fabric,
    ) -> Result<SlowOutcome, LoopExit> {
        let request = CommandRequest {
            op: CommandOp::CapWrite,
            transfer: TransferRegister::None,
            address: u32::from(csr),
            count: 1,
            completion: Completion::Silent,
            indirect: false,
            immediate: Some(data),
        };
        self.issue(&request, fabric)
    }

    pub(crate) fn cap_csr(
        &mut self,
        access: &CapCsr,
        fabric: &mut Fabric,
    ) -> Result<SlowOutcome, LoopExit> {
        let fast = access.access == CapAccess::FastWriteAlu;
        let request = CommandRequest {
            op: access.op(),
            transfer: access.transfer,
            address: u32::from(access.csr),
            count: access.count.max(1),
            completion: access.completion,
            indirect: access.indirect && !fast,
            immediate: fast.then_some(self.datapath.previous_result),
        };
        self.issue(&request, fabric)
    }

    /// Issues a command that is complete except for its address. Returns the defer slots before the
    /// context yields the pipeline, if it does.
    #[inline(always)]
    pub(crate) fn template_command(
        &mut self,
        number: u32,
        address: u32,
        fabric: &mut Fabric,
    ) -> Result<Option<Swap>, LoopExit> {
        let bound_program = &self.bound[self.datapath.context.index()];
        let bound = bound_program.command(number);
        let (out, into) = (&bound.pulled, &bound.pushed);
        // A command that moves nothing has empty masks, for which these checks pass.
        let clear = u64::from(address) >= bound.fast_from
            && self.initialised.has_all(out.here)
            && !self.scoreboard.any_reserved(out.here)
            && !self.scoreboard.any_reserved(into.here)
            && (self.slow & slow::DEFER == 0 || bound.swap.is_none());
        if !clear {
            return self.command_slow(number, address, fabric);
        }
        let target = fabric.buses.target_of(bound.unit, address);
        if !fabric.try_issue(self.cycle, &bound.command, (target, address)) {
            return Err(LoopExit::Held);
        }
        for moved in [out, into] {
            self.scoreboard.reserve_range(moved, self.cycle);
        }
        self.stats.references[target.index()] += 1;
        let Some((mask, swap)) = bound.swap else {
            return Ok(None);
        };
        self.waits_for(mask, false);
        Ok(Some(swap))
    }

    /// [`Self::template_command`] if its registers or position may be invalid, if the registers are
    /// not bits of a single word, or if more than the address is unresolved.
    #[inline(never)]
    fn command_slow(
        &mut self,
        number: u32,
        address: u32,
        fabric: &mut Fabric,
    ) -> Result<Option<Swap>, LoopExit> {
        let bound = self.bound_program().command(number);
        if bound.carries_data() {
            return self.fast_write(number, address, fabric);
        }
        if bound.swap.is_some() {
            self.refuse_in_slot(fabric)?;
        }
        let bound = self.bound_program().command(number);
        let mut prepared = Prepared {
            command: BusCommand {
                address,
                ..bound.command
            },
            transfers: bound.transfers,
            pulled: bound.pulled.reservation.words,
            pushed: bound.pushed.reservation.words,
        };
        let (mut swap, open, completion) = (bound.swap, bound.open, bound.completion);
        if open.data {
            prepared.command.address = address & 0xffff;
            prepared.command.immediate = Some(address >> 16);
        }
        if open.overridden {
            self.complete_with_override(&mut prepared, completion, fabric)?;
            swap = swap_of(&prepared.command, completion);
        }
        self.send_off(&prepared, swap, fabric)?;
        Ok(swap.map(|(_, swap)| swap))
    }

    /// Issues a command that carries its data above its address and moves no other data.
    fn fast_write(
        &mut self,
        number: u32,
        address: u32,
        fabric: &mut Fabric,
    ) -> Result<Option<Swap>, LoopExit> {
        let bound = self.bound_program().command(number);
        let command = BusCommand {
            immediate: Some(address >> 16),
            ..bound.command
        };
        let address = address & 0xffff;
        let target = fabric.buses.target_of(bound.unit, address);
        if !fabric.try_issue(self.cycle, &command, (target, address)) {
            return Err(LoopExit::Held);
        }
        if is_freelist(address) {
            self.reserve_for_waiter(&command, command.fast_data(), fabric);
        }
        self.stats.references[target.index()] += 1;
        Ok(None)
    }

    /// Records the issue of a command that writes longwords to the media interface, either from OUT
    /// registers, which must not change until they are taken, or as data carried by the command.
    #[inline(never)]
    fn reserve_for_media(&mut self, command: &BusCommand, pulled: u8, fabric: &Fabric) {
        let address = command.media_address();
        if let Some(data) = command.immediate.filter(|_| is_freelist(address)) {
            return self.reserve_for_waiter(command, data, fabric);
        }
        let out = transfer_file(command.transfer_kind, false);
        for n in 0..u16::from(pulled) {
            if is_freelist(address.wrapping_add(4 * u32::from(n))) {
                let register = (u16::from(command.transfer) + n) % 128;
                self.reserve_for_waiter(command, self.datapath.get(out + register), fabric);
            }
        }
    }

    /// Records the issue of a command that writes a word to a freelist. If the thread belongs to
    /// this microengine, its IN registers belong to the media interface from now on.
    fn reserve_for_waiter(&mut self, command: &BusCommand, word: u32, fabric: &Fabric) {
        let waiter = FreelistEntry::from_register(word, &fabric.profile);
        let Some(waiter) = waiter.ok().filter(|it| it.claimed_by_issuer(command)) else {
            return;
        };
        let first = transfer_file(TransferKind::S, true) + u16::from(waiter.absolute_register());
        let by = (command.context, command.pc);
        self.scoreboard
            .add(Reservation::new(command.op, (first, 2), by, self.cycle));
    }

    /// Applies the override word, which also determines the amount of data.
    #[inline(always)]
    fn complete_with_override(
        &mut self,
        prepared: &mut Prepared,
        completion: Completion,
        fabric: &mut Fabric,
    ) -> Result<(), LoopExit> {
        let command = &mut prepared.command;
        let word = self.datapath.previous_result;
        command.indirect = Some(word);
        self.override_with(word, command, fabric)?;
        fabric.note_override(command);
        prepared.complete(completion);
        Ok(())
    }

    #[inline(never)]
    fn issue(
        &mut self,
        request: &CommandRequest,
        fabric: &mut Fabric,
    ) -> Result<SlowOutcome, LoopExit> {
        if matches!(request.completion, Completion::CtxSwap { .. }) {
            self.refuse_in_slot(fabric)?;
        }
        let prepared = self.bus_command(request, fabric)?;
        let swap = swap_of(&prepared.command, request.completion);
        self.send_off(&prepared, swap, fabric)
    }

    /// Hands a command over to the fabric; `swap` holds the signals to wait for and the number of
    /// defer slots if the context yields the pipeline.
    #[inline(always)]
    fn send_off(
        &mut self,
        prepared: &Prepared,
        swap: Option<(u16, Swap)>,
        fabric: &mut Fabric,
    ) -> Result<SlowOutcome, LoopExit> {
        if self.uses_own_registers(prepared) {
            let words = (prepared.pulled, prepared.pushed);
            self.check_each_transfer(&prepared.command, words, fabric)?;
        }
        let target = match fabric.issue(self.cycle, &prepared.command) {
            Issue::Accepted(target) => target,
            Issue::Held => return Err(LoopExit::Held),
        };
        self.stats.references[target.index()] += 1;
        self.reservation(prepared);
        if is_media_write(prepared.command.op) {
            self.reserve_for_media(&prepared.command, prepared.pulled, fabric);
        }
        Ok(self.sent(swap))
    }

    /// Continues after a command that was handed over; `swap` as for [`send_off`](Self::send_off).
    #[inline]
    fn sent(&mut self, swap: Option<(u16, Swap)>) -> SlowOutcome {
        let Some((mask, swap)) = swap else {
            return SlowOutcome::Sequential;
        };
        self.waits_for(mask, false);
        SlowOutcome::Swap {
            defer: swap.slots(),
            resume: None,
        }
    }

    /// Whether a command uses transfer registers of this microengine.
    fn uses_own_registers(&self, prepared: &Prepared) -> bool {
        prepared.transfers && prepared.command.transfer_me == self.index
    }

    /// Checks that data to be pulled has been written, and that registers to be filled are not
    /// waiting for another command's data.
    fn check_each_transfer(
        &mut self,
        command: &BusCommand,
        (pulled, pushed): (u8, u8),
        fabric: &mut Fabric,
    ) -> Result<(), LoopExit> {
        let slots = |incoming: bool, words: u8| {
            let first = transfer_file(command.transfer_kind, incoming);
            let register = u16::from(command.transfer);
            (0..u16::from(words)).map(move |i| usize::from(first + (register + i) % 128))
        };
        for slot in slots(false, pulled) {
            if !self.initialised.has(slot) {
                self.uninitialised(slot, fabric)?;
            }
        }
        for slot in slots(true, pushed) {
            self.check_free(slot, fabric)?;
        }
        Ok(())
    }

    /// Reserves the registers for the unit until it has read or filled them.
    fn reservation(&mut self, prepared: &Prepared) {
        if !self.uses_own_registers(prepared) {
            return;
        }
        let command = &prepared.command;
        for (words, incoming) in [(prepared.pulled, false), (prepared.pushed, true)] {
            if words != 0 {
                let file = transfer_file(command.transfer_kind, incoming);
                let slots = (file + u16::from(command.transfer), words);
                let by = (command.context, command.pc);
                self.scoreboard
                    .add(Reservation::new(command.op, slots, by, self.cycle));
            }
        }
    }

    fn bus_command(
        &mut self,
        request: &CommandRequest,
        fabric: &mut Fabric,
    ) -> Result<Prepared, LoopExit> {
        let context = self.datapath.context;
        let (kind, register) = registers_of(request.op.info(), request.transfer);
        let command = BusCommand {
            me: self.index,
            context: context.number(),
            pc: self.pc,
            address: request.address,
            count: request.count.max(1),
            transfer_me: self.index,
            transfer: context.absolute_register(register),
            signal_context: context.number(),
            immediate: request.immediate,
            ..BusCommand::blank(request.op, kind)
        };
        let mut prepared = Prepared {
            command,
            transfers: request.transfer != TransferRegister::None,
            pulled: 0,
            pushed: 0,
        };
        if request.indirect {
            self.complete_with_override(&mut prepared, request.completion, fabric)?;
        } else {
            prepared.complete(request.completion);
        }
        Ok(prepared)
    }

    /// Applies an `indirect_ref` override word, the result of the previous instruction. Each set
    /// enable bit replaces a field of the instruction:
    ///
    /// ```text
    ///  31 30   26 25 24   21 20 19     12 11 10     4  3  2    0
    /// +--+-------+--+-------+--+---------+--+--------+--+-------+
    /// |en|  ME   |en| count |en|byte mask|en|register|en|context|
    /// +--+-------+--+-------+--+---------+--+--------+--+-------+
    /// ```
    ///
    /// - ME: the microengine whose transfer registers are used; count: longwords minus one;
    ///   register: absolute number of the first; context: the one that receives the signals.
    /// - An atomic operation with bits 25, 24 and 20 carries eleven bits of data in the count and
    ///   byte mask fields and pulls nothing.
    /// - DRAM transfers to and from RBUF and TBUF have the buffer's address in the byte mask and
    ///   register fields; `units/dram.rs` takes it from the word itself (`BusCommand::indirect`).
    ///
    /// The reference core decodes the same word in `crates/reference/src/commands.rs`.
    fn override_with(
        &mut self,
        word: u32,
        command: &mut BusCommand,
        fabric: &mut Fabric,
    ) -> Result<(), LoopExit> {
        let info = command.op.info();
        let bit = |n: u32| word & 1 << n != 0;
        if bit(31) {
            let number = (word >> 26 & 31) as u8;
            let Some(me) = fabric.profile.index_of(number) else {
                return Err(self.no_microengine(number, fabric));
            };
            command.transfer_me = me;
        }
        let atomic = matches!(info.unit, Unit::Sram | Unit::Scratch)
            && info.pull_words == Words::One
            && command.op != CommandOp::SramCsrWr;
        let no_pull = atomic && bit(25) && bit(24) && bit(20);
        if no_pull {
            // Eleven bits of data replace the count and the byte mask.
            command.immediate = Some(word >> 12 & 0xff | (word >> 21 & 7) << 8);
        } else if bit(25) {
            command.count = (word >> 21 & 15) as u8 + 1;
        }
        if bit(3) {
            command.signal_context = Context::wrapping(word as u8).number();
        }
        let buffers = matches!(command.op, CommandOp::DramRbufRd | CommandOp::DramTbufWr);
        if buffers {
            // The buffer address occupies the bits of mask and register.
            return Ok(());
        }
        if bit(20) && !no_pull {
            command.byte_mask = (word >> 12) as u8;
        }
        if bit(11) {
            command.transfer = (word >> 4 & 127) as u8;
        }
        Ok(())
    }
}
