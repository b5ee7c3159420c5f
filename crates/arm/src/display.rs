//! Display of instructions as assembly text.

use std::fmt::{self, Display, Formatter};

use crate::bus::CoprocessorRegister;
use crate::instruction::{
    Address, Block, Condition, DataOp, HalfMultiply, Index, Instruction, Offset, Operand,
    Operation, Saturating, Shift, Width,
};

const REGISTERS: [&str; 16] = [
    "r0", "r1", "r2", "r3", "r4", "r5", "r6", "r7", "r8", "r9", "r10", "r11", "r12", "sp", "lr",
    "pc",
];

/// Returns a register's name.
fn register(n: u8) -> &'static str {
    REGISTERS[n as usize & 15]
}

impl Condition {
    /// Returns the suffix of a mnemonic.
    #[must_use]
    pub const fn suffix(self) -> &'static str {
        const SUFFIXES: [&str; 15] = [
            "eq", "ne", "cs", "cc", "mi", "pl", "vs", "vc", "hi", "ls", "ge", "lt", "gt", "le", "",
        ];
        SUFFIXES[self as usize]
    }
}

impl Shift {
    const fn mnemonic(self) -> &'static str {
        match self {
            Self::Lsl => "lsl",
            Self::Lsr => "lsr",
            Self::Asr => "asr",
            Self::Ror => "ror",
            Self::Rrx => "rrx",
        }
    }
}

impl DataOp {
    const fn mnemonic(self) -> &'static str {
        const MNEMONICS: [&str; 16] = [
            "and", "eor", "sub", "rsb", "add", "adc", "sbc", "rsc", "tst", "teq", "cmp", "cmn",
            "orr", "mov", "bic", "mvn",
        ];
        MNEMONICS[self as usize]
    }
}

impl Operation {
    /// Returns the mnemonic without condition, S and addressing mode. A MOV of a shifted register has the mnemonic of
    /// the shift; the halves of an E multiplication are shown as `x` and `y`.
    #[must_use]
    pub const fn mnemonic(&self) -> &'static str {
        match *self {
            Self::Data {
                op: DataOp::Mov,
                operand: Operand::Shifted { shift, .. } | Operand::ShiftedBy { shift, .. },
                ..
            } => shift.mnemonic(),
            Self::Data { op, .. } => op.mnemonic(),
            Self::Adr { .. } => "adr",
            Self::Multiply { accumulate, .. } => {
                if accumulate {
                    "mla"
                } else {
                    "mul"
                }
            }
            Self::MultiplyLong {
                signed, accumulate, ..
            } => match (signed, accumulate) {
                (false, false) => "umull",
                (false, true) => "umlal",
                (true, false) => "smull",
                (true, true) => "smlal",
            },
            Self::MultiplyHalves { kind, .. } => match kind {
                HalfMultiply::Smla => "smlaxy",
                HalfMultiply::Smlaw => "smlawy",
                HalfMultiply::Smulw => "smulwy",
                HalfMultiply::Smlal => "smlalxy",
                HalfMultiply::Smul => "smulxy",
            },
            Self::Saturate { op, .. } => match op {
                Saturating::Add => "qadd",
                Saturating::Sub => "qsub",
                Saturating::DoubleAdd => "qdadd",
                Saturating::DoubleSub => "qdsub",
            },
            Self::CountLeadingZeros { .. } => "clz",
            Self::Load { width, user, .. } => match (width, user) {
                (Width::Word, false) => "ldr",
                (Width::Byte, false) => "ldrb",
                (Width::Word, true) => "ldrt",
                (Width::Byte, true) => "ldrbt",
                (Width::Half, _) => "ldrh",
                (Width::SignedByte, _) => "ldrsb",
                (Width::SignedHalf, _) => "ldrsh",
            },
            Self::Store { width, user, .. } => match (width, user) {
                (Width::Word, false) => "str",
                (Width::Word, true) => "strt",
                (Width::Byte, true) => "strbt",
                (Width::Byte | Width::SignedByte, _) => "strb",
                (Width::Half | Width::SignedHalf, _) => "strh",
            },
            Self::LoadDouble { .. } => "ldrd",
            Self::StoreDouble { .. } => "strd",
            Self::Preload { .. } => "pld",
            Self::LoadBlock(_) => "ldm",
            Self::StoreBlock(_) => "stm",
            Self::Swap { byte, .. } => {
                if byte {
                    "swpb"
                } else {
                    "swp"
                }
            }
            Self::Branch { link, .. } => {
                if link {
                    "bl"
                } else {
                    "b"
                }
            }
            Self::BranchToThumb { .. } => "blx",
            Self::BranchExchange { link, .. } => {
                if link {
                    "blx"
                } else {
                    "bx"
                }
            }
            Self::LinkPrefix { .. } => "bl.prefix",
            Self::LinkSuffix { exchange, .. } => {
                if exchange {
                    "blx.suffix"
                } else {
                    "bl.suffix"
                }
            }
            Self::ReadStatus { .. } => "mrs",
            Self::WriteStatus { .. } => "msr",
            Self::SoftwareInterrupt { .. } => "swi",
            Self::Breakpoint { .. } => "bkpt",
            Self::ReadCoprocessor { .. } => "mrc",
            Self::WriteCoprocessor { .. } => "mcr",
            Self::Unpredictable(_) => "unpredictable",
            Self::Undefined(_) => "undefined",
        }
    }

    /// Returns the part between the mnemonic and the condition.
    fn suffix(&self) -> String {
        match *self {
            Self::Data { op, set: true, .. } if !op.compares() => "s".into(),
            Self::Multiply { set: true, .. } | Self::MultiplyLong { set: true, .. } => "s".into(),
            Self::LoadBlock(block) | Self::StoreBlock(block) => {
                let first = if block.increment { 'i' } else { 'd' };
                let second = if block.before { 'b' } else { 'a' };
                format!("{first}{second}")
            }
            _ => String::new(),
        }
    }

    /// Returns the mnemonic with the actual halves of an E multiplication.
    fn full_mnemonic(&self) -> String {
        let mnemonic = self.mnemonic();
        let Self::MultiplyHalves { x, y, .. } = *self else {
            return mnemonic.into();
        };
        let half = |high| if high { "t" } else { "b" };
        mnemonic.replace('x', half(x)).replace('y', half(y))
    }
}

