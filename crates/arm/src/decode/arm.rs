//! Decoding of ARM state words.

use super::access;
use crate::bus::CoprocessorRegister;
use crate::exception::Unpredictable;
use crate::instruction::{
    Address, Block, Condition, DataOp, HalfMultiply, Index, Instruction, Offset, Operand,
    Operation, Saturating, Shift, Width,
};

/// Returns the bits from `low` to `high`.
const fn bits(word: u32, high: u32, low: u32) -> u32 {
    word << (31 - high) >> (31 - high + low)
}

const fn bit(word: u32, n: u32) -> bool {
    word >> n & 1 != 0
}

/// Returns the register number whose lowest bit is `low`.
const fn register(word: u32, low: u32) -> u8 {
    (word >> low & 15) as u8
}

const UNPREDICTABLE: Operation = Operation::Unpredictable(Unpredictable::Registers);

/// Whether any of the registers is PC.
fn any_pc(registers: &[u8]) -> bool {
    registers.contains(&15)
}

/// Decodes a word in ARM state.
#[must_use]
pub fn decode_arm(word: u32) -> Instruction {
    let Some(condition) = Condition::from_bits(word >> 28) else {
        return Instruction {
            condition: Condition::Always,
            operation: unconditional(word),
        };
    };
    let operation = match bits(word, 27, 25) {
        0b000 => zero(word),
        0b001 => constant_operand(word),
        0b011 if bit(word, 4) => Operation::Undefined(word),
        0b010 | 0b011 => single(word),
        0b100 => block(word),
        0b101 => Operation::Branch {
            link: bit(word, 24),
            offset: branch_offset(word),
        },
        0b111 if bit(word, 24) => Operation::SoftwareInterrupt {
            comment: bits(word, 23, 0),
        },
        0b111 if bit(word, 4) => coprocessor(word),
        _ => Operation::Undefined(word),
    };
    Instruction {
        condition,
        operation,
    }
}

/// Decodes words whose condition field is 1111.
fn unconditional(word: u32) -> Operation {
    match bits(word, 27, 25) {
        0b101 => Operation::BranchToThumb {
            offset: branch_offset(word) | (word >> 23 & 2) as i32,
        },
        // PLD has the encoding of LDRB with an offset and destination 1111.
        0b010 | 0b011
            if bits(word, 24, 20) & 0b10111 == 0b10101
                && register(word, 12) == 15
                && !(bit(word, 25) && bit(word, 4)) =>
        {
            Operation::Preload {
                address: single_address(word),
            }
        }
        _ => Operation::Undefined(word),
    }
}

fn branch_offset(word: u32) -> i32 {
    (word << 8) as i32 >> 6
}

/// Decodes data operations with a register, and others in the same space: multiplications, halfwords, status registers.
fn zero(word: u32) -> Operation {
    if bit(word, 4) && bit(word, 7) {
        if bits(word, 6, 5) == 0 {
            multiply_or_swap(word)
        } else {
            halfword(word)
        }
    } else if bits(word, 24, 23) == 0b10 && !bit(word, 20) {
        miscellaneous(word)
    } else {
        let (rm, shift) = (register(word, 0), shift_kind(word));
        if bit(word, 4) {
            let rs = register(word, 8);
            let operand = Operand::ShiftedBy { rm, shift, rs };
            let used = [register(word, 12), register(word, 16), rm, rs];
            if any_pc(&used) {
                return UNPREDICTABLE;
            }
            data(word, operand)
        } else {
            data(word, shifted(rm, shift, bits(word, 11, 7) as u8))
        }
    }
}

fn shift_kind(word: u32) -> Shift {
    [Shift::Lsl, Shift::Lsr, Shift::Asr, Shift::Ror][bits(word, 6, 5) as usize]
}

/// Returns a register shifted by the five-bit amount of an instruction, for which 0 has special meanings.
pub fn shifted(rm: u8, shift: Shift, amount: u8) -> Operand {
    match (shift, amount) {
        (Shift::Lsl, 0) => Operand::Register(rm),
        (Shift::Lsr | Shift::Asr, 0) => Operand::Shifted {
            rm,
            shift,
            amount: 32,
        },
        (Shift::Ror, 0) => Operand::Shifted {
            rm,
            shift: Shift::Rrx,
            amount: 1,
        },
        _ => Operand::Shifted { rm, shift, amount },
    }
}

fn data(word: u32, operand: Operand) -> Operation {
    Operation::Data {
        op: DataOp::from_bits(bits(word, 24, 21)),
        set: bit(word, 20),
        rd: register(word, 12),
        rn: register(word, 16),
        operand,
    }
}

fn constant(word: u32) -> Operand {
    let rotation = bits(word, 11, 8) * 2;
    let value = bits(word, 7, 0).rotate_right(rotation);
    Operand::Constant {
        value,
        carry: (rotation != 0).then_some(bit(value, 31)),
    }
}

