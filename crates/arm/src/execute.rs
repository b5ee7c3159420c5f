//! Execution of instructions, one after another.

mod block;
mod branch;
mod data;
mod exceptions;
mod memory;
mod multiply;
mod status;

use crate::bus::Bus;
use crate::code::Pages;
use crate::cpu::Cpu;
use crate::exception::{Event, Exception, Line, RunEnd, Step, Unpredictable};
use crate::instruction::{Condition, Operation};
use crate::status::T;
use crate::system::PREDICTION;

/// What to check after an instruction.
#[derive(Clone, Copy)]
enum Outcome {
    /// Nothing.
    Next,
    /// The bus, since an access was made.
    Access,
    /// Events, and interrupts that may no longer be masked.
    Status,
}

/// For each condition, a mask of the flag combinations for which it holds.
const HOLDS: [u16; 16] = {
    let conditions = Condition::ALL;
    let mut table = [0; 16];
    let mut i = 0;
    while i < conditions.len() {
        let mut flags = 0;
        while flags < 16 {
            if conditions[i].holds(flags) {
                table[i] |= 1 << flags;
            }
            flags += 1;
        }
        i += 1;
    }
    table
};

impl Cpu {
    /// Executes one instruction, or takes a pending interrupt.
    ///
    /// # Errors
    ///
    /// Returns an error if the bus refuses an access; nothing has changed then. Cycles that the instruction has already
    /// waited are included in the next step.
    pub fn step<B: Bus>(&mut self, bus: &mut B) -> Result<Step, B::Refusal> {
        if !self.take_interrupt() {
            let mut code = self.code.take();
            let advanced = self.advance(bus, &mut code);
            self.keep_code(code);
            advanced?;
        }
        Ok(Step {
            cycles: self.account() as u32,
            event: self.event.take(),
        })
    }

    /// Executes instructions until the given number of cycles is spent, or until an event. Returns the cycles spent,
    /// which the last instruction may cause to exceed the limit.
    pub fn run<B: Bus>(&mut self, bus: &mut B, cycles: u64) -> (u64, RunEnd<B::Refusal>) {
        let end = self.accounted + cycles;
        let mut code = self.code.take();
        let ended = loop {
            if self.take_interrupt() {
                break None;
            }
            if let Some(ended) = self.run_until_status(bus, &mut code, end) {
                break Some(ended);
            }
            if self.forgets_code {
                self.forgets_code = false;
                *code = Pages::default();
            }
            if self.event.is_some() {
                break None;
            }
            if bus.ends_run() {
                break Some(RunEnd::Bus);
            }
        };
        self.keep_code(code);
        let spent = self.account();
        let ended = match (ended, self.event.take()) {
            (_, Some(event)) => RunEnd::Event(event),
            (Some(ended), None) => ended,
            (None, None) => RunEnd::CyclesSpent,
        };
        (spent, ended)
    }

    /// Runs the hot loop. Returns `None` if the status must be checked.
    fn run_until_status<B: Bus>(
        &mut self,
        bus: &mut B,
        code: &mut Pages,
        end: u64,
    ) -> Option<RunEnd<B::Refusal>> {
        while self.pipeline.cycles < end {
            match self.advance(bus, code) {
                Ok(Outcome::Next) => {}
                Ok(Outcome::Access) => {
                    if bus.ends_run() {
                        return Some(RunEnd::Bus);
                    }
                }
                Ok(Outcome::Status) => return None,
                Err(refusal) => return Some(RunEnd::AccessRefused(refusal)),
            }
        }
        Some(RunEnd::CyclesSpent)
    }

    /// Keeps decoded code, unless the program discarded it.
    fn keep_code(&mut self, code: Box<Pages>) {
        if self.forgets_code {
            self.forgets_code = false;
        } else {
            self.code.keep(code);
        }
    }

    /// Returns the cycles since the last accounting.
    fn account(&mut self) -> u64 {
        let spent = self.pipeline.cycles - self.accounted;
        self.accounted = self.pipeline.cycles;
        spent
    }

    /// Takes a due interrupt; returns whether there was one.
    fn take_interrupt(&mut self) -> bool {
        let Some(line) = self.interrupt_due() else {
            return false;
        };
        self.spend(1);
        self.except(
            match line {
                Line::Irq => Exception::Irq,
                Line::Fiq => Exception::Fiq,
            },
            0,
        );
        self.pc = self.next;
        true
    }

