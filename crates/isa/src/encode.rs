//! Encoding instructions to words.

mod control;
mod datapath;
mod memory;

pub(crate) use datapath::mul_type;
pub(crate) use memory::{TRANSFERS_PER_KIND, command_field};

use crate::{
    Bank, EncodeError, EncodeErrorKind, Format, Instruction, Operand, OperandRole, RESTRICTED,
    Role, Shift, ShiftControl, ShiftCount, Target, UNRESTRICTED,
    port::{self, PortOperand},
    raw::Field,
};

/// Encodes an instruction for the default [`Target`]: MEv2 with eight contexts.
///
/// # Errors
/// Returns an [`EncodeError`] that names the part no word can express.
pub fn encode(instruction: &Instruction) -> Result<u64, EncodeError> {
    encode_in(instruction, Target::default())
}

/// Encodes an instruction for a given target.
///
/// # Errors
/// Returns an [`EncodeError`] that names the part no word can express.
pub fn encode_in(instruction: &Instruction, target: Target) -> Result<u64, EncodeError> {
    if let Err(newer) = target.generation.check(instruction.row()) {
        return error(OperandRole::Whole, EncodeErrorKind::NotInGeneration(newer));
    }
    let contexts = target.contexts;
    match instruction {
        Instruction::Branch { .. }
        | Instruction::BranchCtx { .. }
        | Instruction::BranchSignal { .. }
        | Instruction::BranchInputState { .. }
        | Instruction::BranchBit { .. }
        | Instruction::BranchByte { .. }
        | Instruction::Jump { .. }
        | Instruction::CtxArb(_)
        | Instruction::LocalCsrRead { .. }
        | Instruction::LocalCsrWrite { .. } => control::encode(instruction),
        Instruction::Command(command) => memory::command(command, contexts),
        Instruction::CapFastWrite {
            csr,
            data,
            indirect,
        } => memory::cap_fast_write(*csr, *data, *indirect),
        Instruction::CapCsr(access) => memory::cap_csr(access, contexts),
        Instruction::Alu { .. }
        | Instruction::AluShf { .. }
        | Instruction::DblShf { .. }
        | Instruction::Asr { .. }
        | Instruction::ByteAlign { .. }
        | Instruction::LdField { .. }
        | Instruction::Immed { .. }
        | Instruction::ImmedByte { .. }
        | Instruction::ImmedWord { .. }
        | Instruction::Nop
        | Instruction::MulStep { .. }
        | Instruction::MulLast { .. }
        | Instruction::Unary { .. }
        | Instruction::CamClear
        | Instruction::CamLookup { .. }
        | Instruction::CamWrite { .. }
        | Instruction::CamWriteState { .. }
        | Instruction::Crc { .. } => datapath::encode(instruction),
    }
}

/// Returns a word of a format with only its match bits set.
fn blank(format: Format) -> u64 {
    format.info().match_value
}

fn error<T>(operand: OperandRole, kind: EncodeErrorKind) -> Result<T, EncodeError> {
    Err(EncodeError { operand, kind })
}

/// Returns `value` after a range check.
fn ranged(
    operand: OperandRole,
    value: impl Into<u32>,
    min: u32,
    max: u32,
) -> Result<u64, EncodeError> {
    let value = value.into();
    if (min..=max).contains(&value) {
        Ok(u64::from(value))
    } else {
        error(operand, EncodeErrorKind::OutOfRange { value, min, max })
    }
}

/// Places a number in a field, with a range check.
fn number(operand: OperandRole, value: impl Into<u32>, field: Field) -> Result<u64, EncodeError> {
    Ok(field.put(ranged(operand, value, 0, field.max() as u32)?))
}

/// Checks that the instruction does not have an operand.
fn absent(operand: OperandRole, value: Operand, reason: &'static str) -> Result<(), EncodeError> {
    if value == Operand::None {
        Ok(())
    } else {
        error(operand, EncodeErrorKind::Unexpected { reason })
    }
}

/// Checks that the instruction has a source.
fn present(part: PortOperand) -> Result<PortOperand, EncodeError> {
    if part.1 == Operand::None {
        error(part.0, EncodeErrorKind::Missing)
    } else {
        Ok(part)
    }
}

fn bank_bit(operand: Operand) -> u64 {
    u64::from(operand.bank() == Some(Bank::B))
}

/// Encodes an unrestricted destination.
fn wide_dest(operand: Operand) -> Result<u64, EncodeError> {
    port::code(&UNRESTRICTED, (OperandRole::Dest, operand), Role::Dest)
}

/// Encodes a restricted destination.
fn narrow_dest(operand: Operand) -> Result<u64, EncodeError> {
    port::code(&RESTRICTED, (OperandRole::Dest, operand), Role::Dest)
}

/// Returns the shift control and count. A left shift by n is stored as 32 - n.
fn shift_codes(shift: Shift) -> Result<(ShiftControl, u64), EncodeError> {
    let count = |n: u8| ranged(OperandRole::Shift, n, 1, 31);
    Ok(match shift {
        Shift::None => (ShiftControl::Rotate, 0),
        Shift::RotateRight(n) => (ShiftControl::Rotate, count(n)?),
        Shift::Right(n) => (ShiftControl::Right, count(n)?),
        Shift::Left(n) => (ShiftControl::Left, 32 - count(n)?),
        Shift::RightIndirect => (ShiftControl::Right, 0),
        Shift::LeftIndirect => (ShiftControl::Left, 0),
    })
}

/// Encodes the count field of `asr` and `dbl_shf`; zero means indirect.
fn count_code(count: ShiftCount) -> Result<u64, EncodeError> {
    match count {
        ShiftCount::By(n) => ranged(OperandRole::Shift, n, 1, 31),
        ShiftCount::Indirect => Ok(0),
    }
}
