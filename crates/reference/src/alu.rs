//! The datapath: arithmetic, logic, shifts and constants.

use npsim_chip::kernel::fabric::Fabric;
use npsim_isa::{
    AluOp, ImmedShift, Instruction, MulPhase, MulWidth, Operand, ShfOp, Shift, ShiftCount, UnaryOp,
};

use crate::{Reference, Stop};

impl Reference {
    pub(crate) fn operate(
        &mut self,
        instruction: &Instruction,
        fabric: &mut Fabric,
    ) -> Result<(), Stop> {
        match *instruction {
            Instruction::Alu { op, dest, a, b } => {
                let x = self.first(instruction, a, fabric)?;
                let y = self.read(b, fabric)?;
                self.alu(op, dest, x, y, fabric)
            }
            Instruction::AluShf {
                op,
                dest,
                a,
                b,
                shift,
            } => {
                let x = self.first(instruction, a, fabric)?;
                let y = self.read(b, fabric)?;
                let y = self.shifted(y, shift);
                let result = match op {
                    ShfOp::B => y,
                    ShfOp::NotB => !y,
                    ShfOp::And => x & y,
                    ShfOp::NotAAnd => !x & y,
                    ShfOp::AndNot => x & !y,
                    ShfOp::Or => x | y,
                };
                self.logical(dest, x, result, fabric)
            }
            Instruction::DblShf { dest, a, b, count } => {
                let (x, y) = (self.read(a, fabric)?, self.read(b, fabric)?);
                let count = self.count(count);
                let result = if count == 0 {
                    y
                } else {
                    x << (32 - count) | y >> count
                };
                self.logical(dest, x, result, fabric)
            }
            Instruction::Asr { dest, src, count } => {
                let mut result = self.read(src, fabric)?;
                // The sign comes from the previous instruction.
                let sign = self.state.previous_result & 0x8000_0000;
                for _ in 0..self.count(count) {
                    result = result >> 1 | sign;
                }
                self.logical(dest, 0, result, fabric)
            }
            Instruction::LdField {
                dest,
                mask,
                src,
                shift,
                clear,
                load_cc,
            } => {
                let value = self.read(src, fabric)?;
                let value = self.shifted(value, shift).to_le_bytes();
                let old = self.old(dest, !clear && mask & 15 != 15, fabric)?;
                let mut bytes = if clear { [0; 4] } else { old.to_le_bytes() };
                for n in (0..4).filter(|n| mask >> n & 1 == 1) {
                    bytes[n] = value[n];
                }
                let result = u32::from_le_bytes(bytes);
                if load_cc {
                    self.logical(dest, old, result, fabric)
                } else {
                    self.store(dest, old, result, fabric)
                }
            }
            Instruction::Immed {
                dest,
                value,
                shift,
                invert,
            } => {
                let value = u32::from(value);
                let value = match shift {
                    ImmedShift::None => value,
                    ImmedShift::By8 => value * 0x100,
                    ImmedShift::By16 => value * 0x1_0000,
                };
                let value = if invert { u32::MAX - value } else { value };
                // After a `local_csr_rd`, this instruction receives the value read.
                let value = self.state.csr_value.unwrap_or(value);
                self.store(dest, 0, value, fabric)
            }
            Instruction::ImmedByte { dest, byte, value } => {
                let mut bytes = self.merged(dest, fabric)?.to_le_bytes();
                bytes[usize::from(byte & 3)] = value;
                self.store(dest, 0, u32::from_le_bytes(bytes), fabric)
            }
            Instruction::ImmedWord { dest, word, value } => {
                let old = self.merged(dest, fabric)?;
                let value = u32::from(value);
                let result = if word == 0 {
                    old / 0x1_0000 * 0x1_0000 + value
                } else {
                    old % 0x1_0000 + value * 0x1_0000
                };
                self.store(dest, 0, result, fabric)
            }
            Instruction::Nop => {
                (self.state.previous_a, self.state.previous_result) = (0, 0);
                Ok(())
            }
            Instruction::MulStep { phase, a, b } => {
                let (x, y) = (self.read(a, fabric)?, self.read(b, fabric)?);
                if phase == MulPhase::Start {
                    self.state.factors = (x, y);
                }
                self.state.previous_a = x;
                Ok(())
            }
            Instruction::MulLast { width, high, dest } => {
                let (x, y) = self.state.factors;
                let (x, y) = match width {
                    MulWidth::W24x8 => (x % (1 << 24), y % (1 << 8)),
                    MulWidth::W16x16 => (x % (1 << 16), y % (1 << 16)),
                    MulWidth::W32x32 => (x, y),
                };
                let product = u64::from(x) * u64::from(y);
                let result = (product >> if high { 32 } else { 0 }) as u32;
                self.logical(dest, 0, result, fabric)
            }
            Instruction::Unary { op, dest, src } => self.unary(op, dest, src, fabric),
            _ => self.operate_special(instruction, fabric),
        }
    }

