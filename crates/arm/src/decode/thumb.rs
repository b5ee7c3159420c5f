//! Decoding of Thumb state halfwords.

use super::arm::shifted;
use crate::exception::Unpredictable;
use crate::instruction::{
    Address, Block, Condition, DataOp, Index, Instruction, Offset, Operand, Operation, Shift, Width,
};

const SP: u8 = 13;
const LR: u8 = 14;
const PC: u8 = 15;

const UNPREDICTABLE: Operation = Operation::Unpredictable(Unpredictable::Registers);

/// Decodes a halfword in Thumb state.
#[must_use]
pub fn decode_thumb(half: u16) -> Instruction {
    let word = u32::from(half);
    if word >> 12 == 0b1101
        && let Some(condition) = Condition::from_bits(word >> 8 & 15)
        && condition != Condition::Always
    {
        return Instruction {
            condition,
            operation: Operation::Branch {
                link: false,
                offset: i32::from(word as u8 as i8) * 2,
            },
        };
    }
    Instruction {
        condition: Condition::Always,
        operation: operation(word),
    }
}

/// Returns the low register number whose lowest bit is `bit`.
const fn low(word: u32, bit: u32) -> u8 {
    (word >> bit & 7) as u8
}

fn constant(value: u32) -> Operand {
    Operand::Constant { value, carry: None }
}

fn data(op: DataOp, rd: u8, rn: u8, operand: Operand) -> Operation {
    Operation::Data {
        op,
        set: true,
        rd,
        rn,
        operand,
    }
}

fn access(load: bool, width: Width, rd: u8, rn: u8, offset: Offset) -> Operation {
    let address = Address {
        rn,
        index: Index::Offset,
        offset,
    };
    super::access(load, width, false, rd, address)
}

fn operation(word: u32) -> Operation {
    let bit = |n: u32| word >> n & 1 != 0;
    let byte = word & 0xff;
    let five = word >> 6 & 31;
    // The register of the forms with an eight-bit constant.
    let wide = low(word, 8);
    let scaled = |by: u32| Offset::Constant((five * by) as i32);
    match word >> 11 {
        kind @ 0b00000..=0b00010 => {
            let shift = [Shift::Lsl, Shift::Lsr, Shift::Asr][kind as usize];
            let operand = shifted(low(word, 3), shift, five as u8);
            data(DataOp::Mov, low(word, 0), 0, operand)
        }
        0b00011 => {
            let op = if bit(9) { DataOp::Sub } else { DataOp::Add };
            let operand = if bit(10) {
                constant(word >> 6 & 7)
            } else {
                Operand::Register(low(word, 6))
            };
            data(op, low(word, 0), low(word, 3), operand)
        }
        0b00100 => data(DataOp::Mov, wide, 0, constant(byte)),
        0b00101 => data(DataOp::Cmp, 0, wide, constant(byte)),
        0b00110 => data(DataOp::Add, wide, wide, constant(byte)),
        0b00111 => data(DataOp::Sub, wide, wide, constant(byte)),
        0b01000 if bit(10) => high_registers(word),
        0b01000 => low_registers(word),
        0b01001 => access(
            true,
            Width::Word,
            wide,
            PC,
            Offset::Constant((byte * 4) as i32),
        ),
        0b01010 | 0b01011 => {
            let offset = Offset::Register {
                rm: low(word, 6),
                shift: Shift::Lsl,
                amount: 0,
                subtract: false,
            };
            let (load, width) = match word >> 9 & 7 {
                0 => (false, Width::Word),
                1 => (false, Width::Half),
                2 => (false, Width::Byte),
                3 => (true, Width::SignedByte),
                4 => (true, Width::Word),
                5 => (true, Width::Half),
                6 => (true, Width::Byte),
                _ => (true, Width::SignedHalf),
            };
            access(load, width, low(word, 0), low(word, 3), offset)
        }
        0b01100 | 0b01101 => access(bit(11), Width::Word, low(word, 0), low(word, 3), scaled(4)),
        0b01110 | 0b01111 => access(bit(11), Width::Byte, low(word, 0), low(word, 3), scaled(1)),
        0b10000 | 0b10001 => access(bit(11), Width::Half, low(word, 0), low(word, 3), scaled(2)),
        0b10010 | 0b10011 => access(
            bit(11),
            Width::Word,
            wide,
            SP,
            Offset::Constant((byte * 4) as i32),
        ),
        0b10100 => Operation::Adr {
            rd: wide,
            offset: byte * 4,
        },
        0b10101 => Operation::Data {
            op: DataOp::Add,
            set: false,
            rd: wide,
            rn: SP,
            operand: constant(byte * 4),
        },
        0b10110 | 0b10111 => stack(word),
        0b11000 | 0b11001 => {
            let (load, rn) = (bit(11), wide);
            let list = byte as u16;
            let base = 1 << rn;
            let block = Block {
                rn,
                list,
                increment: true,
                before: false,
                // A base register in the list keeps the loaded value.
                writeback: !load || list & base == 0,
                caret: false,
            };
            if list == 0 || !load && list & base != 0 && list & (base - 1) != 0 {
                UNPREDICTABLE
            } else if load {
                Operation::LoadBlock(block)
            } else {
                Operation::StoreBlock(block)
            }
        }
        0b11011 if byte_of_condition(word) == 15 => Operation::SoftwareInterrupt { comment: byte },
        0b11100 => Operation::Branch {
            link: false,
            offset: (word << 21) as i32 >> 20,
        },
        0b11110 => Operation::LinkPrefix {
            offset: (word << 21) as i32 >> 9,
        },
        0b11111 => Operation::LinkSuffix {
            exchange: false,
            offset: (word & 0x7ff) * 2,
        },
        0b11101 if !bit(0) => Operation::LinkSuffix {
            exchange: true,
            offset: (word & 0x7ff) * 2,
        },
        _ => Operation::Undefined(word),
    }
}

