//! ALU, shift, field, immediate and multiply words.

use super::RawWord;
use crate::{
    AluOp, AluSpecial, Bank, ByteOrder, CamLmTarget, CrcBytes, CrcKind, DecodeError, DecodeReason,
    ImmedSelector, ImmedShift, ImmedWidth, Instruction, MulPhase, MulStepCode, MulType, MulWidth,
    Operand, OperandRole, Role, ShfOp, ShfSpecial, ShiftControl, UNRESTRICTED, UnaryOp, port, raw,
    raw::Field, unused,
};

fn bank(flag: bool) -> Bank {
    if flag { Bank::B } else { Bank::A }
}

/// Returns the field and bank of the first and of the second logical operand.
fn logical(word: RawWord, swap: Field, a: Field, b: Field) -> [(Field, Bank); 2] {
    let straight = [(a, Bank::A), (b, Bank::B)];
    if word.flag(swap) {
        [straight[1], straight[0]]
    } else {
        straight
    }
}

/// Whether the fields are swapped solely because of the first source, which is then present
/// whatever its code.
fn swapped_by_a(swap: bool, b: Operand) -> bool {
    swap && b.bank() != Some(Bank::A)
}

/// Returns the first source of an operator that reads but does not use it: `--` for a field with
/// the unused-operand code, or for one that no source text can express beside `b`.
fn read_only(written: bool, a: Result<Operand, DecodeError>, b: Operand) -> Operand {
    let sayable = |a: &Operand| port::assign((OperandRole::A, *a), (OperandRole::B, b)).is_ok();
    a.ok()
        .filter(|a| written && sayable(a))
        .unwrap_or(Operand::None)
}

pub(super) fn alu(word: RawWord) -> Result<Instruction, DecodeError> {
    use raw::alu;
    let [first, second] = logical(word, alu::SWAP, alu::A, alu::B);
    let source = |(field, bank)| word.wide(field, Role::Source, bank);
    let dest = || word.wide(alu::DEST, Role::Dest, bank(word.flag(alu::DEST_BANK)));
    // The CAM writes hold their state in the destination field.
    let state = || word.defined(alu::DEST, u8::try_from(word.get(alu::DEST)).ok());
    let constant = |(field, bank): (Field, Bank)| match source((field, bank))? {
        Operand::Constant(value) => Ok(u64::from(value)),
        _ => word.fail(field.mask(), DecodeReason::Undefined),
    };
    let code = word.byte(alu::OP);
    if let Some(op) = AluOp::from_code(code) {
        let a = if op.is_unary() {
            let none = if word.flag(alu::SWAP) {
                unused::ALU_B
            } else {
                unused::ALU_A
            };
            let b = source(second)?;
            let code = word.get(first.0) != u64::from(none);
            read_only(
                code || swapped_by_a(word.flag(alu::SWAP), b),
                source(first),
                b,
            )
        } else {
            source(first)?
        };
        return Ok(Instruction::Alu {
            op,
            dest: dest()?,
            a,
            b: source(second)?,
        });
    }
    if let Some(op) = UnaryOp::from_code(code) {
        return Ok(Instruction::Unary {
            op,
            dest: if op.has_dest() {
                dest()?
            } else {
                Operand::None
            },
            src: source(second)?,
        });
    }
    Ok(match word.defined(alu::OP, AluSpecial::from_code(code))? {
        AluSpecial::CamClear => Instruction::CamClear,
        AluSpecial::CamWrite => Instruction::CamWrite {
            entry: source(second)?,
            src: source(first)?,
            state: state()?,
        },
        AluSpecial::CamWriteState => Instruction::CamWriteState {
            entry: source(second)?,
            state: state()?,
        },
        AluSpecial::CamLookup => Instruction::CamLookup {
            dest: dest()?,
            src: source(first)?,
            lm_addr: cam_target(word, second.0, constant(second)?)?,
        },
        AluSpecial::Crc => {
            use raw::crc_options;
            let options = constant(first)?;
            let code = |field: Field| field.get(options) as u8;
            Instruction::Crc {
                order: if crc_options::LITTLE.flag(options) {
                    ByteOrder::Little
                } else {
                    ByteOrder::Big
                },
                kind: word.defined(first.0, CrcKind::from_code(code(crc_options::KIND)))?,
                dest: dest()?,
                src: source(second)?,
                bytes: word.defined(first.0, CrcBytes::from_code(code(crc_options::BYTES)))?,
                bit_swap: crc_options::BIT_SWAP.flag(options),
            }
        }
    })
}

