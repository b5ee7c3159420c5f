//! ALU, shift, field, immediate and multiply words.

use super::{
    absent, bank_bit, blank, count_code, error, narrow_dest, number, present, ranged, shift_codes,
    wide_dest,
};
use crate::{
    AluOp, AluSpecial, Bank, ByteOrder, CamLmTarget, CrcBytes, CrcKind, EncodeError,
    EncodeErrorKind, Format, ImmedSelector, ImmedShift, ImmedWidth, Instruction, MulPhase,
    MulStepCode, MulType, MulWidth, Operand, OperandRole, ShfOp, ShfSpecial, Shift, ShiftControl,
    UNRESTRICTED,
    port::{self, PortOperand, Ports},
    raw, unused,
};

pub(super) fn encode(instruction: &Instruction) -> Result<u64, EncodeError> {
    match *instruction {
        Instruction::Alu { op, dest, a, b } => alu(op, dest, a, b),
        Instruction::AluShf {
            op,
            dest,
            a,
            b,
            shift,
        } => alu_shf(op, dest, a, b, shift),
        Instruction::DblShf { dest, a, b, count } => {
            let a = present((OperandRole::A, a))?;
            let b = present((OperandRole::B, b))?;
            shf_word(
                ShfOp::B.code(),
                dest,
                a,
                b,
                ShiftControl::Double,
                count_code(count)?,
            )
        }
        Instruction::Asr { dest, src, count } => {
            let src = present((OperandRole::Src, src))?;
            let op = ShfSpecial::Asr.code();
            shf_word(
                op,
                dest,
                NO_OPERAND,
                src,
                ShiftControl::Right,
                count_code(count)?,
            )
        }
        Instruction::ByteAlign { order, dest, src } => {
            let src = present((OperandRole::Src, src))?;
            let op = ShfSpecial::ByteAlign.code();
            match order {
                ByteOrder::Big => shf_word(op, dest, NO_OPERAND, src, ShiftControl::Right, 0),
                ByteOrder::Little => shf_word(op, dest, src, NO_OPERAND, ShiftControl::Left, 0),
            }
        }
        Instruction::LdField {
            dest,
            mask,
            src,
            shift,
            clear,
            load_cc,
        } => ld_field(dest, mask, src, shift, clear, load_cc),
        Instruction::Immed {
            dest,
            value,
            shift,
            invert,
        } => immed(dest, value, shift, invert),
        Instruction::ImmedByte { dest, byte, value } => {
            let selector = number(OperandRole::Value, byte, raw::immed::SELECTOR)?;
            Ok(immed_word(dest, u16::from(value), ImmedWidth::Byte)? | selector)
        }
        Instruction::ImmedWord { dest, word, value } => {
            // Only the upper selector bit distinguishes the two words.
            let upper = ranged(OperandRole::Value, word, 0, 1)? << (raw::immed::SELECTOR.width - 1);
            Ok(immed_word(dest, value, ImmedWidth::Word)? | raw::immed::SELECTOR.put(upper))
        }
        Instruction::Nop => nop(),
        Instruction::MulStep { phase, a, b } => mul_step(phase, a, b),
        Instruction::MulLast { width, high, dest } => mul_last(width, high, dest),
        Instruction::Unary { op, dest, src } => {
            if !op.has_dest() {
                absent(
                    OperandRole::Dest,
                    dest,
                    "the instruction has no destination",
                )?;
            }
            let ports = port::assign(NO_OPERAND, present((op.source_role(), src))?)?;
            alu_word(op.code(), wide_dest(dest)?, bank_bit(dest), ports)
        }
        Instruction::CamClear => alu_word(
            AluSpecial::CamClear.code(),
            wide_dest(Operand::None)?,
            0,
            port::assign(NO_OPERAND, NO_OPERAND)?,
        ),
        Instruction::CamLookup { dest, src, lm_addr } => cam_lookup(dest, src, lm_addr),
        Instruction::CamWrite { entry, src, state } => {
            let src = present((OperandRole::Src, src))?;
            let entry = present((OperandRole::Entry, entry))?;
            let state = ranged(OperandRole::Value, state, 0, 15)?;
            alu_word(
                AluSpecial::CamWrite.code(),
                state,
                0,
                port::assign(src, entry)?,
            )
        }
        Instruction::CamWriteState { entry, state } => {
            let entry = present((OperandRole::Entry, entry))?;
            let state = ranged(OperandRole::Value, state, 0, 15)?;
            let ports = port::assign(NO_OPERAND, entry)?;
            alu_word(AluSpecial::CamWriteState.code(), state, 0, ports)
        }
        Instruction::Crc {
            order,
            kind,
            dest,
            src,
            bytes,
            bit_swap,
        } => crc(order, kind, dest, src, bytes, bit_swap),
        _ => error(
            OperandRole::Whole,
            EncodeErrorKind::Unexpected {
                reason: "not a datapath instruction",
            },
        ),
    }
}

