//! The processor's interface: registers, status and time.

use serde::{Deserialize, Serialize};

use crate::bus::{Bus, ByteOrder};
use crate::code::{self, Code};
use crate::exception::{Event, Line};
use crate::instruction::Instruction;
use crate::pipeline::Pipeline;
use crate::registers::Registers;
use crate::status::{F, I, Mode, T};
use crate::system::System;
use crate::timing::Timing;

/// The processor: registers, status, coprocessor registers, and the state of the pipeline.
///
/// Equality and serialization exclude decoded code, which is read again from the bus; a clone starts without it.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Cpu {
    pub(crate) registers: Registers,
    /// Address of the instruction about to be executed, or being executed.
    pub(crate) pc: u32,
    /// Address of the instruction after the one being executed.
    pub(crate) next: u32,
    pub(crate) cpsr: u32,
    pub(crate) order: ByteOrder,
    pub(crate) timing: Timing,
    vectors: u32,
    pub(crate) system: System,
    pub(crate) pipeline: Pipeline,
    /// Cycles already returned by `step` and `run`.
    pub(crate) accounted: u64,
    pub(crate) instructions: u64,
    irq: bool,
    fiq: bool,
    #[serde(skip)]
    pub(crate) code: Code,
    /// Whether the instruction being executed discards decoded code.
    #[serde(skip)]
    pub(crate) forgets_code: bool,
    /// The event at the instruction being executed, if any.
    #[serde(skip)]
    pub(crate) event: Option<Event>,
}

impl Cpu {
    /// Creates a processor at an entry point (bit 0: Thumb), in supervisor mode with interrupts masked, registers 0,
    /// vectors at 0, and caches and branch prediction enabled, as a boot monitor leaves them.
    #[must_use]
    pub fn new(entry: u32, order: ByteOrder, timing: Timing) -> Self {
        let thumb = if entry & 1 == 0 { 0 } else { T };
        Self {
            registers: Registers::new(Mode::Supervisor),
            pc: entry & !1,
            next: 0,
            cpsr: Mode::Supervisor.bits() | I | F | thumb,
            order,
            timing,
            vectors: 0,
            system: System::new(order == ByteOrder::Big),
            pipeline: Pipeline::new(),
            accounted: 0,
            instructions: 0,
            irq: false,
            fiq: false,
            code: Code::default(),
            forgets_code: false,
            event: None,
        }
    }

    /// Sets the level of an interrupt line, which persists. An interrupt is taken before the next instruction, unless
    /// masked.
    pub fn interrupt(&mut self, line: Line, level: bool) {
        match line {
            Line::Irq => self.irq = level,
            Line::Fiq => self.fiq = level,
        }
    }

    /// Whether any interrupt line is asserted, masked or not, which ends waiting for an interrupt.
    #[must_use]
    pub fn interrupt_asserted(&self) -> bool {
        self.irq || self.fiq
    }

    /// Returns the line whose interrupt is taken before the next instruction.
    #[must_use]
    pub fn interrupt_due(&self) -> Option<Line> {
        if self.fiq && self.cpsr & F == 0 {
            Some(Line::Fiq)
        } else if self.irq && self.cpsr & I == 0 {
            Some(Line::Irq)
        } else {
            None
        }
    }

    /// Returns the address of the next instruction.
    #[must_use]
    pub fn pc(&self) -> u32 {
        self.pc
    }

    /// Sets the address of the next instruction; the state, ARM or Thumb, is unchanged.
    pub fn set_pc(&mut self, address: u32) {
        self.pc = address & if self.thumb() { !1 } else { !3 };
    }

    /// Returns a register of the current mode, 0 to 14, or 15: the address of the next instruction.
    ///
    /// # Panics
    ///
    /// Panics if there is no such register.
    #[must_use]
    pub fn register(&self, number: usize) -> u32 {
        self.banked_register(self.mode(), number)
    }

