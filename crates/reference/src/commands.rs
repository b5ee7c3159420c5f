//! Commands to the units: from the instruction to the bus, with the transfer registers that a unit
//! owns until it has read or filled them.

use npsim_chip::core::Core;
use npsim_chip::kernel::fabric::{BusCommand, Fabric, Issue, TransferKind};
use npsim_chip::kernel::freelist_entry::{FreelistEntry, is_freelist};
use npsim_isa::{
    CapAccess, CapCsr, Command, CommandOp, Completion, SignalRule, TransferRegister, Unit, Words,
};

use crate::perform::ControlOutcome;
use crate::state::{Claim, FileName};
use crate::{Reference, Stop};

/// A command, as given by the instruction.
struct CommandRequest {
    op: CommandOp,
    transfer: TransferRegister,
    address: u32,
    count: u8,
    completion: Completion,
    indirect: bool,
    /// Immediate data carried in the command.
    immediate: Option<u32>,
}

/// Returns the file of transfer registers that units push to or pull from.
pub fn transfer_file(kind: TransferKind, incoming: bool) -> FileName {
    match (kind, incoming) {
        (TransferKind::S, true) => FileName::SIn,
        (TransferKind::D, true) => FileName::DIn,
        (TransferKind::S, false) => FileName::SOut,
        (TransferKind::D, false) => FileName::DOut,
    }
}

fn bus_kind(kind: npsim_isa::TransferKind) -> TransferKind {
    match kind {
        npsim_isa::TransferKind::S => TransferKind::S,
        npsim_isa::TransferKind::D => TransferKind::D,
    }
}

impl Reference {
    pub(crate) fn memory_command(
        &mut self,
        command: &Command,
        fabric: &mut Fabric,
    ) -> Result<ControlOutcome, Stop> {
        let a = self.read(command.a, fabric)?;
        let address = a.wrapping_add(self.read(command.b, fabric)?);
        // A fast write carries its data in the bits above the address.
        let fast = command.op == CommandOp::MsfFastWr;
        let request = CommandRequest {
            op: command.op,
            transfer: command.transfer,
            address: if fast { address % 0x1_0000 } else { address },
            count: command.count.max(1),
            completion: command.completion,
            indirect: command.indirect,
            immediate: fast.then_some(address / 0x1_0000),
        };
        self.issue(&request, fabric)
    }