/// A logical operand that the instruction does not use.
const NO_OPERAND: PortOperand = (OperandRole::Whole, Operand::None);

fn alu_word(op: u8, dest: u64, dest_bank: u64, ports: Ports) -> Result<u64, EncodeError> {
    use raw::alu;
    Ok(blank(Format::Alu)
        | alu::DEST_BANK.put(dest_bank)
        | alu::OP.put(op.into())
        | alu::SWAP.put(ports.swap.into())
        | alu::DEST.put(dest)
        | alu::B.put(port::wide_source(ports.b, unused::ALU_B)?)
        | alu::A.put(port::wide_source(ports.a, unused::ALU_A)?))
}

fn alu(op: AluOp, dest: Operand, a: Operand, b: Operand) -> Result<u64, EncodeError> {
    // B and ~B read a first source without using it: it is the count of an indirect shift that
    // follows.
    if !op.is_unary() {
        present((OperandRole::A, a))?;
    }
    let b = present((OperandRole::B, b))?;
    let ports = port::assign((OperandRole::A, a), b)?;
    alu_word(op.code(), wide_dest(dest)?, bank_bit(dest), ports)
}

fn cam_lookup(
    dest: Operand,
    src: Operand,
    lm_addr: Option<CamLmTarget>,
) -> Result<u64, EncodeError> {
    use raw::cam_options;
    let src = present((OperandRole::Src, src))?;
    let options = match lm_addr {
        None => 0,
        Some(target) => {
            let block = number(OperandRole::Value, target.block, cam_options::BLOCK)?;
            block
                | match ranged(OperandRole::Value, target.pointer, 0, 1)? {
                    0 => cam_options::LM_ADDR_0.put(1),
                    _ => cam_options::LM_ADDR_1.put(1),
                }
        }
    };
    let options = (OperandRole::Value, Operand::Constant(options as u8));
    let ports = port::assign(src, options)?;
    let op = AluSpecial::CamLookup.code();
    alu_word(op, wide_dest(dest)?, bank_bit(dest), ports)
}

fn crc(
    order: ByteOrder,
    kind: CrcKind,
    dest: Operand,
    src: Operand,
    bytes: CrcBytes,
    bit_swap: bool,
) -> Result<u64, EncodeError> {
    use raw::crc_options;
    let src = present((OperandRole::Src, src))?;
    let options = crc_options::KIND.put(kind.code().into())
        | crc_options::BYTES.put(bytes.code().into())
        | crc_options::LITTLE.put((order == ByteOrder::Little).into())
        | crc_options::BIT_SWAP.put(bit_swap.into());
    let options = (OperandRole::Value, Operand::Constant(options as u8));
    let ports = port::assign(options, src)?;
    alu_word(
        AluSpecial::Crc.code(),
        wide_dest(dest)?,
        bank_bit(dest),
        ports,
    )
}

fn shf_word(
    op: u8,
    dest: Operand,
    a: PortOperand,
    b: PortOperand,
    control: ShiftControl,
    count: u64,
) -> Result<u64, EncodeError> {
    use raw::alu_shf;
    let ports = port::assign(a, b)?;
    let (a, a_i8) = port::narrow_source(ports.a, unused::SHF_A)?;
    let (b, b_i8) = port::narrow_source(ports.b, unused::SHF_B)?;
    Ok(blank(Format::AluShf)
        | alu_shf::DEST_BANK.put(bank_bit(dest))
        | alu_shf::OP.put(op.into())
        | alu_shf::SHIFT.put(count)
        | alu_shf::DEST.put(narrow_dest(dest)?)
        | alu_shf::SWAP.put(ports.swap.into())
        | alu_shf::I8.put((a_i8 || b_i8).into())
        | alu_shf::B.put(b)
        | alu_shf::CONTROL.put(control.code().into())
        | alu_shf::A.put(a))
}

fn alu_shf(
    op: ShfOp,
    dest: Operand,
    a: Operand,
    b: Operand,
    shift: Shift,
) -> Result<u64, EncodeError> {
    let a = (OperandRole::A, a);
    if !op.is_unary() {
        present(a)?;
    }
    let b = present((OperandRole::B, b))?;
    let (control, count) = shift_codes(shift)?;
    shf_word(op.code(), dest, a, b, control, count)
}

