//! Port assignment: which source operand is read through which port.
//!
//! Port A reads bank A and takes the A field of the word, port B reads bank B
//! and takes the B field. The *logical* operands are those of the source text.

use crate::{
    Bank, EncodeError, EncodeErrorKind, IndexStep, Operand, OperandForm, OperandRole, RESTRICTED,
    Role, UNRESTRICTED, Unencodable,
};

/// A logical operand and the part of the instruction that it is.
pub(crate) type PortOperand = (OperandRole, Operand);

/// Operands in port order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Ports {
    /// Read through port A.
    pub a: PortOperand,
    /// Read through port B.
    pub b: PortOperand,
    /// Whether the port order is the reverse of the logical order.
    pub swap: bool,
}

/// Internal read paths other than the two GPR banks.
#[derive(PartialEq)]
enum Path {
    STransfer,
    DTransfer,
    LocalMemory,
    NextNeighbour,
}

fn path(operand: Operand) -> Option<Path> {
    match operand {
        Operand::STransfer(_) | Operand::SIndexed(_) => Some(Path::STransfer),
        Operand::DTransfer(_) | Operand::DIndexed(_) => Some(Path::DTransfer),
        Operand::LocalMemory { .. } | Operand::LocalMemoryStep { .. } => Some(Path::LocalMemory),
        Operand::NnPeek | Operand::NnRing | Operand::Nn(_) => Some(Path::NextNeighbour),
        Operand::None | Operand::Gpr(..) | Operand::GprAbsolute(..) | Operand::Constant(_) => None,
    }
}

fn modifies_index(operand: Operand) -> bool {
    match operand {
        Operand::SIndexed(step) | Operand::DIndexed(step) => step != IndexStep::Keep,
        Operand::LocalMemoryStep { .. } | Operand::NnRing => true,
        _ => false,
    }
}

/// Assigns two logical operands to the ports. The order is swapped exactly if
/// the first is a bank-B register or the second a bank-A register.
pub(crate) fn assign(a: PortOperand, b: PortOperand) -> Result<Ports, EncodeError> {
    let conflict = |kind| EncodeError { operand: b.0, kind };
    if let (Some(first), Some(second)) = (a.1.bank(), b.1.bank())
        && first == second
    {
        return Err(conflict(EncodeErrorKind::BankConflict {
            bank: first,
            a: a.1,
            b: b.1,
        }));
    }
    if matches!((a.1, b.1), (Operand::Constant(_), Operand::Constant(_))) {
        return Err(conflict(EncodeErrorKind::TwoConstants));
    }
    let one_read = a.1 == b.1 && !modifies_index(a.1);
    if path(a.1).is_some() && path(a.1) == path(b.1) && !one_read {
        return Err(conflict(EncodeErrorKind::PathConflict { a: a.1, b: b.1 }));
    }
    let swap = a.1.bank() == Some(Bank::B) || b.1.bank() == Some(Bank::A);
    Ok(if swap {
        Ports { a: b, b: a, swap }
    } else {
        Ports { a, b, swap }
    })
}

fn form_error(
    part: OperandRole,
    operand: Operand,
    form: &'static str,
    role: Role,
    why: Unencodable,
) -> EncodeError {
    let kind = match why {
        _ if operand == Operand::None => EncodeErrorKind::Missing,
        Unencodable::Kind => EncodeErrorKind::NotInForm {
            operand,
            form,
            role,
        },
        Unencodable::Index { max } => EncodeErrorKind::NumberTooLarge { operand, form, max },
    };
    EncodeError {
        operand: part,
        kind,
    }
}

/// Returns the code of an operand in a form.
pub(crate) fn code(form: &OperandForm, part: PortOperand, role: Role) -> Result<u64, EncodeError> {
    let (part, operand) = part;
    form.encode(operand, role)
        .map(u64::from)
        .map_err(|why| form_error(part, operand, form.name, role, why))
}

/// Returns the code of an unrestricted source, or `unused` for `--`.
pub(crate) fn wide_source(part: PortOperand, unused: u16) -> Result<u64, EncodeError> {
    if part.1 == Operand::None {
        return Ok(u64::from(unused));
    }
    code(&UNRESTRICTED, part, Role::Source)
}

/// Returns the number of bits of a constant that the restricted form holds; one
/// further bit goes in the I8 bit of the instructions that have one.
fn narrow_constant_bits() -> u32 {
    RESTRICTED
        .rows
        .iter()
        .find(|row| row.kind == crate::OperandKind::Constant)
        .map_or(0, |row| row.index_mask.count_ones())
}

/// Returns the code of a restricted source and the I8 bit that extends it, or
/// `unused` for `--`.
pub(crate) fn narrow_source(part: PortOperand, unused: u16) -> Result<(u64, bool), EncodeError> {
    match part.1 {
        Operand::None => Ok((u64::from(unused), false)),
        Operand::Constant(value) => {
            let bits = narrow_constant_bits();
            let low = Operand::Constant(value & ((1 << bits) - 1) as u8);
            let code = code(&RESTRICTED, (part.0, low), Role::Source)?;
            Ok((code, value >> bits != 0))
        }
        _ => Ok((code(&RESTRICTED, part, Role::Source)?, false)),
    }
}

/// Restores the I8 bit of a constant in a restricted source.
pub(crate) fn with_i8(operand: Operand, i8: bool) -> Operand {
    match operand {
        Operand::Constant(low) if i8 => Operand::Constant(low | 1 << narrow_constant_bits()),
        _ => operand,
    }
}
