//! A direct evaluator of one context without memory units, sufficient to follow the branches of a
//! program.

use std::collections::BTreeMap;

use npsim_image::Image;
use npsim_isa::{AluOp, Condition, ImmedShift, Instruction, Operand, ShfOp, Shift, decode};

/// Steps after which a program is taken to run forever.
const STEPS: usize = 10_000;

/// The state of the context.
#[derive(Default)]
#[expect(
    clippy::struct_excessive_bools,
    reason = "the four condition codes are four bits"
)]
pub struct Machine {
    /// Registers, and the values that reads of transfer registers return.
    pub registers: BTreeMap<Operand, u32>,
    /// The number of the context.
    pub context: u8,
    /// Signals that have arrived.
    pub signals: u16,
    /// Input states that are asserted, by number.
    pub states: u16,
    /// Values written to local CSRs, in order.
    pub written: Vec<(u16, u32)>,
    negative: bool,
    zero: bool,
    overflow: bool,
    carry: bool,
    previous_a: u32,
}

impl Machine {
    fn read(&self, operand: Operand) -> u32 {
        match operand {
            Operand::None => 0,
            Operand::Constant(value) => u32::from(value),
            other => self.registers.get(&other).copied().unwrap_or(0),
        }
    }

    fn write(&mut self, operand: Operand, value: u32) {
        match operand {
            // A value written to a transfer register cannot be read back.
            Operand::None | Operand::STransfer(_) | Operand::DTransfer(_) => {}
            other => {
                self.registers.insert(other, value);
            }
        }
    }

    fn flags(&mut self, result: u32, carry: bool, overflow: bool) {
        self.negative = result >> 31 == 1;
        self.zero = result == 0;
        self.carry = carry;
        self.overflow = overflow;
    }

    fn sum(&mut self, a: u32, b: u32, carry: bool) -> u32 {
        let wide = u64::from(a) + u64::from(b) + u64::from(carry);
        let result = wide as u32;
        let overflow = (a ^ result) & (b ^ result) & (1 << 31) != 0;
        self.flags(result, wide >> 32 == 1, overflow);
        result
    }

    fn shifted(&self, value: u32, shift: Shift) -> u32 {
        match shift {
            Shift::None => value,
            Shift::Left(n) => value << n,
            Shift::Right(n) => value >> n,
            Shift::RotateRight(n) => value.rotate_right(u32::from(n)),
            Shift::LeftIndirect => value << (self.previous_a & 31),
            Shift::RightIndirect => value >> (self.previous_a & 31),
        }
    }

    fn holds(&self, condition: Condition) -> bool {
        let less = self.negative != self.overflow;
        match condition {
            Condition::Eq => self.zero,
            Condition::Ne => !self.zero,
            Condition::Mi => self.negative,
            Condition::Pl => !self.negative,
            Condition::Cs => self.carry,
            Condition::Cc => !self.carry,
            Condition::Vs => self.overflow,
            Condition::Vc => !self.overflow,
            Condition::Ge => !less,
            Condition::Lt => less,
            Condition::Le => self.zero || less,
            Condition::Gt => !self.zero && !less,
            Condition::Always => true,
        }
    }

    /// Runs an image until its context is killed.
    pub fn run(&mut self, image: &Image) {
        let mut pc = 0usize;
        for _ in 0..STEPS {
            let instruction = decode(image.words[pc]).expect("the assembler's own words decode");
            pc = match self.step(&instruction, pc) {
                Some(next) => next,
                None => return,
            };
        }
        panic!("the program does not end");
    }

    fn step(&mut self, instruction: &Instruction, pc: usize) -> Option<usize> {
        let go = |taken: bool, target: u16| Some(if taken { target as usize } else { pc + 1 });
        match *instruction {
            Instruction::Alu { op, dest, a, b } => {
                let (x, y) = (self.read(a), self.read(b));
                let result = match op {
                    AluOp::Add => self.sum(x, y, false),
                    AluOp::Sub => self.sum(x, !y, true),
                    AluOp::SubReverse => self.sum(y, !x, true),
                    AluOp::B => y,
                    AluOp::NotB => !y,
                    AluOp::And => x & y,
                    AluOp::Or => x | y,
                    AluOp::Xor => x ^ y,
                    AluOp::AndNot => x & !y,
                    AluOp::NotAAnd => !x & y,
                    other => panic!("{other:?} is not expected"),
                };
                if !matches!(op, AluOp::Add | AluOp::Sub | AluOp::SubReverse) {
                    self.flags(result, false, false);
                }
                self.previous_a = x;
                self.write(dest, result);
            }
            Instruction::AluShf {
                op,
                dest,
                a,
                b,
                shift,
            } => {
                let (x, y) = (self.read(a), self.shifted(self.read(b), shift));
                let result = match op {
                    ShfOp::B => y,
                    ShfOp::NotB => !y,
                    ShfOp::And => x & y,
                    ShfOp::NotAAnd => !x & y,
                    ShfOp::AndNot => x & !y,
                    ShfOp::Or => x | y,
                };
                self.flags(result, false, false);
                self.previous_a = x;
                self.write(dest, result);
            }
            Instruction::LdField {
                dest,
                mask,
                src,
                shift,
                clear,
                load_cc: false,
            } => {
                let bits = (0..4).fold(0u32, |bits, byte| {
                    bits | (u32::from(mask >> byte & 1) * 0xff) << (8 * byte)
                });
                let old = if clear { 0 } else { self.read(dest) };
                let value = self.shifted(self.read(src), shift);
                self.write(dest, old & !bits | value & bits);
            }
            Instruction::Immed {
                dest,
                value,
                shift,
                invert,
            } => {
                let value = u32::from(value)
                    << match shift {
                        ImmedShift::None => 0,
                        ImmedShift::By8 => 8,
                        ImmedShift::By16 => 16,
                    };
                self.write(dest, if invert { !value } else { value });
            }
            Instruction::ImmedWord { dest, word, value } => {
                let old = self.read(dest);
                let value = u32::from(value);
                self.write(
                    dest,
                    if word == 1 {
                        old & 0xffff | value << 16
                    } else {
                        old & 0xffff_0000 | value
                    },
                );
            }
            Instruction::LocalCsrWrite { csr, src } => {
                let value = self.read(src);
                self.written.push((csr, value));
            }
            Instruction::Nop => {}
            Instruction::Branch {
                condition, target, ..
            } => return go(self.holds(condition), target),
            Instruction::BranchBit {
                set,
                src,
                bit,
                target,
                ..
            } => return go((self.read(src) >> bit & 1 == 1) == set, target),
            Instruction::BranchByte {
                equal,
                src,
                byte,
                value,
                target,
                ..
            } => {
                let found = (self.read(src) >> (8 * byte)) as u8;
                return go((found == value) == equal, target);
            }
            Instruction::BranchCtx {
                equal,
                context,
                target,
                ..
            } => return go((self.context == context) == equal, target),
            Instruction::BranchSignal {
                set,
                signal,
                target,
                ..
            } => {
                let arrived = self.signals >> signal & 1 == 1;
                self.signals &= !(1 << signal);
                return go(arrived == set, target);
            }
            Instruction::BranchInputState {
                set, state, target, ..
            } => return go((self.states >> state.number() & 1 == 1) == set, target),
            Instruction::Jump { src, base, .. } => {
                return Some(self.read(src) as usize + base as usize);
            }
            Instruction::CtxArb(arb) if arb.any && arb.mask == 0 => return None,
            other => panic!("`{other}` is not expected"),
        }
        Some(pc + 1)
    }
}
