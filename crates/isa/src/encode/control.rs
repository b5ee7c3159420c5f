//! Branch, jump, arbitration and local CSR words.

use super::{blank, error, number, present, ranged};
use crate::{
    Bank, BranchStage, BranchTest, Condition, CtxArb, EncodeError, EncodeErrorKind, Format,
    Instruction, Operand, OperandRole, Role, UNRESTRICTED,
    port::{self, PortOperand},
    raw, unused,
};

pub(super) fn encode(instruction: &Instruction) -> Result<u64, EncodeError> {
    let limit = u32::from(instruction.defer_limit());
    ranged(OperandRole::Defer, instruction.defer(), 0, limit)?;
    match *instruction {
        Instruction::Branch {
            condition,
            target,
            defer,
        } => {
            let stage = match condition {
                Condition::Always => BranchStage::Early,
                _ => BranchStage::Codes,
            };
            branch(condition.code(), 0, stage, target, defer)
        }
        Instruction::BranchCtx {
            equal,
            context,
            target,
            defer,
        } => {
            let context = ranged(OperandRole::Value, context, 0, 7)?;
            let test = BranchTest::ctx(equal);
            branch(test.code(), context, BranchStage::Early, target, defer)
        }
        Instruction::BranchSignal {
            set,
            signal,
            target,
            defer,
        } => {
            let signal = ranged(OperandRole::Signal, signal, 1, 15)?;
            let test = BranchTest::signal(set);
            branch(test.code(), signal, BranchStage::Late, target, defer)
        }
        Instruction::BranchInputState {
            set,
            state,
            target,
            defer,
        } => {
            let test = BranchTest::input(set);
            branch(
                test.code(),
                state.code().into(),
                BranchStage::Late,
                target,
                defer,
            )
        }
        Instruction::BranchBit {
            set,
            src,
            bit,
            target,
            defer,
        } => branch_bit(set, src, bit, target, defer),
        Instruction::BranchByte {
            equal,
            src,
            byte,
            value,
            target,
            defer,
        } => {
            use raw::br_byte;
            let (a, b, i8) = narrow_pair(src, value)?;
            Ok(blank(Format::BrByte)
                | number(OperandRole::Target, target, br_byte::TARGET)?
                | br_byte::DEFER.put(defer.into())
                | br_byte::EQUAL.put(equal.into())
                | br_byte::I8.put(i8.into())
                | number(OperandRole::Value, byte, br_byte::BYTE)?
                | br_byte::A.put(a)
                | br_byte::B.put(b))
        }
        Instruction::Jump { src, base, defer } => jump(src, base, defer),
        Instruction::CtxArb(arb) => ctx_arb(&arb),
        Instruction::LocalCsrRead { csr } => {
            use raw::local_csr;
            Ok(blank(Format::LocalCsr)
                | csr_number(csr)?
                | local_csr::B.put(unused::ALU_B.into())
                | local_csr::A.put(unused::ALU_A.into()))
        }
        Instruction::LocalCsrWrite { csr, src } => local_csr_write(csr, src),
        _ => error(
            OperandRole::Whole,
            EncodeErrorKind::Unexpected {
                reason: "not a control instruction",
            },
        ),
    }
}

fn branch(
    condition: u8,
    parameter: u64,
    stage: BranchStage,
    target: u16,
    defer: u8,
) -> Result<u64, EncodeError> {
    use raw::branch;
    Ok(blank(Format::Branch)
        | number(OperandRole::Target, target, branch::TARGET)?
        | branch::DEFER.put(defer.into())
        | branch::PARAMETER.put(parameter)
        | branch::STAGE.put(stage.code().into())
        | branch::CONDITION.put(condition.into()))
}

/// Places a register and the constant that shares the word with it: a bank-B
/// register goes to the B field, any other source to the A field. Returns A, B.
fn assign_fields<T>(src: Operand, register: T, constant: T) -> (T, T) {
    if src.bank() == Some(Bank::B) {
        (constant, register)
    } else {
        (register, constant)
    }
}

/// Checks the source of a branch or jump whose other field is already a
/// constant.
fn lone_source(src: Operand) -> Result<PortOperand, EncodeError> {
    if let Operand::Constant(_) = src {
        return error(OperandRole::Src, EncodeErrorKind::TwoConstants);
    }
    present((OperandRole::Src, src))
}