fn cam_target(
    word: RawWord,
    field: Field,
    options: u64,
) -> Result<Option<CamLmTarget>, DecodeError> {
    use raw::cam_options;
    let block = cam_options::BLOCK.get(options) as u8;
    let pointers = (
        cam_options::LM_ADDR_0.flag(options),
        cam_options::LM_ADDR_1.flag(options),
    );
    Ok(match pointers {
        (false, false) => None,
        (true, false) => Some(CamLmTarget { pointer: 0, block }),
        (false, true) => Some(CamLmTarget { pointer: 1, block }),
        (true, true) => return word.fail(field.mask(), DecodeReason::InconsistentFields),
    })
}

pub(super) fn alu_shf(word: RawWord) -> Result<Instruction, DecodeError> {
    use raw::alu_shf;
    let [first, second] = logical(word, alu_shf::SWAP, alu_shf::A, alu_shf::B);
    let source = |(field, bank)| word.narrow_i8(field, bank, alu_shf::I8);
    let dest = word.narrow(
        alu_shf::DEST,
        Role::Dest,
        bank(word.flag(alu_shf::DEST_BANK)),
    )?;
    let control = alu_shf::CONTROL;
    let kind = word.defined(control, ShiftControl::from_code(word.byte(control)))?;
    let code = word.byte(alu_shf::OP);
    if let Some(op) = ShfOp::from_code(code) {
        if op == ShfOp::B && kind == ShiftControl::Double {
            return Ok(Instruction::DblShf {
                dest,
                a: source(first)?,
                b: source(second)?,
                count: word.count(alu_shf::SHIFT),
            });
        }
        let a = if op.is_unary() {
            let none = if word.flag(alu_shf::SWAP) {
                unused::SHF_B
            } else {
                unused::SHF_A
            };
            let b = source(second)?;
            let code = word.get(first.0) != u64::from(none);
            read_only(
                code || swapped_by_a(word.flag(alu_shf::SWAP), b),
                source(first),
                b,
            )
        } else {
            source(first)?
        };
        return Ok(Instruction::AluShf {
            op,
            dest,
            a,
            b: source(second)?,
            shift: word.shift(control, alu_shf::SHIFT)?,
        });
    }
    match (
        word.defined(alu_shf::OP, ShfSpecial::from_code(code))?,
        kind,
    ) {
        (ShfSpecial::Asr, ShiftControl::Right) => Ok(Instruction::Asr {
            dest,
            src: source(second)?,
            count: word.count(alu_shf::SHIFT),
        }),
        (ShfSpecial::ByteAlign, ShiftControl::Right) => Ok(Instruction::ByteAlign {
            order: ByteOrder::Big,
            dest,
            src: source(second)?,
        }),
        (ShfSpecial::ByteAlign, ShiftControl::Left) => Ok(Instruction::ByteAlign {
            order: ByteOrder::Little,
            dest,
            src: source(first)?,
        }),
        _ => word.fail(control.mask(), DecodeReason::Undefined),
    }
}

pub(super) fn ld_field(word: RawWord) -> Result<Instruction, DecodeError> {
    use raw::ld_field;
    let [(dest, dest_bank), (src, src_bank)] =
        logical(word, ld_field::SWAP, ld_field::A, ld_field::B);
    Ok(Instruction::LdField {
        dest: word.narrow(dest, Role::Dest, dest_bank)?,
        mask: word.byte(ld_field::MASK),
        src: word.narrow_i8(src, src_bank, ld_field::I8)?,
        shift: word.shift(ld_field::CONTROL, ld_field::SHIFT)?,
        clear: word.flag(ld_field::CLEAR),
        load_cc: word.flag(ld_field::LOAD_CC),
    })
}