    /// Executes the instruction at PC.
    #[inline(always)]
    fn advance<B: Bus>(&mut self, bus: &mut B, code: &mut Pages) -> Result<Outcome, B::Refusal> {
        let pc = self.pc;
        if self.pipeline.enters_line(pc) {
            let cost = bus.enter_line(self.system.translate(pc));
            self.spend(cost);
        }
        let thumb = self.cpsr & T != 0;
        let decoded = code.fetch(bus, &self.system, pc, thumb, self.order)?;
        let size = if thumb { 2 } else { 4 };
        self.registers.set(15, pc.wrapping_add(2 * size));
        self.next = pc.wrapping_add(size);
        let outcome = if HOLDS[decoded.condition as usize & 15] >> (self.cpsr >> 28) & 1 != 0 {
            if self.pipeline.pending & decoded.uses != 0 {
                self.pipeline.wait(decoded.uses);
            }
            self.execute(bus, &decoded.operation)?
        } else {
            if let Operation::Branch { .. } = decoded.operation
                && self.system.control & PREDICTION != 0
                && !self.pipeline.predicted_correctly(pc, false)
            {
                self.spend_misprediction();
            }
            Outcome::Next
        };
        self.pipeline.cycles += 1;
        self.instructions += 1;
        self.pc = self.next;
        Ok(outcome)
    }

    #[inline(always)]
    fn spend(&mut self, cycles: u32) {
        self.pipeline.cycles += u64::from(cycles);
    }

    /// Spends the cycles of an instruction, less the one that every instruction takes.
    #[inline(always)]
    fn take_cycles(&mut self, cycles: u8) {
        self.spend(u32::from(cycles).saturating_sub(1));
    }

    #[inline(always)]
    fn execute<B: Bus>(
        &mut self,
        bus: &mut B,
        operation: &Operation,
    ) -> Result<Outcome, B::Refusal> {
        Ok(match *operation {
            Operation::Data {
                op,
                set: false,
                rd,
                rn,
                ref operand,
            } => self.data(op, rd, rn, operand),
            Operation::Data {
                op,
                set: true,
                rd,
                rn,
                ref operand,
            } => self.data_with_flags(op, rd, rn, operand),
            Operation::Load {
                width,
                rd,
                ref address,
                ..
            } => return self.load(bus, width, rd, address),
            Operation::Store {
                width,
                rd,
                ref address,
                ..
            } => return self.store(bus, width, rd, address),
            Operation::Branch { link, offset } => self.branch(link, offset),
            Operation::BranchExchange { link, rm } => self.branch_exchange(link, rm),
            Operation::LoadBlock(ref block) => return self.load_block(bus, block),
            Operation::StoreBlock(ref block) => return self.store_block(bus, block),
            Operation::Adr { rd, offset } => {
                let base = self.registers.get(15) & !3;
                self.registers.set(rd, base.wrapping_add(offset));
                Outcome::Next
            }
            Operation::LinkPrefix { offset } => {
                let value = self.registers.get(15).wrapping_add_signed(offset);
                self.registers.set(14, value);
                Outcome::Next
            }
            Operation::LinkSuffix { exchange, offset } => self.link_suffix(exchange, offset),
            Operation::Multiply {
                set,
                accumulate,
                rd,
                rn,
                rs,
                rm,
            } => self.multiply(set, accumulate.then_some(rn), rd, rs, rm),
            Operation::MultiplyLong {
                set,
                signed,
                accumulate,
                lo,
                hi,
                rs,
                rm,
            } => self.multiply_long(set, signed, accumulate, (lo, hi), rs, rm),
            Operation::MultiplyHalves {
                kind,
                x,
                y,
                rd,
                rn,
                rs,
                rm,
            } => self.multiply_halves(kind, (x, y), rd, rn, rs, rm),
            Operation::Saturate { op, rd, rn, rm } => self.saturate(op, rd, rn, rm),
            Operation::CountLeadingZeros { rd, rm } => {
                let value = self.registers.get(rm).leading_zeros();
                self.registers.set(rd, value);
                Outcome::Next
            }
            Operation::LoadDouble { rd, ref address } => return self.load_double(bus, rd, address),
            Operation::StoreDouble { rd, ref address } => {
                return self.store_double(bus, rd, address);
            }
            Operation::Preload { .. } => Outcome::Next,
            Operation::Swap { byte, rd, rm, rn } => return self.swap(bus, byte, rd, rm, rn),
            Operation::BranchToThumb { offset } => self.branch_to_thumb(offset),
            Operation::ReadStatus { saved, rd } => self.read_status(saved, rd),
            Operation::WriteStatus {
                saved,
                fields,
                ref operand,
            } => self.write_status(saved, fields, operand),
            Operation::SoftwareInterrupt { comment } => {
                self.except(Exception::SoftwareInterrupt, comment)
            }
            Operation::Breakpoint { comment } => {
                self.except(Exception::PrefetchAbort, u32::from(comment))
            }
            Operation::ReadCoprocessor { rd, register } => self.read_coprocessor(bus, rd, register),
            Operation::WriteCoprocessor { rd, register } => {
                self.write_coprocessor(bus, rd, register)
            }
            Operation::Unpredictable(why) => self.note(why),
            Operation::Undefined(word) => self.except(Exception::Undefined, word),
        })
    }

    /// Records that the instruction has an unpredictable effect.
    #[cold]
    fn note(&mut self, why: Unpredictable) -> Outcome {
        self.event = Some(Event::Unpredictable {
            why,
            address: self.pc,
        });
        Outcome::Status
    }
}