fn ld_field(
    dest: Operand,
    mask: u8,
    src: Operand,
    shift: Shift,
    clear: bool,
    load_cc: bool,
) -> Result<u64, EncodeError> {
    use raw::ld_field;
    let src = present((OperandRole::Src, src))?;
    // The destination is placed like a first source, since it is also read.
    let ports = port::assign((OperandRole::Dest, dest), src)?;
    let (control, count) = shift_codes(shift)?;
    let (source, i8) = port::narrow_source(src, unused::SHF_B)?;
    let dest = narrow_dest(dest)?;
    let (a, b) = if ports.swap {
        (source, dest)
    } else {
        (dest, source)
    };
    Ok(blank(Format::LdField)
        | ld_field::LOAD_CC.put(load_cc.into())
        | ld_field::SHIFT.put(count)
        | number(OperandRole::Value, mask, ld_field::MASK)?
        | ld_field::CLEAR.put(clear.into())
        | ld_field::SWAP.put(ports.swap.into())
        | ld_field::I8.put(i8.into())
        | ld_field::B.put(b)
        | ld_field::CONTROL.put(control.code().into())
        | ld_field::A.put(a))
}

/// Encodes an immediate load: the destination takes the field of its bank, the low immediate byte
/// the other.
fn immed_word(dest: Operand, value: u16, width: ImmedWidth) -> Result<u64, EncodeError> {
    use raw::immed;
    let [high, low] = value.to_be_bytes();
    let constant = (OperandRole::Value, Operand::Constant(low));
    let constant = port::code(&UNRESTRICTED, constant, crate::Role::Source)?;
    let dest_code = wide_dest(dest)?;
    let (a, b) = if dest.bank() == Some(Bank::B) {
        (constant, dest_code)
    } else {
        (dest_code, constant)
    };
    Ok(blank(Format::Immed)
        | immed::WIDTH.put(width.code().into())
        | immed::HIGH.put(high.into())
        | immed::B.put(b)
        | immed::A.put(a))
}

fn nop() -> Result<u64, EncodeError> {
    immed_word(Operand::None, 0, ImmedWidth::Whole)
}

fn immed(dest: Operand, value: u16, shift: ImmedShift, invert: bool) -> Result<u64, EncodeError> {
    let selector = match shift {
        ImmedShift::None => ImmedSelector::None,
        ImmedShift::By8 => ImmedSelector::By8,
        ImmedShift::By16 => ImmedSelector::By16,
    };
    let word = immed_word(dest, value, ImmedWidth::Whole)?
        | raw::immed::SELECTOR.put(selector.code().into())
        | raw::immed::INVERT.put(invert.into());
    if word == nop()? {
        return error(
            OperandRole::Whole,
            EncodeErrorKind::UseInstead { text: "nop" },
        );
    }
    Ok(word)
}

pub(crate) fn mul_type(width: MulWidth) -> MulType {
    match width {
        MulWidth::W24x8 => MulType::W24x8,
        MulWidth::W16x16 => MulType::W16x16,
        MulWidth::W32x32 => MulType::W32x32,
    }
}

/// Returns the number of steps between start and last.
pub(crate) fn mul_steps(width: MulWidth) -> u8 {
    match width {
        MulWidth::W24x8 => 1,
        MulWidth::W16x16 => 2,
        MulWidth::W32x32 => 4,
    }
}

fn mul_step(phase: MulPhase, a: Operand, b: Operand) -> Result<u64, EncodeError> {
    use raw::mul_step;
    let a = present((OperandRole::A, a))?;
    let b = present((OperandRole::B, b))?;
    let (kind, step) = match phase {
        MulPhase::Start => (MulType::Start, MulStepCode::Step1),
        MulPhase::Step(width, step) => {
            ranged(OperandRole::Value, step, 1, mul_steps(width).into())?;
            let code = match step {
                1 => MulStepCode::Step1,
                2 => MulStepCode::Step2,
                3 => MulStepCode::Step3,
                _ => MulStepCode::Step4,
            };
            (mul_type(width), code)
        }
    };
    let ports = port::assign(a, b)?;
    Ok(blank(Format::MulStep)
        | mul_step::WIDTH.put(kind.code().into())
        | mul_step::SWAP.put(ports.swap.into())
        | mul_step::STEP.put(step.code().into())
        | mul_step::B.put(port::wide_source(ports.b, unused::ALU_B)?)
        | mul_step::A.put(port::wide_source(ports.a, unused::ALU_A)?))
}

fn mul_last(width: MulWidth, high: bool, dest: Operand) -> Result<u64, EncodeError> {
    use raw::mul_step;
    if high && width != MulWidth::W32x32 {
        return error(
            OperandRole::Whole,
            EncodeErrorKind::Unexpected {
                reason: "only a 32x32 multiplication has a high longword (last2)",
            },
        );
    }
    let step = if high {
        MulStepCode::Last2
    } else {
        MulStepCode::Last
    };
    Ok(blank(Format::MulStep)
        | mul_step::WIDTH.put(mul_type(width).code().into())
        | mul_step::DEST_BANK.put(bank_bit(dest))
        | mul_step::STEP.put(step.code().into())
        | mul_step::B.put(unused::ALU_B.into())
        | mul_step::A.put(wide_dest(dest)?))
}
