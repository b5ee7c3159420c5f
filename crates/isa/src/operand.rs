//! Operands: what an instruction reads or writes.
//!
//! One type serves sources and destinations; which operands are legal where is
//! a property of the instruction form (unrestricted or restricted), checked by
//! the encoder.

/// One of the two general-purpose register banks. An instruction reads at most
/// one register from each.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Bank {
    /// Bank A, read through the A port.
    A,
    /// Bank B, read through the B port.
    B,
}

/// Post-modification of an index, in registers or longwords, applied after the
/// instruction has written its result.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum IndexStep {
    /// Leaves the index unchanged.
    Keep,
    /// `++`
    Increment,
    /// `--`
    Decrement,
}

/// An operand with its physical register number.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Operand {
    /// `--`: no source, or a discarded result.
    None,
    /// `aN`/`bN`: context-relative general-purpose register, 0-31 (0-15 with
    /// eight contexts).
    Gpr(Bank, u8),
    /// `@aN`/`@bN`: absolute general-purpose register, 0-127.
    GprAbsolute(Bank, u8),
    /// `$N`: S transfer register (SRAM, scratch, MSF, CAP, hash), 0-31. A read
    /// takes the IN register, a write goes to the OUT register.
    STransfer(u8),
    /// `$$N`: D transfer register (DRAM), 0-31.
    DTransfer(u8),
    /// `*$index`: the S transfer register that T_INDEX names.
    SIndexed(IndexStep),
    /// `*$$index`: the D transfer register that T_INDEX names.
    DIndexed(IndexStep),
    /// `*l$indexP[n]`: local memory at (LM_ADDR_P >> 2) OR n, with n 0-15.
    LocalMemory {
        /// Which LM_ADDR, 0 or 1.
        pointer: u8,
        /// Longword offset 0-15, ORed into the pointer.
        offset: u8,
    },
    /// `*l$indexP++` or `*l$indexP--`; `step` is never [`IndexStep::Keep`].
    LocalMemoryStep {
        /// Which LM_ADDR, 0 or 1.
        pointer: u8,
        /// Direction of the post-modification.
        step: IndexStep,
    },
    /// `*n$index`: peeks at the next-neighbour ring (source only).
    NnPeek,
    /// `*n$index++`: gets from (source) or puts to (destination) the
    /// next-neighbour ring.
    NnRing,
    /// `n$N`: next-neighbour register, 0-31.
    Nn(u8),
    /// An immediate 0-255 (0-127 in memory commands); source only.
    Constant(u8),
}

impl Operand {
    /// Returns the bank that determines the port of this operand, if any.
    #[must_use]
    pub const fn bank(self) -> Option<Bank> {
        match self {
            Self::Gpr(bank, _) | Self::GprAbsolute(bank, _) => Some(bank),
            _ => None,
        }
    }
}