fn byte_of_condition(word: u32) -> u32 {
    word >> 8 & 15
}

/// Decodes data operations of two low registers.
fn low_registers(word: u32) -> Operation {
    let (rd, rm) = (low(word, 0), low(word, 3));
    let plain = |op| data(op, rd, rd, Operand::Register(rm));
    let shift = |shift| {
        let operand = Operand::ShiftedBy {
            rm: rd,
            shift,
            rs: rm,
        };
        data(DataOp::Mov, rd, 0, operand)
    };
    match word >> 6 & 15 {
        0x0 => plain(DataOp::And),
        0x1 => plain(DataOp::Eor),
        0x2 => shift(Shift::Lsl),
        0x3 => shift(Shift::Lsr),
        0x4 => shift(Shift::Asr),
        0x5 => plain(DataOp::Adc),
        0x6 => plain(DataOp::Sbc),
        0x7 => shift(Shift::Ror),
        0x8 => plain(DataOp::Tst),
        0x9 => data(DataOp::Rsb, rd, rm, constant(0)),
        0xa => plain(DataOp::Cmp),
        0xb => plain(DataOp::Cmn),
        0xc => plain(DataOp::Orr),
        0xd => Operation::Multiply {
            set: true,
            accumulate: false,
            rd,
            rn: 0,
            rs: rd,
            rm,
        },
        0xe => plain(DataOp::Bic),
        _ => plain(DataOp::Mvn),
    }
}

/// Decodes ADD, CMP and MOV of any register, BX and BLX.
fn high_registers(word: u32) -> Operation {
    let rd = low(word, 0) | (word >> 4 & 8) as u8;
    let rm = (word >> 3 & 15) as u8;
    let operand = Operand::Register(rm);
    let data = |op, set| Operation::Data {
        op,
        set,
        rd,
        rn: rd,
        operand,
    };
    match word >> 8 & 3 {
        0 => data(DataOp::Add, false),
        1 if rd == PC => UNPREDICTABLE,
        1 => data(DataOp::Cmp, true),
        2 => data(DataOp::Mov, false),
        _ if word & 7 != 0 => UNPREDICTABLE,
        _ if word & 0x80 == 0 => Operation::BranchExchange { link: false, rm },
        _ if rm == PC => UNPREDICTABLE,
        _ => Operation::BranchExchange { link: true, rm },
    }
}

/// Decodes ADD and SUB of SP, PUSH, POP and BKPT.
fn stack(word: u32) -> Operation {
    let list = (word & 0xff) as u16;
    let with = |register: u8| list | u16::from(word & 0x100 != 0) << register;
    let block = |list, load: bool| Block {
        rn: SP,
        list,
        increment: load,
        before: !load,
        writeback: true,
        caret: false,
    };
    match word >> 8 & 15 {
        0b0000 => Operation::Data {
            op: if word & 0x80 == 0 {
                DataOp::Add
            } else {
                DataOp::Sub
            },
            set: false,
            rd: SP,
            rn: SP,
            operand: constant((word & 0x7f) * 4),
        },
        0b0100 | 0b0101 if with(LR) != 0 => Operation::StoreBlock(block(with(LR), false)),
        0b1100 | 0b1101 if with(PC) != 0 => Operation::LoadBlock(block(with(PC), true)),
        0b0100 | 0b1100 => UNPREDICTABLE,
        0b1110 => Operation::Breakpoint { comment: list },
        _ => Operation::Undefined(word),
    }
}
