//! Checks of rules that programs must obey.

use npsim_chip::core::signal_name_at;
use npsim_chip::kernel::check::{Check, Fault, WATCHDOG_CYCLES};
use npsim_chip::kernel::fabric::Fabric;
use npsim_chip::kernel::remote_access::RemoteAccess;
use npsim_isa::{Instruction, Operand, OperandRole, csr};

use crate::state::{Delayed, FileName};
use crate::{Reference, Stop};

impl Reference {
    /// Raises a fault at the current instruction, which continues if the user allows the check.
    pub(crate) fn report_check(
        &self,
        check: Check,
        message: String,
        fabric: &mut Fabric,
    ) -> Result<(), Stop> {
        let allowed = fabric.checks.is_allowed(check);
        fabric.checks.raise(self.fault(Some(check), message));
        if allowed { Ok(()) } else { Err(Stop::Fault) }
    }

    /// Raises a fault after which no chip could continue.
    pub(crate) fn fatal_fault(&self, message: String, fabric: &mut Fabric) -> Stop {
        fabric.checks.raise(self.fault(None, message));
        Stop::Fault
    }

    fn fault(&self, check: Option<Check>, message: String) -> Fault {
        Fault {
            check,
            cycle: self.state.cycle,
            me: Some(self.index),
            context: Some(self.state.running),
            pc: Some(self.state.pc),
            message,
            notes: Vec::new(),
            help: None,
            also: Vec::new(),
        }
    }

    /// Checks that the running context has not monopolized the pipeline for too long.
    pub(crate) fn check_watchdog(&mut self, fabric: &mut Fabric) -> Result<(), Stop> {
        if self.state.cycle < self.state.last_interaction.saturating_add(WATCHDOG_CYCLES) {
            return Ok(());
        }
        let message = format!(
            "context {} has run for {WATCHDOG_CYCLES} cycles without yielding, issuing a command or polling shared state",
            self.state.running
        );
        self.report_check(Check::NeverYields, message, fabric)?;
        self.state.last_interaction = self.state.cycle;
        Ok(())
    }

    /// Checks that no unit owns a transfer register that the program uses.
    pub(crate) fn check_unowned(
        &self,
        file: FileName,
        register: usize,
        fabric: &mut Fabric,
    ) -> Result<(), Stop> {
        if self.state.claims.iter().any(|it| it.covers(file, register)) {
            let message = format!(
                "{}{register} (absolute) is touched while a unit owns it",
                file.prefix()
            );
            self.report_check(Check::TransferInFlight, message, fabric)?;
        }
        Ok(())
    }

    /// Checks that a register to be read has been written before.
    pub(crate) fn check_written(
        &self,
        file: FileName,
        register: usize,
        fabric: &mut Fabric,
    ) -> Result<(), Stop> {
        if !self.state.file(file).is_written(register) {
            let message = format!(
                "{}{register} (absolute) is read, but nothing was ever written to it",
                file.prefix()
            );
            self.report_check(Check::UninitialisedRead, message, fabric)?;
        }
        Ok(())
    }

    /// Checks that no write of a local memory pointer is in flight when the pointer is used. If the
    /// current value was itself still in flight when the next one was written, the uses are
    /// pipelined, which is correct.
    pub(crate) fn check_pointer(&self, pointer: usize, fabric: &mut Fabric) -> Result<(), Stop> {
        let state = &self.state;
        let mut writes = state.late_writes.iter();
        let next = writes.find(|it| it.register == Delayed::Pointer(pointer as u8));
        if next.is_some_and(|it| state.pointer_since[pointer] <= it.issued) {
            let message = format!(
                "*l$index{pointer} is used before the write of LM_ADDR_{pointer} took effect"
            );
            self.report_check(Check::LocalMemoryEarly, message, fabric)?;
        }
        Ok(())
    }

    /// Checks that an instruction in a defer slot does not transfer control.
    pub(crate) fn check_not_in_slot(&self, fabric: &mut Fabric) -> Result<(), Stop> {
        if self.state.deferral.is_none() {
            return Ok(());
        }
        let message = "a control instruction takes effect in a defer slot of another";
        Err(self.fatal_fault(message.to_owned(), fabric))
    }

    /// Checks that control does not go to a defer slot.
    pub(crate) fn check_target(&self, target: u16, fabric: &mut Fabric) -> Result<(), Stop> {
        let before = (1..=3).filter_map(|back| Some((back, target.checked_sub(back)?)));
        let mut owners = before.filter(|&(back, at)| {
            let word = self.program.words().get(usize::from(at));
            matches!(word, Some(Ok(it)) if u16::from(it.defer()) >= back)
        });
        if let Some((_, owner)) = owners.next() {
            let message = format!(
                "control goes to address {target}, a defer slot of the instruction at {owner}"
            );
            self.report_check(Check::DeferSlotEntry, message, fabric)?;
        }
        Ok(())
    }