impl Display for Operand {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Constant { value, .. } => write!(f, "#{value:#x}"),
            Self::Register(rm) => f.write_str(register(rm)),
            Self::Shifted {
                rm,
                shift: Shift::Rrx,
                ..
            } => write!(f, "{}, rrx", register(rm)),
            Self::Shifted { rm, shift, amount } => {
                write!(f, "{}, {} #{amount}", register(rm), shift.mnemonic())
            }
            Self::ShiftedBy { rm, shift, rs } => {
                write!(f, "{}, {} {}", register(rm), shift.mnemonic(), register(rs))
            }
        }
    }
}

impl Display for Offset {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Constant(value) => write!(f, "#{value}"),
            Self::Register {
                rm,
                shift,
                amount,
                subtract,
            } => {
                let sign = if subtract { "-" } else { "" };
                write!(f, "{sign}{}", register(rm))?;
                match (shift, amount) {
                    (Shift::Lsl, 0) => Ok(()),
                    (Shift::Rrx, _) => write!(f, ", rrx"),
                    _ => write!(f, ", {} #{amount}", shift.mnemonic()),
                }
            }
        }
    }
}

impl Display for Address {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let rn = register(self.rn);
        match (self.index, self.offset) {
            (Index::Offset, Offset::Constant(0)) => write!(f, "[{rn}]"),
            (Index::Offset, offset) => write!(f, "[{rn}, {offset}]"),
            (Index::Before, offset) => write!(f, "[{rn}, {offset}]!"),
            (Index::After, offset) => write!(f, "[{rn}], {offset}"),
        }
    }
}

impl Display for Block {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let mark = if self.writeback { "!" } else { "" };
        write!(f, "{}{mark}, {{", register(self.rn))?;
        let listed = (0..16).filter(|n| self.list >> n & 1 != 0);
        for (i, n) in listed.enumerate() {
            let separator = if i == 0 { "" } else { ", " };
            write!(f, "{separator}{}", register(n))?;
        }
        f.write_str(if self.caret { "}^" } else { "}" })
    }
}

impl Display for CoprocessorRegister {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let Self {
            coprocessor,
            opcode1,
            crn,
            crm,
            opcode2,
        } = self;
        write!(f, "p{coprocessor}, {opcode1}, c{crn}, c{crm}, {opcode2}")
    }
}

/// Writes registers separated by commas.
fn listed(f: &mut Formatter<'_>, registers: &[u8]) -> fmt::Result {
    for (i, &n) in registers.iter().enumerate() {
        let separator = if i == 0 { "" } else { ", " };
        write!(f, "{separator}{}", register(n))?;
    }
    Ok(())
}

/// Returns a status register with its fields.
fn status(saved: bool, fields: u8) -> String {
    let name = if saved { "spsr" } else { "cpsr" };
    let letters = ["c", "x", "s", "f"];
    let fields: String = (0..4)
        .filter(|n| fields >> n & 1 != 0)
        .map(|n| letters[n])
        .collect();
    format!("{name}_{fields}")
}