/// Decodes data operations with a constant, and MSR with one.
fn constant_operand(word: u32) -> Operation {
    if bits(word, 24, 23) == 0b10 && !bit(word, 20) {
        if !bit(word, 21) {
            return Operation::Undefined(word);
        }
        return Operation::WriteStatus {
            saved: bit(word, 22),
            fields: register(word, 16),
            operand: constant(word),
        };
    }
    data(word, constant(word))
}

fn multiply_or_swap(word: u32) -> Operation {
    let (rd, rn) = (register(word, 16), register(word, 12));
    let (rs, rm) = (register(word, 8), register(word, 0));
    let set = bit(word, 20);
    match bits(word, 24, 21) {
        op @ (0b0000 | 0b0001) => {
            let accumulate = op == 1;
            if any_pc(&[rd, rs, rm]) || accumulate && rn == 15 {
                return UNPREDICTABLE;
            }
            Operation::Multiply {
                set,
                accumulate,
                rd,
                rn,
                rs,
                rm,
            }
        }
        0b0100..=0b0111 => {
            if any_pc(&[rd, rn, rs, rm]) || rd == rn {
                return UNPREDICTABLE;
            }
            Operation::MultiplyLong {
                set,
                signed: bit(word, 22),
                accumulate: bit(word, 21),
                lo: rn,
                hi: rd,
                rs,
                rm,
            }
        }
        0b1000 | 0b1010 if !set => {
            // SWP has its base where a multiplication has its destination.
            let (base, rd) = (rd, rn);
            if any_pc(&[base, rd, rm]) || base == rd || base == rm {
                return UNPREDICTABLE;
            }
            Operation::Swap {
                byte: bit(word, 22),
                rd,
                rm,
                rn: base,
            }
        }
        _ => Operation::Undefined(word),
    }
}

/// Returns when the offset of a load or store is applied.
fn index(word: u32) -> Index {
    match (bit(word, 24), bit(word, 21)) {
        (true, false) => Index::Offset,
        (true, true) => Index::Before,
        (false, _) => Index::After,
    }
}

/// Whether the registers of a load or store make it unpredictable.
fn is_unpredictable_access(address: Address, rd: u8, also: u8) -> bool {
    let changes_base = address.index != Index::Offset;
    let offset_pc = matches!(address.offset, Offset::Register { rm: 15, .. });
    offset_pc || changes_base && (address.rn == 15 || address.rn == rd || address.rn == also)
}

/// Decodes LDRH, STRH, LDRSB, LDRSH, LDRD and STRD.
fn halfword(word: u32) -> Operation {
    let subtract = !bit(word, 23);
    let offset = if bit(word, 22) {
        let value = (bits(word, 11, 8) << 4 | bits(word, 3, 0)) as i32;
        Offset::Constant(if subtract { -value } else { value })
    } else {
        Offset::Register {
            rm: register(word, 0),
            shift: Shift::Lsl,
            amount: 0,
            subtract,
        }
    };
    let address = Address {
        rn: register(word, 16),
        index: index(word),
        offset,
    };
    let rd = register(word, 12);
    let (load, kind) = (bit(word, 20), bits(word, 6, 5));
    let double = !load && kind != 0b01;
    if double && rd % 2 == 1 {
        return Operation::Undefined(word);
    }
    let last = if double { rd + 1 } else { rd };
    // Post-indexed with the writeback bit set: the user mode forms, which words have and halfwords do not.
    let user = !bit(word, 24) && bit(word, 21);
    if user || last == 15 || is_unpredictable_access(address, rd, last) {
        return UNPREDICTABLE;
    }
    let user = false;
    let load_as = |width| Operation::Load {
        width,
        user,
        rd,
        address,
    };
    match (load, kind) {
        (true, 0b01) => load_as(Width::Half),
        (true, 0b10) => load_as(Width::SignedByte),
        (true, _) => load_as(Width::SignedHalf),
        (false, 0b01) => Operation::Store {
            width: Width::Half,
            user,
            rd,
            address,
        },
        (false, 0b10) => Operation::LoadDouble { rd, address },
        (false, _) => Operation::StoreDouble { rd, address },
    }
}

