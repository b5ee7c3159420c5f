//! Where operands are read and results go.

use npsim_isa::{Bank, Operand, Step};

use super::Reference;

impl Reference {
    pub(super) fn logical(&mut self, dest: Operand, a: u32, result: u32) {
        self.codes = [result >> 31 == 1, result == 0, false, false];
        self.store(dest, a, result);
    }

    pub(super) fn plain(&mut self, dest: Operand, value: u32) {
        self.store(dest, 0, value);
    }

    pub(super) fn store(&mut self, dest: Operand, a: u32, result: u32) {
        self.previous_a = a;
        self.previous_result = result;
        self.write(dest, result);
    }

    pub(super) fn place(&mut self, operand: Operand) -> usize {
        let (pointer, offset) = match operand {
            Operand::LocalMemory { pointer, offset } => (pointer as usize, offset as usize),
            Operand::LocalMemoryStep { pointer, step } => {
                self.pointer_steps[pointer as usize] = if step == Step::Increment { 1 } else { -1 };
                (pointer as usize, 0)
            }
            other => panic!("{other} is not in local memory"),
        };
        let place = self.pointers[pointer] | offset;
        self.outside |= place >= self.lm.len();
        if self.outside { 0 } else { place }
    }

    pub(super) fn index(&mut self, step: Step) -> usize {
        match step {
            Step::Keep => {}
            Step::Increment => self.index_step = 1,
            Step::Decrement => self.index_step = -1,
        }
        self.transfer_index
    }

    pub(super) fn read(&mut self, operand: Operand) -> u32 {
        match operand {
            Operand::None => 0,
            Operand::Gpr(Bank::A, n) | Operand::GprAbsolute(Bank::A, n) => self.a[n as usize],
            Operand::Gpr(Bank::B, n) | Operand::GprAbsolute(Bank::B, n) => self.b[n as usize],
            Operand::STransfer(n) => self.s_in[n as usize],
            Operand::DTransfer(n) => self.d_in[n as usize],
            Operand::SIndexed(step) => self.s_in[self.index(step)],
            Operand::DIndexed(step) => self.d_in[self.index(step)],
            Operand::LocalMemory { .. } | Operand::LocalMemoryStep { .. } => {
                let place = self.place(operand);
                self.lm[place]
            }
            Operand::Constant(value) => u32::from(value),
            other => panic!("the generator makes no {other}"),
        }
    }

    pub(super) fn write(&mut self, operand: Operand, value: u32) {
        match operand {
            Operand::None => {}
            Operand::Gpr(Bank::A, n) | Operand::GprAbsolute(Bank::A, n) => {
                self.a[n as usize] = value;
            }
            Operand::Gpr(Bank::B, n) | Operand::GprAbsolute(Bank::B, n) => {
                self.b[n as usize] = value;
            }
            Operand::STransfer(n) => self.s_out[n as usize] = value,
            Operand::DTransfer(n) => self.d_out[n as usize] = value,
            Operand::SIndexed(step) => {
                let index = self.index(step);
                self.s_out[index] = value;
            }
            Operand::DIndexed(step) => {
                let index = self.index(step);
                self.d_out[index] = value;
            }
            Operand::LocalMemory { .. } | Operand::LocalMemoryStep { .. } => {
                let place = self.place(operand);
                self.lm[place] = value;
            }
            other => panic!("the generator makes no {other}"),
        }
    }
}