    /// Checks that signals are consumed before they are raised again.
    pub(crate) fn check_signals(&self, context: u8, mask: u16, fabric: &mut Fabric) {
        let again = self.state.contexts[usize::from(context)].signals & mask & !1;
        if again == 0 {
            return;
        }
        let pc = self.view(context).place();
        let signal = again.trailing_zeros() as u8;
        let twice = fabric.raised_twice((self.index, context, pc), signal, self.program.image());
        let (me, by, at) = twice.second;
        // The raising instruction determines the name, unless it is in another microengine, with
        // other names.
        let named_at = if me == self.index { at } else { pc };
        let names: Vec<_> = (1..16)
            .filter(|signal| again >> signal & 1 == 1)
            .map(|signal| signal_name_at(self.program.image(), signal, named_at))
            .collect();
        fabric.checks.raise(Fault {
            check: Some(Check::SignalRaisedTwice),
            cycle: fabric.now,
            me: Some(me),
            context: Some(by),
            pc: Some(at),
            message: format!(
                "{} of microengine {} context {context} is raised again before it was consumed",
                names.join(" and "),
                self.index
            ),
            notes: twice.notes,
            help: None,
            also: twice.also,
        });
    }
}

/// Whether an instruction yields, issues a command, reads state that others change, or has an
/// effect that others can see.
pub(crate) fn resets_watchdog(instruction: &Instruction) -> bool {
    match *instruction {
        Instruction::BranchSignal { .. }
        | Instruction::BranchInputState { .. }
        | Instruction::CtxArb(_)
        | Instruction::Command(_)
        | Instruction::CapFastWrite { .. }
        | Instruction::CapCsr(_) => true,
        Instruction::LocalCsrRead { csr } => SHARED_READS.contains(&csr),
        Instruction::LocalCsrWrite { csr, .. } => SHARED_WRITES.contains(&csr),
        other => other.register_operands().any(|(_, operand)| {
            matches!(operand, Operand::Nn(_) | Operand::NnPeek | Operand::NnRing)
        }),
    }
}

/// Whether an instruction reads transfer registers that other microengines fill, or writes those
/// that they read.
pub(crate) fn touches_exposed_registers(instruction: &Instruction, exposed: RemoteAccess) -> bool {
    let keeps_bytes = matches!(
        instruction,
        Instruction::LdField { clear: false, .. }
            | Instruction::ImmedByte { .. }
            | Instruction::ImmedWord { .. }
    );
    let RemoteAccess { incoming, outgoing } = exposed;
    instruction.register_operands().any(|(role, operand)| {
        let transfer = matches!(
            operand,
            Operand::STransfer(_)
                | Operand::DTransfer(_)
                | Operand::SIndexed(_)
                | Operand::DIndexed(_)
        );
        let written = role == OperandRole::Dest;
        transfer && (written && outgoing || (!written || keeps_bytes) && incoming)
    })
}

/// Registers that other microengines, or time, change.
const SHARED_READS: [u16; 10] = [
    csr::INDIRECT_CTX_STS,
    csr::INDIRECT_CTX_SIG_EVENTS,
    csr::ACTIVE_CTX_SIG_EVENTS,
    csr::INDIRECT_CTX_WAKEUP_EVENTS,
    csr::ACTIVE_CTX_WAKEUP_EVENTS,
    csr::NN_PUT,
    csr::NN_GET,
    csr::TIMESTAMP_LOW,
    csr::TIMESTAMP_HIGH,
    csr::PROFILE_COUNT,
];

/// Registers whose writes are visible to others.
const SHARED_WRITES: [u16; 17] = [
    csr::INDIRECT_CTX_STS,
    csr::INDIRECT_CTX_SIG_EVENTS,
    csr::ACTIVE_CTX_SIG_EVENTS,
    csr::INDIRECT_CTX_WAKEUP_EVENTS,
    csr::ACTIVE_CTX_WAKEUP_EVENTS,
    csr::NN_PUT,
    csr::NN_GET,
    csr::CTX_ENABLES,
    csr::INDIRECT_CTX_FUTURE_COUNT,
    csr::ACTIVE_CTX_FUTURE_COUNT,
    csr::INDIRECT_FUTURE_COUNT_SIGNAL,
    csr::ACTIVE_FUTURE_COUNT_SIGNAL,
    csr::TIMESTAMP_LOW,
    csr::TIMESTAMP_HIGH,
    csr::NEXT_NEIGHBOR_SIGNAL,
    csr::PREV_NEIGHBOR_SIGNAL,
    csr::SAME_ME_SIGNAL,
];
