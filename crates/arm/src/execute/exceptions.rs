//! Entry to exceptions.

use super::Outcome;
use crate::cpu::Cpu;
use crate::exception::{Event, Exception};
use crate::status::{F, I, MODE, T};
use crate::system::ALIGNMENT_FAULT;

impl Cpu {
    /// Takes an exception at the instruction at PC, for example after an access that the bus refused permanently. The
    /// next step executes the instruction at its vector.
    pub fn take(&mut self, kind: Exception) {
        self.spend(1);
        self.except(kind, 0);
        self.event = None;
        self.pc = self.next;
    }

    /// Takes a data abort at the instruction at PC, setting the fault address and fault status of CP15.
    pub fn data_abort(&mut self, address: u32, status: u32) {
        self.system.fault_address = address;
        self.system.fault_status = status;
        self.take(Exception::DataAbort);
    }

    /// Enters an exception at the instruction at PC.
    #[cold]
    pub(super) fn except(&mut self, kind: Exception, word: u32) -> Outcome {
        let size = if self.thumb() { 2 } else { 4 };
        let link = self.pc.wrapping_add(match kind {
            Exception::Undefined | Exception::SoftwareInterrupt => size,
            Exception::PrefetchAbort | Exception::Irq | Exception::Fiq => 4,
            Exception::DataAbort => 8,
        });
        let status = self.cpsr;
        let masks = if kind == Exception::Fiq { I | F } else { I };
        self.change_status(status & !(MODE | T) | masks | kind.mode().bits());
        self.registers.set_saved_status(status);
        self.registers.set(14, link);
        self.next = self.vectors().wrapping_add(kind.vector());
        self.take_cycles(self.timing.exception);
        self.event = Some(Event::Exception {
            kind,
            address: self.pc,
            word,
        });
        Outcome::Status
    }

    #[cold]
    pub(super) fn alignment_fault(&mut self, address: u32) -> Outcome {
        self.system.fault_address = address;
        self.system.fault_status = ALIGNMENT_FAULT;
        self.except(Exception::DataAbort, 0)
    }
}
