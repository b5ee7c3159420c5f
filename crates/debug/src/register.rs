//! Registers by their hardware numbers.

use npsim_chip::kernel::fabric::TransferKind;
use npsim_image::TransferDirection as Side;
use npsim_isa::{Bank, Context, Operand};

/// The side of a transfer register: IN unless OUT is specified.
const fn transfer_side(side: Side) -> Side {
    match side {
        Side::Write => Side::Write,
        Side::Read | Side::Both => Side::Read,
    }
}

/// A register by its hardware number.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum PhysicalRegister {
    Gpr(Bank, u8),
    Transfer(TransferKind, Side, u8),
    Neighbour(u8),
}

impl PhysicalRegister {
    /// The register that an operand of a context refers to; `None` if it is not a register of a
    /// file.
    pub fn of(operand: Operand, side: Side, context: u8) -> Option<Self> {
        let own = |number: u8| Context::wrapping(context).absolute_register(number);
        Some(match operand {
            Operand::Gpr(bank, number) => Self::Gpr(bank, own(number)),
            Operand::GprAbsolute(bank, number) => Self::Gpr(bank, number),
            Operand::STransfer(number) => {
                Self::Transfer(TransferKind::S, transfer_side(side), own(number))
            }
            Operand::DTransfer(number) => {
                Self::Transfer(TransferKind::D, transfer_side(side), own(number))
            }
            Operand::Nn(number) => Self::Neighbour(number),
            _ => return None,
        })
    }
}
