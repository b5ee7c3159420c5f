//! The processor.

use serde::{Deserialize, Serialize};

use crate::bus::{Bus, ByteOrder};
use crate::exception::{Exception, Line, RunEnd, Step};
use crate::instruction::Instruction;
use crate::status::{F, I, Mode, T};
use crate::timing::Timing;

/// The processor: registers, status, coprocessor registers, and how far its pipeline is.
///
/// Equality and serialization leave out decoded code, which is read again from the bus.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cpu {
    registers: [u32; 16],
    pc: u32,
    cpsr: u32,
    spsr: u32,
    order: ByteOrder,
    timing: Timing,
    vectors: u32,
    cycles: u64,
    instructions: u64,
    irq: bool,
    fiq: bool,
}

impl Cpu {
    /// A processor at an entry (bit 0: Thumb), in supervisor mode with interrupts masked, registers 0, vectors at 0.
    #[must_use]
    pub fn new(entry: u32, order: ByteOrder, timing: Timing) -> Self {
        let thumb = if entry & 1 == 0 { 0 } else { T };
        Self {
            registers: [0; 16],
            pc: entry & !1,
            cpsr: Mode::Supervisor.bits() | I | F | thumb,
            spsr: 0,
            order,
            timing,
            vectors: 0,
            cycles: 0,
            instructions: 0,
            irq: false,
            fiq: false,
        }
    }

    /// Makes one instruction, or takes a pending interrupt.
    ///
    /// # Errors
    ///
    /// Where the bus refuses an access; nothing has changed then.
    pub fn step<B: Bus>(&mut self, bus: &mut B) -> Result<Step, B::Refusal> {
        let _ = bus;
        todo!()
    }

    /// Makes instructions until as many cycles are spent, or something happens; the cycles spent, which the last
    /// instruction may take beyond.
    pub fn run<B: Bus>(&mut self, bus: &mut B, cycles: u64) -> (u64, RunEnd<B::Refusal>) {
        let _ = (bus, cycles);
        todo!()
    }

    /// Sets an interrupt line, which stays so. An interrupt is taken before the next instruction, unless masked.
    pub fn interrupt(&mut self, line: Line, level: bool) {
        match line {
            Line::Irq => self.irq = level,
            Line::Fiq => self.fiq = level,
        }
    }

    /// Whether an interrupt line is set, masked or not, which ends waiting for an interrupt.
    #[must_use]
    pub fn interrupt_asserted(&self) -> bool {
        self.irq || self.fiq
    }

    /// Takes an exception at the instruction at PC, as after an access that the bus refused for good.
    pub fn take(&mut self, kind: Exception) {
        let _ = kind;
        todo!()
    }

    /// Takes a data abort at the instruction at PC: fault address and fault status can be read from CP15.
    pub fn data_abort(&mut self, address: u32, status: u32) {
        let _ = (address, status);
        todo!()
    }

    /// The address of the next instruction.
    #[must_use]
    pub fn pc(&self) -> u32 {
        self.pc
    }

    /// Sets the address of the next instruction; the state, ARM or Thumb, stays.
    pub fn set_pc(&mut self, address: u32) {
        self.pc = address;
    }

    /// A register of the present mode, 0 to 14, or 15: the address of the next instruction.
    ///
    /// # Panics
    ///
    /// If there is no such register.
    #[must_use]
    pub fn register(&self, number: usize) -> u32 {
        if number == 15 {
            self.pc
        } else {
            self.registers[number]
        }
    }

    /// Sets a register of the present mode, as [`Cpu::register`] reads it.
    ///
    /// # Panics
    ///
    /// If there is no such register.
    pub fn set_register(&mut self, number: usize, value: u32) {
        if number == 15 {
            self.set_pc(value);
        } else {
            self.registers[number] = value;
        }
    }

    /// A register as another mode sees it.
    ///
    /// # Panics
    ///
    /// If there is no such register.
    #[must_use]
    pub fn banked_register(&self, mode: Mode, number: usize) -> u32 {
        let _ = mode;
        self.register(number)
    }

    /// Sets a register as another mode sees it.
    ///
    /// # Panics
    ///
    /// If there is no such register.
    pub fn set_banked_register(&mut self, mode: Mode, number: usize, value: u32) {
        let _ = mode;
        self.set_register(number, value);
    }

    /// The current program status register.
    #[must_use]
    pub fn cpsr(&self) -> u32 {
        self.cpsr
    }

    /// Sets the current program status register with its mode and state.
    pub fn set_cpsr(&mut self, value: u32) {
        self.cpsr = value;
    }

    /// The saved program status register of the present mode; `None` in user and system mode.
    #[must_use]
    pub fn spsr(&self) -> Option<u32> {
        Some(self.spsr)
    }

    /// Sets the saved program status register of the present mode, if it has one.
    pub fn set_spsr(&mut self, value: u32) {
        self.spsr = value;
    }

    /// The present mode.
    #[must_use]
    pub fn mode(&self) -> Mode {
        Mode::from_bits(self.cpsr).unwrap_or(Mode::System)
    }

    /// Whether instructions are Thumb's.
    #[must_use]
    pub fn thumb(&self) -> bool {
        self.cpsr & T != 0
    }

    /// The byte order of Thumb instructions in longwords.
    #[must_use]
    pub fn byte_order(&self) -> ByteOrder {
        self.order
    }

    /// The instructions that were made, with those whose condition failed.
    #[must_use]
    pub fn instructions(&self) -> u64 {
        self.instructions
    }

    /// The core cycles that were spent, with those of [`Cpu::idle`].
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.cycles
    }

    /// Lets cycles pass that the processor waits.
    pub fn idle(&mut self, cycles: u64) {
        self.cycles += cycles;
    }

    /// Sets the address of the vectors, at first 0.
    pub fn set_vectors(&mut self, base: u32) {
        self.vectors = base;
    }

    /// Where the vectors are.
    #[must_use]
    pub fn vectors(&self) -> u32 {
        self.vectors
    }

    /// Forgets decoded code: what is executed next is read from the bus.
    pub fn forget_code(&mut self) {}

    /// The address that an access goes to. No memory management unit is modelled: addresses remain as they are,
    /// but for those below 32 MB, which the process number of CP15 moves.
    #[must_use]
    pub fn translate(&self, address: u32) -> u32 {
        address
    }

    /// The instruction at PC as it will be decoded, or why the bus does not give it.
    ///
    /// # Errors
    ///
    /// Where the bus refuses the code.
    pub fn next_instruction<B: Bus>(&self, bus: &mut B) -> Result<Instruction, B::Refusal> {
        let _ = bus;
        todo!()
    }
}