/// Returns the restricted A and B fields and the I8 bit for a source and a
/// constant.
fn narrow_pair(src: Operand, constant: u8) -> Result<(u64, u64, bool), EncodeError> {
    let (register, _) = port::narrow_source(lone_source(src)?, unused::SHF_A)?;
    let constant = (OperandRole::Value, Operand::Constant(constant));
    let (constant, i8) = port::narrow_source(constant, unused::SHF_A)?;
    let (a, b) = assign_fields(src, register, constant);
    Ok((a, b, i8))
}

fn branch_bit(
    set: bool,
    src: Operand,
    bit: u8,
    target: u16,
    defer: u8,
) -> Result<u64, EncodeError> {
    use raw::br_bit;
    let bit = ranged(OperandRole::Value, bit, 0, 31)?;
    // The word holds the number of the next bit, modulo 32.
    let (a, b, _) = narrow_pair(src, ((bit + 1) % 32) as u8)?;
    Ok(blank(Format::BrBit)
        | number(OperandRole::Target, target, br_bit::TARGET)?
        | br_bit::DEFER.put(defer.into())
        | br_bit::SET.put(set.into())
        | br_bit::A.put(a)
        | br_bit::B.put(b))
}

fn wide_constant(value: u8) -> Result<u64, EncodeError> {
    let part = (OperandRole::Value, Operand::Constant(value));
    port::code(&UNRESTRICTED, part, Role::Source)
}

fn jump(src: Operand, base: u16, defer: u8) -> Result<u64, EncodeError> {
    use raw::jump;
    let [high, low] = base.to_be_bytes();
    let largest = u32::from(u16::from_be_bytes([jump::BASE_HIGH.max() as u8, u8::MAX]));
    ranged(OperandRole::Target, base, 0, largest)?;
    let register = port::wide_source(lone_source(src)?, unused::ALU_A)?;
    let (a, b) = assign_fields(src, register, wide_constant(low)?);
    Ok(blank(Format::Jump)
        | jump::BASE_HIGH.put(high.into())
        | jump::DEFER.put(defer.into())
        | jump::A.put(a)
        | jump::B.put(b))
}

fn ctx_arb(arb: &CtxArb) -> Result<u64, EncodeError> {
    use raw::ctx_arb;
    let waits = arb.mask != 0 || arb.any;
    if (arb.breakpoint || arb.keep_mask) && waits || arb.breakpoint && arb.keep_mask {
        return error(
            OperandRole::Signal,
            EncodeErrorKind::Unexpected {
                reason: "`bpt` and `--` cannot be combined with signals",
            },
        );
    }
    if !(waits || arb.breakpoint || arb.keep_mask) {
        return error(OperandRole::Signal, EncodeErrorKind::Missing);
    }
    let resume = match arb.resume {
        None => 0,
        Some(address) => {
            number(OperandRole::Target, address, ctx_arb::RESUME)? | ctx_arb::RESUME_VALID.put(1)
        }
    };
    Ok(blank(Format::CtxArb)
        | resume
        | ctx_arb::DEFER.put(arb.defer.into())
        | ctx_arb::KEEP_MASK.put(arb.keep_mask.into())
        | ctx_arb::BREAKPOINT.put(arb.breakpoint.into())
        | ctx_arb::ANY.put(arb.any.into())
        | ctx_arb::MASK.put(arb.mask.into()))
}

fn csr_number(csr: u16) -> Result<u64, EncodeError> {
    if !csr.is_multiple_of(4) {
        let value = csr.into();
        return error(OperandRole::Csr, EncodeErrorKind::Unaligned { value });
    }
    let largest = raw::local_csr::CSR.max() as u32 * 4;
    ranged(OperandRole::Csr, csr, 0, largest)?;
    Ok(raw::local_csr::CSR.put(u64::from(csr / 4)))
}

fn local_csr_write(csr: u16, src: Operand) -> Result<u64, EncodeError> {
    use raw::local_csr;
    let part = present((OperandRole::Src, src))?;
    let register = port::wide_source(part, unused::ALU_A)?;
    let (a, b) = match src {
        // A constant goes in both fields.
        Operand::Constant(_) => (register, register),
        _ => assign_fields(src, register, u64::from(unused::ALU_B)),
    };
    Ok(blank(Format::LocalCsr)
        | csr_number(csr)?
        | local_csr::WRITE.put(1)
        | local_csr::A.put(a)
        | local_csr::B.put(b))
}