impl Operation {
    fn operands(&self, f: &mut Formatter<'_>) -> fmt::Result {
        match *self {
            Self::Data {
                op: DataOp::Mov,
                rd,
                operand: Operand::Shifted { rm, shift, amount },
                ..
            } => {
                listed(f, &[rd, rm])?;
                if shift == Shift::Rrx {
                    Ok(())
                } else {
                    write!(f, ", #{amount}")
                }
            }
            Self::Data {
                op: DataOp::Mov,
                rd,
                operand: Operand::ShiftedBy { rm, rs, .. },
                ..
            } => listed(f, &[rd, rm, rs]),
            Self::Data {
                op,
                rd,
                rn,
                operand,
                ..
            } => {
                if op.compares() {
                    write!(f, "{}, {operand}", register(rn))
                } else if op.moves() {
                    write!(f, "{}, {operand}", register(rd))
                } else {
                    write!(f, "{}, {}, {operand}", register(rd), register(rn))
                }
            }
            Self::Adr { rd, offset } => write!(f, "{}, pc, #{offset}", register(rd)),
            Self::Multiply {
                accumulate: true,
                rd,
                rn,
                rs,
                rm,
                ..
            } => listed(f, &[rd, rm, rs, rn]),
            Self::Multiply { rd, rs, rm, .. } => listed(f, &[rd, rm, rs]),
            Self::MultiplyLong { lo, hi, rs, rm, .. } => listed(f, &[lo, hi, rm, rs]),
            Self::MultiplyHalves {
                kind,
                rd,
                rn,
                rs,
                rm,
                ..
            } => match kind {
                HalfMultiply::Smla | HalfMultiply::Smlaw => listed(f, &[rd, rm, rs, rn]),
                HalfMultiply::Smlal => listed(f, &[rn, rd, rm, rs]),
                HalfMultiply::Smul | HalfMultiply::Smulw => listed(f, &[rd, rm, rs]),
            },
            Self::Saturate { rd, rn, rm, .. } => listed(f, &[rd, rm, rn]),
            Self::CountLeadingZeros { rd, rm } => listed(f, &[rd, rm]),
            Self::Load { rd, address, .. }
            | Self::Store { rd, address, .. }
            | Self::LoadDouble { rd, address }
            | Self::StoreDouble { rd, address } => write!(f, "{}, {address}", register(rd)),
            Self::Preload { address } => write!(f, "{address}"),
            Self::LoadBlock(block) | Self::StoreBlock(block) => write!(f, "{block}"),
            Self::Swap { rd, rm, rn, .. } => {
                write!(f, "{}, {}, [{}]", register(rd), register(rm), register(rn))
            }
            Self::Branch { offset, .. }
            | Self::BranchToThumb { offset }
            | Self::LinkPrefix { offset } => write!(f, "pc{offset:+}"),
            Self::LinkSuffix { offset, .. } => write!(f, "lr+{offset}"),
            Self::BranchExchange { rm, .. } => f.write_str(register(rm)),
            Self::ReadStatus { saved, rd } => {
                let name = if saved { "spsr" } else { "cpsr" };
                write!(f, "{}, {name}", register(rd))
            }
            Self::WriteStatus {
                saved,
                fields,
                operand,
            } => write!(f, "{}, {operand}", status(saved, fields)),
            Self::SoftwareInterrupt { comment } => write!(f, "{comment:#x}"),
            Self::Breakpoint { comment } => write!(f, "{comment:#x}"),
            Self::ReadCoprocessor { rd, register: at }
            | Self::WriteCoprocessor { rd, register: at } => {
                write!(f, "{}, {at}", register(rd))
            }
            Self::Unpredictable(why) => write!(f, "{why:?}"),
            Self::Undefined(word) => write!(f, "{word:#x}"),
        }
    }
}

impl Display for Instruction {
    fn fmt(&self, f: &mut Formatter<'_>) -> fmt::Result {
        let operation = &self.operation;
        let mnemonic = operation.full_mnemonic();
        write!(
            f,
            "{mnemonic}{}{} ",
            operation.suffix(),
            self.condition.suffix()
        )?;
        operation.operands(f)
    }
}

#[cfg(test)]
mod tests {
    use crate::{decode_arm, decode_thumb};

    #[test]
    fn instructions_are_displayed_in_assembler_syntax() {
        for (word, text) in [
            (0xe080_1002, "add r1, r0, r2"),
            (0x01b0_1102, "lslseq r1, r2, #2"),
            (0xe1a0_f00e, "mov pc, lr"),
            (0xe590_1004, "ldr r1, [r0, #4]"),
            (0xe4d0_1001, "ldrb r1, [r0], #1"),
            (0xe92d_4010, "stmdb sp!, {r4, lr}"),
            (0xe001_029f, "unpredictable Registers"),
            (0xe10f_0000, "mrs r0, cpsr"),
            (0xe121_f000, "msr cpsr_c, r0"),
            (0xe160_32c1, "smulbt r0, r1, r2"),
            (0xee10_0f10, "mrc r0, p15, 0, c0, c0, 0"),
            (0xebff_fffe, "bl pc-8"),
        ] {
            assert_eq!(decode_arm(word).to_string(), text, "{word:08x}");
        }
        assert_eq!(decode_thumb(0xb510).to_string(), "stmdb sp!, {r4, lr}");
        assert_eq!(decode_thumb(0xd0fe).to_string(), "beq pc-4");
    }
}
