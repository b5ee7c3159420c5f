//! Exceptions and other events caused by instructions.

use std::fmt;

use serde::{Deserialize, Serialize};

use crate::status::Mode;

/// The reasons for a branch to a vector.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Exception {
    /// A word that is not an instruction, or one for a coprocessor that does not respond.
    Undefined,
    /// An SWI instruction.
    SoftwareInterrupt,
    /// Unreadable code, or a BKPT instruction.
    PrefetchAbort,
    /// A load or store that cannot be performed.
    DataAbort,
    /// The interrupt line.
    Irq,
    /// The fast interrupt line.
    Fiq,
}

impl Exception {
    /// Returns the offset of its vector from the base of the vectors, in bytes.
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

    /// Returns the mode that handles it.
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
    /// Normal interrupt.
    Irq,
    /// Fast interrupt.
    Fiq,
}

/// Behaviour that the architecture leaves unpredictable, and how it is treated here.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Unpredictable {
    /// A halfword at an odd address. The lowest bit of the address is ignored.
    UnalignedHalf,
    /// A doubleword at an address that is not a multiple of eight. The low two bits of the address are ignored.
    UnalignedDouble,
    /// An LDM or STM at an address that is not a multiple of four. The low two bits of the address are ignored.
    UnalignedBlock,
    /// A jump in ARM state to an address that is not a multiple of four. The low two bits of the address are ignored.
    UnalignedJump,
    /// Registers that the form does not allow, such as PC in a multiplication. The instruction has no effect.
    Registers,
    /// An invalid mode written to a status register, or SPSR used in a mode without one. The mode is unchanged, and
    /// SPSR reads as CPSR.
    Mode,
    /// The memory management unit was enabled. Addresses are not translated.
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

/// An event at an instruction, besides its normal effect.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Event {
    /// An exception was taken; the next instruction is that of its vector.
    Exception {
        /// The exception.
        kind: Exception,
        /// Address of the instruction that caused it, or of the one before which an interrupt was taken.
        address: u32,
        /// The undefined word (16 bits in Thumb state), or the number in an SWI or BKPT; 0 for others.
        word: u32,
    },
    /// The instruction before PC requested to wait for an interrupt. The caller must do the waiting, until
    /// [`Cpu::interrupt_asserted`](crate::Cpu::interrupt_asserted).
    WaitForInterrupt,
    /// The instruction had an unpredictable effect.
    Unpredictable {
        /// The unpredictable behaviour.
        why: Unpredictable,
        /// Address of the instruction.
        address: u32,
    },
}

/// The result of executing one instruction or taking one exception.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Step {
    /// The core cycles spent, including those of the bus.
    pub cycles: u32,
    /// The event, if there was one.
    pub event: Option<Event>,
}

/// The reason why [`Cpu::run`](crate::Cpu::run) returned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum RunEnd<R> {
    /// The cycles are spent; the last instruction may have exceeded them.
    CyclesSpent,
    /// The bus requested it ([`Bus::ends_run`](crate::Bus::ends_run)).
    Bus,
    /// The bus refused an access of the instruction at PC, which has had no effect.
    AccessRefused(R),
    /// The last instruction caused an event.
    Event(Event),
}
