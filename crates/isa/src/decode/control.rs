//! Branch, jump, arbitration and local CSR words.

use super::RawWord;
use crate::{
    Bank, BranchTest, Condition, CtxArb, DecodeError, DecodeReason, InputState, Instruction,
    Operand, Role, raw,
};

pub(super) fn branch(word: RawWord) -> Result<Instruction, DecodeError> {
    use raw::branch;
    let target = word.get(branch::TARGET) as u16;
    let defer = word.byte(branch::DEFER);
    let parameter = word.byte(branch::PARAMETER);
    let code = word.byte(branch::CONDITION);
    if let Some(condition) = Condition::from_code(code) {
        return Ok(Instruction::Branch {
            condition,
            target,
            defer,
        });
    }
    let test = word.defined(branch::CONDITION, BranchTest::from_code(code))?;
    Ok(match test {
        BranchTest::CtxEqual | BranchTest::CtxNotEqual => Instruction::BranchCtx {
            equal: test == BranchTest::CtxEqual,
            context: parameter,
            target,
            defer,
        },
        BranchTest::SignalSet | BranchTest::SignalClear => Instruction::BranchSignal {
            set: test == BranchTest::SignalSet,
            signal: parameter,
            target,
            defer,
        },
        BranchTest::InputSet | BranchTest::InputClear => Instruction::BranchInputState {
            set: test == BranchTest::InputSet,
            state: word.defined(branch::PARAMETER, InputState::from_code(parameter))?,
            target,
            defer,
        },
    })
}

/// Separates a source from the constant that shares the word with it: if the A
/// field is a constant, the source is in the B field.
fn split(
    word: RawWord,
    (a, a_field): (Operand, raw::Field),
    (b, b_field): (Operand, raw::Field),
) -> Result<(Operand, u8), DecodeError> {
    match (a, b) {
        (Operand::Constant(_), Operand::Constant(_)) => word.fail(
            a_field.mask() | b_field.mask(),
            DecodeReason::InconsistentFields,
        ),
        (Operand::Constant(value), source) | (source, Operand::Constant(value)) => {
            Ok((source, value))
        }
        _ => word.fail(
            a_field.mask() | b_field.mask(),
            DecodeReason::InconsistentFields,
        ),
    }
}

pub(super) fn branch_bit(word: RawWord) -> Result<Instruction, DecodeError> {
    use raw::br_bit;
    let a = word.narrow(br_bit::A, Role::Source, Bank::A)?;
    let b = word.narrow(br_bit::B, Role::Source, Bank::B)?;
    let (src, value) = split(word, (a, br_bit::A), (b, br_bit::B))?;
    if value >= 32 {
        return word.fail(br_bit::A.mask() | br_bit::B.mask(), DecodeReason::Undefined);
    }
    Ok(Instruction::BranchBit {
        set: word.flag(br_bit::SET),
        src,
        // The word holds the number of the next bit, modulo 32.
        bit: (value + 31) % 32,
        target: word.get(br_bit::TARGET) as u16,
        defer: word.byte(br_bit::DEFER),
    })
}

pub(super) fn branch_byte(word: RawWord) -> Result<Instruction, DecodeError> {
    use raw::br_byte;
    let a = word.narrow_i8(br_byte::A, Bank::A, br_byte::I8)?;
    let b = word.narrow_i8(br_byte::B, Bank::B, br_byte::I8)?;
    let (src, value) = split(word, (a, br_byte::A), (b, br_byte::B))?;
    Ok(Instruction::BranchByte {
        equal: word.flag(br_byte::EQUAL),
        src,
        byte: word.byte(br_byte::BYTE),
        value,
        target: word.get(br_byte::TARGET) as u16,
        defer: word.byte(br_byte::DEFER),
    })
}

pub(super) fn jump(word: RawWord) -> Result<Instruction, DecodeError> {
    use raw::jump;
    let a = word.wide(jump::A, Role::Source, Bank::A)?;
    let b = word.wide(jump::B, Role::Source, Bank::B)?;
    let (src, low) = split(word, (a, jump::A), (b, jump::B))?;
    Ok(Instruction::Jump {
        src,
        base: u16::from_be_bytes([word.byte(jump::BASE_HIGH), low]),
        defer: word.byte(jump::DEFER),
    })
}

pub(super) fn ctx_arb(word: RawWord) -> Instruction {
    use raw::ctx_arb;
    Instruction::CtxArb(CtxArb {
        mask: word.get(ctx_arb::MASK) as u16,
        any: word.flag(ctx_arb::ANY),
        breakpoint: word.flag(ctx_arb::BREAKPOINT),
        keep_mask: word.flag(ctx_arb::KEEP_MASK),
        resume: word
            .flag(ctx_arb::RESUME_VALID)
            .then(|| word.get(ctx_arb::RESUME) as u16),
        defer: word.byte(ctx_arb::DEFER),
    })
}

pub(super) fn local_csr(word: RawWord) -> Result<Instruction, DecodeError> {
    use raw::local_csr;
    let csr = word.get(local_csr::CSR) as u16 * 4;
    if !word.flag(local_csr::WRITE) {
        return Ok(Instruction::LocalCsrRead { csr });
    }
    let a = word.wide(local_csr::A, Role::Source, Bank::A)?;
    let b = word.wide(local_csr::B, Role::Source, Bank::B)?;
    let src = match (a, b) {
        (Operand::Constant(first), Operand::Constant(second)) if first != second => {
            let bits = local_csr::A.mask() | local_csr::B.mask();
            return word.fail(bits, DecodeReason::InconsistentFields);
        }
        (Operand::Constant(_), source) | (source, Operand::Constant(_)) => source,
        _ => {
            let bits = local_csr::A.mask() | local_csr::B.mask();
            return word.fail(bits, DecodeReason::InconsistentFields);
        }
    };
    Ok(Instruction::LocalCsrWrite { csr, src })
}