    /// Returns the first source. Without a written operand, the field still holds the code of some
    /// register, which is read. If only an indirect shift can use the source, a register is read
    /// without checks.
    fn first(
        &mut self,
        instruction: &Instruction,
        written: Operand,
        fabric: &mut Fabric,
    ) -> Result<u32, Stop> {
        let register = matches!(written, Operand::Gpr(..) | Operand::GprAbsolute(..));
        let unused = written == Operand::None || register && instruction.ignores_first_source();
        match instruction.first_source() {
            Some(named) if unused => self.old(named, false, fabric),
            _ => self.read(written, fabric),
        }
    }

    /// Executes the instructions with one source.
    fn unary(
        &mut self,
        op: UnaryOp,
        dest: Operand,
        src: Operand,
        fabric: &mut Fabric,
    ) -> Result<(), Stop> {
        let x = self.read(src, fabric)?;
        let entry = x as usize % 16;
        match op {
            UnaryOp::Ffs => {
                let found = (0..32).find(|bit| x >> bit & 1 == 1);
                self.store(dest, 0, found.unwrap_or(0), fabric)?;
                // Z tells whether no bit was set, so the codes are those of the source.
                self.set_codes([x >> 31 == 1, x == 0, false, false]);
                Ok(())
            }
            // The third step computes the whole result.
            UnaryOp::PopCount1 | UnaryOp::PopCount2 => {
                self.state.previous_a = 0;
                Ok(())
            }
            UnaryOp::PopCount3 => {
                let ones = (0..32).map(|bit| x >> bit & 1).sum();
                self.logical(dest, 0, ones, fabric)
            }
            UnaryOp::CamReadTag => self.logical(dest, 0, self.state.tags[entry], fabric),
            UnaryOp::CamReadState => {
                let state = u32::from(self.state.tag_states[entry]);
                self.logical(dest, 0, state * 256, fabric)
            }
        }
    }

    fn alu(
        &mut self,
        op: AluOp,
        dest: Operand,
        x: u32,
        y: u32,
        fabric: &mut Fabric,
    ) -> Result<(), Stop> {
        let carry = i64::from(self.state.codes[3]);
        let logical = match op {
            AluOp::B => Some(y),
            AluOp::NotB => Some(!y),
            AluOp::And => Some(x & y),
            AluOp::NotAAnd => Some(!x & y),
            AluOp::AndNot => Some(x & !y),
            AluOp::Or => Some(x | y),
            AluOp::Xor => Some(x ^ y),
            _ => None,
        };
        if let Some(result) = logical {
            return self.logical(dest, x, result, fabric);
        }
        // The exact sums of the signed and of the unsigned values; a difference sets C if there is
        // no borrow.
        let signed = |v: u32| i64::from(v as i32);
        let unsigned = |v: u32| i64::from(v);
        let (true_signed, true_unsigned, is_difference) = match op {
            AluOp::Add => (signed(x) + signed(y), unsigned(x) + unsigned(y), false),
            AluOp::Add16 => (
                signed(x) + unsigned(y % 0x1_0000),
                unsigned(x) + unsigned(y % 0x1_0000),
                false,
            ),
            AluOp::Add8 => (
                signed(x) + unsigned(y % 0x100),
                unsigned(x) + unsigned(y % 0x100),
                false,
            ),
            AluOp::AddCarry => (
                signed(x) + signed(y) + carry,
                unsigned(x) + unsigned(y) + carry,
                false,
            ),
            AluOp::Sub => (signed(x) - signed(y), unsigned(x) - unsigned(y), true),
            AluOp::SubReverse => (signed(y) - signed(x), unsigned(y) - unsigned(x), true),
            _ => (
                signed(x) - signed(y) - (1 - carry),
                unsigned(x) - unsigned(y) - (1 - carry),
                true,
            ),
        };
        let result = true_unsigned as u32;
        let c = if is_difference {
            true_unsigned >= 0
        } else {
            true_unsigned > i64::from(u32::MAX)
        };
        self.store(dest, x, result, fabric)?;
        let v = true_signed != signed(result);
        self.set_codes([result >> 31 == 1, result == 0, v, c]);
        Ok(())
    }

    fn shifted(&self, value: u32, shift: Shift) -> u32 {
        let indirect = self.state.previous_a % 32;
        match shift {
            Shift::None => value,
            Shift::Left(n) => value << (n % 32),
            Shift::Right(n) => value >> (n % 32),
            Shift::RotateRight(n) => value.rotate_right(n.into()),
            Shift::LeftIndirect => value << indirect,
            Shift::RightIndirect => value >> indirect,
        }
    }

    fn count(&self, count: ShiftCount) -> u32 {
        match count {
            ShiftCount::By(n) => u32::from(n) % 32,
            ShiftCount::Indirect => self.state.previous_a % 32,
        }
    }
}
