//! Where the processor stands, by the registers that calls and returns change.

use npsim_arm::Cpu;

/// Registers that show calls and returns.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Frame {
    /// The stack pointer.
    pub stack: u32,
    /// The link register.
    pub link: u32,
    /// The current program status register.
    pub status: u32,
}

impl Frame {
    /// Those of a processor.
    #[must_use]
    pub fn of(cpu: &Cpu) -> Self {
        Self {
            stack: cpu.register(13),
            link: cpu.register(14),
            status: cpu.cpsr(),
        }
    }
}

/// An instruction that is about to be made.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Before {
    pub address: u32,
    pub number: u64,
    pub frame: Frame,
}

impl Before {
    pub fn of(cpu: &Cpu) -> Self {
        Self {
            address: cpu.pc(),
            number: cpu.instructions(),
            frame: Frame::of(cpu),
        }
    }
}
