//! Status register and coprocessor instructions.

use super::Outcome;
use crate::bus::{Bus, CoprocessorEffect, CoprocessorRegister};
use crate::cpu::Cpu;
use crate::exception::{Event, Exception, Unpredictable};
use crate::instruction::Operand;
use crate::status::{C, MODE, Mode, N, Q, T, V, Z};

/// The implemented bits of a status register.
const IMPLEMENTED: u32 = N | Z | C | V | Q | 0xff;

impl Cpu {
    /// Sets CPSR, including mode and state. An invalid mode leaves the mode unchanged and is reported as an event.
    pub(crate) fn change_status(&mut self, value: u32) {
        let mut value = value & IMPLEMENTED;
        if let Some(mode) = Mode::from_bits(value) {
            self.registers.switch(mode);
        } else {
            value = value & !MODE | self.cpsr & MODE;
            self.note(Unpredictable::Mode);
        }
        self.cpsr = value;
    }

    /// Restores CPSR from SPSR, as at the end of an exception.
    pub(super) fn restore_status(&mut self) {
        if let Some(saved) = self.registers.saved_status() {
            self.change_status(saved);
        } else {
            self.note(Unpredictable::Mode);
        }
    }

    pub(super) fn read_status(&mut self, saved: bool, rd: u8) -> Outcome {
        let value = if saved {
            self.registers.saved_status()
        } else {
            Some(self.cpsr)
        };
        self.registers.set(rd, value.unwrap_or(self.cpsr));
        self.pipeline.result(rd, u32::from(self.timing.read_status));
        if value.is_some() {
            Outcome::Next
        } else {
            self.note(Unpredictable::Mode)
        }
    }

    pub(super) fn write_status(&mut self, saved: bool, fields: u8, operand: &Operand) -> Outcome {
        let (value, _) = self.operand(operand);
        let control = fields & 1 != 0;
        let mut mask = (0..4).fold(0, |mask, field| {
            mask | (u32::from(fields >> field & 1) * 0xff) << (8 * field)
        }) & IMPLEMENTED;
        self.take_cycles(if control {
            self.timing.write_status
        } else {
            self.timing.write_flags
        });
        if saved {
            let Some(old) = self.registers.saved_status() else {
                return self.note(Unpredictable::Mode);
            };
            self.registers.set_saved_status(old & !mask | value & mask);
            return Outcome::Next;
        }
        mask &= !T;
        if self.mode() == Mode::User {
            mask &= !0xff;
        }
        self.change_status(self.cpsr & !mask | value & mask);
        Outcome::Status
    }

    pub(super) fn read_coprocessor<B: Bus>(
        &mut self,
        bus: &mut B,
        rd: u8,
        register: CoprocessorRegister,
    ) -> Outcome {
        let cycles = self.pipeline.cycles;
        let value = self.may_use_coprocessors().then(|| {
            bus.coprocessor_read(register)
                .or_else(|| self.system.read(register, cycles))
        });
        let Some(value) = value.flatten() else {
            return self.no_coprocessor(rd, register, true);
        };
        self.take_cycles(self.timing.read_coprocessor);
        if rd == 15 {
            let flags = N | Z | C | V;
            self.cpsr = self.cpsr & !flags | value & flags;
        } else {
            self.registers.set(rd, value);
        }
        Outcome::Next
    }

    pub(super) fn write_coprocessor<B: Bus>(
        &mut self,
        bus: &mut B,
        rd: u8,
        register: CoprocessorRegister,
    ) -> Outcome {
        if !self.may_use_coprocessors() {
            return self.no_coprocessor(rd, register, false);
        }
        let value = self.registers.get(rd);
        let effect = if let Some(effect) = bus.coprocessor_write(register, value) {
            effect
        } else if let Some(written) = self.system.write(register, value, self.pipeline.cycles) {
            if written.forget_branches {
                self.pipeline.forget_branches();
            }
            if written.management {
                self.note(Unpredictable::MemoryManagement);
            }
            written.effect
        } else {
            return self.no_coprocessor(rd, register, false);
        };
        self.take_cycles(self.timing.write_coprocessor);
        match effect {
            CoprocessorEffect::Nothing => {}
            CoprocessorEffect::InvalidateCode => self.forgets_code = true,
            CoprocessorEffect::WaitForInterrupt => self.event = Some(Event::WaitForInterrupt),
        }
        Outcome::Status
    }

    fn may_use_coprocessors(&self) -> bool {
        self.mode() != Mode::User
    }

    /// Takes the undefined-instruction exception for a nonexistent coprocessor register.
    #[cold]
    fn no_coprocessor(&mut self, rd: u8, register: CoprocessorRegister, read: bool) -> Outcome {
        let field = |value: u8, low: u32| u32::from(value) << low;
        let word = 0xee00_0010
            | u32::from(read) << 20
            | field(register.opcode1, 21)
            | field(register.crn, 16)
            | field(rd, 12)
            | field(register.coprocessor, 8)
            | field(register.opcode2, 5)
            | field(register.crm, 0);
        self.except(Exception::Undefined, word)
    }
}