    pub(crate) fn cap_fast_write(
        &mut self,
        csr: u16,
        data: u32,
        fabric: &mut Fabric,
    ) -> Result<ControlOutcome, Stop> {
        let request = CommandRequest {
            op: CommandOp::CapWrite,
            transfer: TransferRegister::None,
            address: csr.into(),
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
    ) -> Result<ControlOutcome, Stop> {
        let fast = access.access == CapAccess::FastWriteAlu;
        let request = CommandRequest {
            op: access.op(),
            transfer: access.transfer,
            address: access.csr.into(),
            count: access.count.max(1),
            completion: access.completion,
            indirect: access.indirect && !fast,
            immediate: fast.then_some(self.state.previous_result),
        };
        self.issue(&request, fabric)
    }

    fn issue(
        &mut self,
        request: &CommandRequest,
        fabric: &mut Fabric,
    ) -> Result<ControlOutcome, Stop> {
        if matches!(request.completion, Completion::CtxSwap { .. }) {
            self.check_not_in_slot(fabric)?;
        }
        let mut command = self.bus_command(request);
        if let Some(word) = command.indirect {
            self.override_with(word, &mut command, fabric)?;
            fabric.note_override(&command);
        }
        let info = request.op.info();
        let count = u32::from(command.count);
        let pulled = match command.immediate {
            Some(_) => 0,
            None => info.pull_words.of(count).min(32) as u8,
        };
        let pushed = info.push_words.of(count).min(32) as u8;
        set_signals(&mut command, request.completion, pulled, pushed);
        let own = command.transfer_me == self.index && request.transfer != TransferRegister::None;
        let claims = [(pulled, false), (pushed, true)].map(|(words, incoming)| Claim {
            file: transfer_file(command.transfer_kind, incoming),
            first: command.transfer,
            words,
        });
        if own {
            self.check_transfer(claims, fabric)?;
        }
        let target = match fabric.issue(self.state.cycle, &command) {
            Issue::Accepted(target) => target,
            Issue::Held => return Err(Stop::Held),
        };
        self.state.stats.references[target.index()] += 1;
        if own {
            let claims = claims.into_iter().filter(|claim| claim.words > 0);
            self.state.claims.extend(claims);
        }
        self.release_registers(&command, pulled, fabric);
        let Completion::CtxSwap { signal, defer } = request.completion else {
            return Ok(ControlOutcome::Next);
        };
        let raised = command.pull_signals | command.push_signals;
        self.waits_for(if raised == 0 { 1 << signal } else { raised }, false);
        Ok(ControlOutcome::Yield {
            defer,
            resume: None,
        })
    }

    /// Handles a command with immediate data or data from OUT registers. If it puts threads of this
    /// microengine on the freelists of the media interface, their registers are claimed.
    fn release_registers(&mut self, command: &BusCommand, pulled: u8, fabric: &Fabric) {
        let writes = matches!(
            command.op,
            CommandOp::MsfFastWr | CommandOp::MsfWrite | CommandOp::MsfWrite64
        );
        if !writes {
            return;
        }
        let file = transfer_file(command.transfer_kind, false);
        let values = &self.state.file(file).values;
        let registers = (0..pulled).map(|n| usize::from(command.transfer + n) % 128);
        let data = command.immediate.into_iter();
        let data = data.chain(registers.map(|register| values[register]));
        let addresses = (0..).map(|n| command.media_address().wrapping_add(4 * n));
        let to_lists = addresses.zip(data).filter(|(at, _)| is_freelist(*at));
        let waiters = to_lists.map(|(_, word)| FreelistEntry::from_register(word, &fabric.profile));
        let own: Vec<FreelistEntry> = waiters
            .flatten()
            .filter(|it| it.claimed_by_issuer(command))
            .collect();
        for waiter in own {
            self.claim_in_registers(TransferKind::S, waiter.absolute_register(), 2);
        }
    }

    /// Checks that data to be pulled has been written, and that registers to be filled are not
    /// waiting for another command's data.
    fn check_transfer(
        &self,
        [pulled, pushed]: [Claim; 2],
        fabric: &mut Fabric,
    ) -> Result<(), Stop> {
        let registers =
            |claim: Claim| (0..claim.words).map(move |n| usize::from(claim.first + n) % 128);
        for register in registers(pulled) {
            self.check_written(pulled.file, register, fabric)?;
        }
        for register in registers(pushed) {
            self.check_unowned(pushed.file, register, fabric)?;
        }
        Ok(())
    }

    fn bus_command(&self, request: &CommandRequest) -> BusCommand {
        let context = self.state.running;
        let (transfer_kind, register) = match request.transfer {
            TransferRegister::S(n) => (TransferKind::S, n),
            TransferRegister::D(n) => (TransferKind::D, n),
            TransferRegister::None => (bus_kind(request.op.info().default_transfer), 0),
        };
        BusCommand {
            op: request.op,
            me: self.index,
            context,
            pc: self.state.pc,
            address: request.address,
            count: request.count,
            transfer_me: self.index,
            transfer: (context * 16 + register) % 128,
            transfer_kind,
            signal_context: context,
            pull_signals: 0,
            push_signals: 0,
            byte_mask: 0xff,
            immediate: request.immediate,
            indirect: request.indirect.then_some(self.state.previous_result),
        }
    }

    /// Applies the override word of an `indirect_ref`.
    fn override_with(
        &self,
        word: u32,
        command: &mut BusCommand,
        fabric: &mut Fabric,
    ) -> Result<(), Stop> {
        let info = command.op.info();
        let is_set = |bit: u32| word >> bit & 1 == 1;
        let field = |from: u32, bits: u32| word >> from & ((1 << bits) - 1);
        if is_set(31) {
            let number = field(26, 5) as u8;
            let Some(me) = fabric.profile.index_of(number) else {
                let message = format!(
                    "the indirect_ref override names microengine 0x{number:02x}, which is not there"
                );
                return Err(self.fatal_fault(message, fabric));
            };
            command.transfer_me = me;
        }
        // The operand of an atomic command may be in the word itself, in place of count and byte
        // mask.
        let atomic = matches!(info.unit, Unit::Sram | Unit::Scratch)
            && info.pull_words == Words::One
            && command.op != CommandOp::SramCsrWr;
        let rides = atomic && is_set(25) && is_set(24) && is_set(20);
        if rides {
            command.immediate = Some(field(12, 8) | field(21, 3) << 8);
        } else if is_set(25) {
            command.count = field(21, 4) as u8 + 1;
        }
        if is_set(3) {
            command.signal_context = field(0, 3) as u8;
        }
        // For transfers between DRAM and the media buffers, the buffer's address takes the bits of
        // mask and register.
        if !matches!(command.op, CommandOp::DramRbufRd | CommandOp::DramTbufWr) {
            if is_set(20) && !rides {
                command.byte_mask = field(12, 8) as u8;
            }
            if is_set(11) {
                command.transfer = field(4, 7) as u8;
            }
        }
        Ok(())
    }
}

/// Sets the signals that a command raises with its pull and its push.
fn set_signals(command: &mut BusCommand, completion: Completion, pulled: u8, pushed: u8) {
    let signal = match completion {
        Completion::Silent => 0,
        Completion::SigDone(signal) | Completion::CtxSwap { signal, .. } => signal,
    };
    // A command that neither pulls nor pushes has nothing to signal.
    if signal == 0 || command.immediate.is_some() && pushed == 0 {
        return;
    }
    let (one, other) = (1 << signal, 1 << (signal | 1));
    let only_pulls = pulled != 0 && pushed == 0;
    let (on_pull, on_push) = match command.op.info().signals {
        SignalRule::None => (0, 0),
        SignalRule::Single if only_pulls => (one, 0),
        SignalRule::Single => (0, one),
        SignalRule::Pair if only_pulls => (one | other, 0),
        SignalRule::Pair => (0, one | other),
        SignalRule::PullPush if pulled != 0 => (one, other),
        SignalRule::PullPush | SignalRule::PushOdd => (0, other),
    };
    (command.pull_signals, command.push_signals) = (on_pull, on_push);
}
