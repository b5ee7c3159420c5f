//! The program status registers: flags, masks, state and mode.

use serde::{Deserialize, Serialize};

/// Negative.
pub const N: u32 = 1 << 31;
/// Zero.
pub const Z: u32 = 1 << 30;
/// Carry, or no borrow.
pub const C: u32 = 1 << 29;
/// Signed overflow.
pub const V: u32 = 1 << 28;
/// Saturation; sticky.
pub const Q: u32 = 1 << 27;
/// IRQ masked.
pub const I: u32 = 1 << 7;
/// FIQ masked.
pub const F: u32 = 1 << 6;
/// Thumb state.
pub const T: u32 = 1 << 5;
/// Mask of the mode bits.
pub const MODE: u32 = 0x1f;

/// The processor's mode, which determines the visible registers and the
/// privileges.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, Serialize, Deserialize)]
pub enum Mode {
    /// Unprivileged mode.
    User,
    /// Fast interrupt mode, with its own r8 to r14.
    Fiq,
    /// Interrupt mode.
    Irq,
    /// Supervisor mode, entered on reset and SWI.
    Supervisor,
    /// Abort mode.
    Abort,
    /// Undefined-instruction mode.
    Undefined,
    /// Privileged mode with the registers of user mode.
    System,
}

impl Mode {
    /// Returns the mode in the low five bits of a status register; `None` if
    /// they encode none.
    #[must_use]
    pub const fn from_bits(bits: u32) -> Option<Self> {
        Some(match bits & MODE {
            0x10 => Self::User,
            0x11 => Self::Fiq,
            0x12 => Self::Irq,
            0x13 => Self::Supervisor,
            0x17 => Self::Abort,
            0x1b => Self::Undefined,
            0x1f => Self::System,
            _ => return None,
        })
    }

    /// Returns the low five bits of a status register in this mode.
    #[must_use]
    pub const fn bits(self) -> u32 {
        match self {
            Self::User => 0x10,
            Self::Fiq => 0x11,
            Self::Irq => 0x12,
            Self::Supervisor => 0x13,
            Self::Abort => 0x17,
            Self::Undefined => 0x1b,
            Self::System => 0x1f,
        }
    }
}