/// Decodes the space of comparisons that set no flags.
fn miscellaneous(word: u32) -> Operation {
    let op = bits(word, 22, 21);
    let (rd, rn) = (register(word, 12), register(word, 16));
    let rm = register(word, 0);
    match (bits(word, 7, 4), op) {
        (0b0000, 0b00 | 0b10) if rd == 15 => UNPREDICTABLE,
        (0b0000, 0b00 | 0b10) => Operation::ReadStatus {
            saved: bit(word, 22),
            rd,
        },
        (0b0000, _) | (0b0011, 0b01) if rm == 15 => UNPREDICTABLE,
        (0b0000, _) => Operation::WriteStatus {
            saved: bit(word, 22),
            fields: rn,
            operand: Operand::Register(rm),
        },
        (0b0001, 0b01) => Operation::BranchExchange { link: false, rm },
        (0b0011, 0b01) => Operation::BranchExchange { link: true, rm },
        (0b0001, 0b11) if any_pc(&[rd, rm]) => UNPREDICTABLE,
        (0b0001, 0b11) => Operation::CountLeadingZeros { rd, rm },
        (0b0101, _) if any_pc(&[rd, rn, rm]) => UNPREDICTABLE,
        (0b0101, _) => Operation::Saturate {
            op: [
                Saturating::Add,
                Saturating::Sub,
                Saturating::DoubleAdd,
                Saturating::DoubleSub,
            ][op as usize],
            rd,
            rn,
            rm,
        },
        (0b0111, 0b01) if word >> 28 != 14 => UNPREDICTABLE,
        (0b0111, 0b01) => Operation::Breakpoint {
            comment: (bits(word, 19, 8) << 4 | bits(word, 3, 0)) as u16,
        },
        (kind, _) if kind & 0b1001 == 0b1000 => multiply_halves(word, op),
        _ => Operation::Undefined(word),
    }
}

fn multiply_halves(word: u32, op: u32) -> Operation {
    // As in multiplications, the destination field precedes the accumulator.
    let (rd, rn) = (register(word, 16), register(word, 12));
    let (rs, rm) = (register(word, 8), register(word, 0));
    let (x, y) = (bit(word, 5), bit(word, 6));
    let kind = match (op, x) {
        (0b00, _) => HalfMultiply::Smla,
        (0b01, false) => HalfMultiply::Smlaw,
        (0b01, true) => HalfMultiply::Smulw,
        (0b10, _) => HalfMultiply::Smlal,
        _ => HalfMultiply::Smul,
    };
    if any_pc(&[rd, rs, rm])
        || kind.accumulates() && rn == 15
        || kind == HalfMultiply::Smlal && rd == rn
    {
        return UNPREDICTABLE;
    }
    Operation::MultiplyHalves {
        kind,
        x,
        y,
        rd,
        rn,
        rs,
        rm,
    }
}

fn single_address(word: u32) -> Address {
    let subtract = !bit(word, 23);
    let offset = if bit(word, 25) {
        let rm = register(word, 0);
        match shifted(rm, shift_kind(word), bits(word, 11, 7) as u8) {
            Operand::Shifted { shift, amount, .. } => Offset::Register {
                rm,
                shift,
                amount,
                subtract,
            },
            _ => Offset::Register {
                rm,
                shift: Shift::Lsl,
                amount: 0,
                subtract,
            },
        }
    } else {
        let value = bits(word, 11, 0) as i32;
        Offset::Constant(if subtract { -value } else { value })
    };
    Address {
        rn: register(word, 16),
        index: index(word),
        offset,
    }
}

/// Decodes LDR, STR, LDRB and STRB.
fn single(word: u32) -> Operation {
    let address = single_address(word);
    let rd = register(word, 12);
    let byte = bit(word, 22);
    if byte && rd == 15 || is_unpredictable_access(address, rd, rd) {
        return UNPREDICTABLE;
    }
    let width = if byte { Width::Byte } else { Width::Word };
    let user = !bit(word, 24) && bit(word, 21);
    access(bit(word, 20), width, user, rd, address)
}

fn block(word: u32) -> Operation {
    let block = Block {
        rn: register(word, 16),
        list: word as u16,
        increment: bit(word, 23),
        before: bit(word, 24),
        writeback: bit(word, 21),
        caret: bit(word, 22),
    };
    let load = bit(word, 20);
    let returns = load && bit(word, 15);
    let base = 1u16 << block.rn;
    let base_open = block.list & base != 0 && (load || block.list & (base - 1) != 0);
    if block.rn == 15
        || block.list == 0
        || block.writeback && (base_open || block.caret && !returns)
    {
        return UNPREDICTABLE;
    }
    if load {
        Operation::LoadBlock(block)
    } else {
        Operation::StoreBlock(block)
    }
}

/// Decodes MRC and MCR.
fn coprocessor(word: u32) -> Operation {
    let rd = register(word, 12);
    let register = CoprocessorRegister {
        coprocessor: bits(word, 11, 8) as u8,
        opcode1: bits(word, 23, 21) as u8,
        crn: bits(word, 19, 16) as u8,
        crm: bits(word, 3, 0) as u8,
        opcode2: bits(word, 7, 5) as u8,
    };
    if bit(word, 20) {
        Operation::ReadCoprocessor { rd, register }
    } else if rd == 15 {
        UNPREDICTABLE
    } else {
        Operation::WriteCoprocessor { rd, register }
    }
}