    /// Sets a register of the current mode, numbered as for [`Cpu::register`].
    ///
    /// # Panics
    ///
    /// Panics if there is no such register.
    pub fn set_register(&mut self, number: usize, value: u32) {
        self.set_banked_register(self.mode(), number, value);
    }

    /// Returns a register as seen in another mode.
    ///
    /// # Panics
    ///
    /// Panics if there is no such register.
    #[must_use]
    pub fn banked_register(&self, mode: Mode, number: usize) -> u32 {
        if number == 15 {
            self.pc
        } else {
            self.registers.banked(mode, number)
        }
    }

    /// Sets a register as seen in another mode.
    ///
    /// # Panics
    ///
    /// Panics if there is no such register.
    pub fn set_banked_register(&mut self, mode: Mode, number: usize, value: u32) {
        if number == 15 {
            self.set_pc(value);
        } else {
            self.registers.set_banked(mode, number, value);
        }
    }

    /// Returns the current program status register.
    #[must_use]
    pub fn cpsr(&self) -> u32 {
        self.cpsr
    }

    /// Sets the current program status register, including mode and state. An invalid mode leaves the mode unchanged.
    pub fn set_cpsr(&mut self, value: u32) {
        self.change_status(value);
        self.event = None;
    }

    /// Returns the saved program status register of the current mode; `None` in user and system mode.
    #[must_use]
    pub fn spsr(&self) -> Option<u32> {
        self.registers.saved_status()
    }

    /// Sets the saved program status register of the current mode, if it has one.
    pub fn set_spsr(&mut self, value: u32) {
        self.registers.set_saved_status(value);
    }

    /// Returns the current mode.
    #[must_use]
    pub fn mode(&self) -> Mode {
        Mode::from_bits(self.cpsr).unwrap_or(Mode::System)
    }

    /// Whether the processor is in Thumb state.
    #[must_use]
    pub fn thumb(&self) -> bool {
        self.cpsr & T != 0
    }

    /// Returns the byte order, which locates Thumb instructions in longwords.
    #[must_use]
    pub fn byte_order(&self) -> ByteOrder {
        self.order
    }

    /// Returns the number of instructions executed, including those whose condition failed.
    #[must_use]
    pub fn instructions(&self) -> u64 {
        self.instructions
    }

    /// Returns the core cycles spent, including those of [`Cpu::idle`].
    #[must_use]
    pub fn cycles(&self) -> u64 {
        self.pipeline.cycles
    }

    /// Advances time by cycles in which the processor waits. Neither [`Cpu::step`] nor [`Cpu::run`] returns them.
    pub fn idle(&mut self, cycles: u64) {
        self.pipeline.cycles += cycles;
        self.accounted += cycles;
    }

    /// Sets the base address of the vectors, initially 0.
    pub fn set_vectors(&mut self, base: u32) {
        self.vectors = base;
    }

    /// Returns the base address of the vectors: the one set by [`Cpu::set_vectors`], or 0xffff0000 if the program
    /// selected high vectors in CP15.
    #[must_use]
    pub fn vectors(&self) -> u32 {
        self.system.high_vectors().unwrap_or(self.vectors)
    }

    /// Sets the latencies of the pipeline.
    pub fn set_timing(&mut self, timing: Timing) {
        self.timing = timing;
    }

    /// Discards decoded code, so that instructions are read from the bus again.
    pub fn forget_code(&mut self) {
        self.code = Code::default();
    }

    /// Returns the address that an access goes to. No memory management unit is modelled: addresses are unchanged,
    /// except that the process number of CP15 relocates those below 32 MB.
    #[must_use]
    pub fn translate(&self, address: u32) -> u32 {
        self.system.translate(address)
    }

    /// Returns the instruction at PC, decoded from what the bus holds there now.
    ///
    /// # Errors
    ///
    /// Returns an error if the bus refuses the code.
    pub fn next_instruction<B: Bus>(&self, bus: &mut B) -> Result<Instruction, B::Refusal> {
        code::decode(bus, &self.system, self.pc, self.thumb(), self.order)
    }
}
