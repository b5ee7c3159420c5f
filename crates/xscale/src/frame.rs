//! The processor's position in terms of the registers that calls and returns change.

use npsim_arm::Cpu;

/// The registers that reveal calls and returns.
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
    /// The frame of a processor.
    #[must_use]
    pub fn of(cpu: &Cpu) -> Self {
        Self {
            stack: cpu.register(13),
            link: cpu.register(14),
            status: cpu.cpsr(),
        }
    }
}

/// An instruction that is about to be executed.
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
