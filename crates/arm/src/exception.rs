//! Exceptions and what else an instruction can lead to.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::status::Mode;

/// Why execution leaves its way for a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Exception {
    /// A word that is no instruction, or one of a coprocessor that does not answer.
    Undefined,
    /// SWI.
    SoftwareInterrupt,
    /// Code that cannot be read, or BKPT.
    PrefetchAbort,
    /// An access that cannot be made.
    DataAbort,
    /// The interrupt line.
    Irq,
    /// The fast interrupt line.
    Fiq,
}

impl Exception {
    /// Where its vector is, from the base of the vectors, in bytes.
    #[must_use]
    pub const fn vector(self) -> u32 {
        match self {
            Self::Undefined => 0x04,
            Self::SoftwareInterrupt => 0x08,
            Self::PrefetchAbort => 0x0c,
            Self::DataAbort => 0x10,
            Self::Irq => 0x18,
            Self::Fiq => 0x1c,
        }
    }

    /// The mode that handles it.
    #[must_use]
    pub const fn mode(self) -> Mode {
        match self {
            Self::Undefined => Mode::Undefined,
            Self::SoftwareInterrupt => Mode::Supervisor,
            Self::PrefetchAbort | Self::DataAbort => Mode::Abort,
            Self::Irq => Mode::Irq,
            Self::Fiq => Mode::Fiq,
        }
    }
}

/// An interrupt line of the processor.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Line {
    /// Interrupt.
    Irq,
    /// Fast interrupt.
    Fiq,
}

/// What the architecture leaves open, and what is done here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Unpredictable {
    /// A halfword at an odd address. The lowest bit of the address is ignored.
    UnalignedHalf,
    /// A doubleword at an address that is no multiple of eight. The low two bits of the address are ignored.
    UnalignedDouble,
    /// LDM or STM at an address that is no multiple of four. The low two bits of the address are ignored.
    UnalignedBlock,
    /// A jump in ARM state to an address that is no multiple of four. The low two bits of the address are ignored.
    UnalignedJump,
    /// Registers that the form does not allow, such as PC in a multiplication. Nothing is done.
    Registers,
    /// A status register given a mode that is none, or SPSR used in a mode that has none. The mode stays, SPSR
    /// reads as CPSR.
    Mode,
    /// The memory management unit was switched on. Addresses remain as they are.
    MemoryManagement,
}

impl fmt::Display for Unpredictable {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::UnalignedHalf => "an access to a halfword at an odd address",
            Self::UnalignedDouble => {
                "an access to a doubleword at an address that is no multiple of 8"
            }
            Self::UnalignedBlock => {
                "a load or store of several registers at an address that is no multiple of 4"
            }
            Self::UnalignedJump => "a jump in ARM state to an address that is no multiple of 4",
            Self::Registers => "registers that the instruction does not allow",
            Self::Mode => "a mode that is none, or SPSR in a mode that has none",
            Self::MemoryManagement => "the memory management unit, which is not modelled",
        })
    }
}

/// What happened at an instruction beside its own work.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Event {
    /// An exception was taken; the next instruction is that of its vector.
    Exception {
        /// Which.
        kind: Exception,
        /// The instruction that led to it, or the one before which an interrupt was taken.
        address: u32,
        /// The undefined word (in Thumb state 16 bits), the number that SWI or BKPT gives, 0 for others.
        word: u32,
    },
    /// The instruction before this PC asked to wait for an interrupt. Waiting is up to the caller, until
    /// [`Cpu::interrupt_asserted`](crate::Cpu::interrupt_asserted).
    WaitForInterrupt,
    /// The instruction did what the architecture leaves open.
    Unpredictable {
        /// What is open.
        why: Unpredictable,
        /// The instruction.
        address: u32,
    },
}

/// One instruction made, or one exception taken.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// The core cycles that it took, with those of the bus.
    pub cycles: u32,
    /// What happened beside.
    pub event: Option<Event>,
}

/// Why [`Cpu::run`](crate::Cpu::run) returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RunEnd<R> {
    /// The cycles are spent; the last instruction may have taken some more.
    Spent,
    /// The bus asked for it ([`Bus::ends_run`](crate::Bus::ends_run)).
    Bus,
    /// The bus refused an access of the instruction at PC, which has changed nothing.
    Refused(R),
    /// Something happened at the last instruction.
    Event(Event),
}