pub(super) fn immed(word: RawWord) -> Result<Instruction, DecodeError> {
    use raw::immed;
    // A bank-B register in the B field is the destination; any other destination is in the A field.
    // The remaining field holds a constant.
    let in_b = UNRESTRICTED
        .decode(word.get(immed::B) as u16, Role::Source, Bank::B)
        .filter(|operand| operand.bank().is_some());
    let (dest, constant) = match in_b {
        Some(dest) => (dest, immed::A),
        None => (word.wide(immed::A, Role::Dest, Bank::A)?, immed::B),
    };
    let Operand::Constant(low) = word.wide(constant, Role::Source, Bank::A)? else {
        return word.fail(constant.mask(), DecodeReason::Undefined);
    };
    let value = u16::from_be_bytes([word.byte(immed::HIGH), low]);
    let selector = word.byte(immed::SELECTOR);
    let invert = word.flag(immed::INVERT);
    Ok(
        match word.defined(immed::WIDTH, ImmedWidth::from_code(word.byte(immed::WIDTH)))? {
            ImmedWidth::Whole => {
                let kind = word.defined(immed::SELECTOR, ImmedSelector::from_code(selector))?;
                let shift = match kind {
                    ImmedSelector::None => ImmedShift::None,
                    ImmedSelector::By8 => ImmedShift::By8,
                    ImmedSelector::By16 => ImmedShift::By16,
                };
                let plain = shift == ImmedShift::None && !invert;
                if dest == Operand::None && value == 0 && plain {
                    Instruction::Nop
                } else {
                    Instruction::Immed {
                        dest,
                        value,
                        shift,
                        invert,
                    }
                }
            }
            ImmedWidth::Byte => {
                if word.get(immed::HIGH) != 0 {
                    return word.fail(immed::HIGH.mask(), DecodeReason::Undefined);
                }
                Instruction::ImmedByte {
                    dest,
                    byte: selector,
                    value: low,
                }
            }
            ImmedWidth::Word => Instruction::ImmedWord {
                dest,
                word: selector >> (immed::SELECTOR.width - 1),
                value,
            },
        },
    )
}

pub(super) fn mul_step(word: RawWord) -> Result<Instruction, DecodeError> {
    use raw::mul_step;
    let step = mul_step::STEP;
    let kind = word.defined(
        mul_step::WIDTH,
        MulType::from_code(word.byte(mul_step::WIDTH)),
    )?;
    let code = word.defined(step, MulStepCode::from_code(word.byte(step)))?;
    let width = match kind {
        MulType::Start => None,
        MulType::W24x8 => Some(MulWidth::W24x8),
        MulType::W16x16 => Some(MulWidth::W16x16),
        MulType::W32x32 => Some(MulWidth::W32x32),
    };
    let number = match code {
        MulStepCode::Step1 => 1,
        MulStepCode::Step2 => 2,
        MulStepCode::Step3 => 3,
        MulStepCode::Step4 => 4,
        MulStepCode::Last | MulStepCode::Last2 => {
            let Some(width) = width else {
                return word.fail(step.mask(), DecodeReason::Undefined);
            };
            let bank = bank(word.flag(mul_step::DEST_BANK));
            return Ok(Instruction::MulLast {
                width,
                high: code == MulStepCode::Last2,
                dest: word.wide(mul_step::A, Role::Dest, bank)?,
            });
        }
    };
    let phase = match (width, number) {
        (None, 1) => MulPhase::Start,
        (None, _) => return word.fail(step.mask(), DecodeReason::Undefined),
        (Some(width), number) => MulPhase::Step(width, number),
    };
    let [a, b] = logical(word, mul_step::SWAP, mul_step::A, mul_step::B);
    Ok(Instruction::MulStep {
        phase,
        a: word.wide(a.0, Role::Source, a.1)?,
        b: word.wide(b.0, Role::Source, b.1)?,
    })
}
