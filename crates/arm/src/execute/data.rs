//! Data operations and saturating arithmetic.

use super::Outcome;
use crate::cpu::Cpu;
use crate::exception::Unpredictable;
use crate::instruction::{DataOp, Operand, Saturating, Shift};
use crate::status::{C, N, Q, T, V, Z};

/// Returns the sum, carry and overflow.
#[inline(always)]
fn add(a: u32, b: u32, carry: bool) -> (u32, bool, bool) {
    let wide = u64::from(a) + u64::from(b) + u64::from(carry);
    let sum = wide as u32;
    (sum, wide >> 32 != 0, (a ^ sum) & (b ^ sum) & N != 0)
}

/// Shifts a value by 1 to 31, or by 32 for shifts that allow it; also returns
/// the carry.
#[inline(always)]
fn shift_by(value: u32, shift: Shift, amount: u32, carry: bool) -> (u32, bool) {
    match shift {
        Shift::Lsl => (value << amount, value >> (32 - amount) & 1 != 0),
        Shift::Lsr => (
            value.checked_shr(amount).unwrap_or(0),
            value >> (amount - 1) & 1 != 0,
        ),
        Shift::Asr => (
            ((value as i32) >> amount.min(31)) as u32,
            value >> (amount - 1) & 1 != 0,
        ),
        Shift::Ror => {
            let rotated = value.rotate_right(amount);
            (rotated, rotated & N != 0)
        }
        Shift::Rrx => (value >> 1 | u32::from(carry) << 31, value & 1 != 0),
    }
}

/// Shifts a value by the low byte of a register; also returns the carry.
fn shift_by_register(value: u32, shift: Shift, amount: u32, carry: bool) -> (u32, bool) {
    match (shift, amount & 0xff) {
        (_, 0) => (value, carry),
        (Shift::Ror | Shift::Rrx, amount) if amount % 32 == 0 => (value, value & N != 0),
        (Shift::Ror | Shift::Rrx, amount) => shift_by(value, Shift::Ror, amount % 32, carry),
        (Shift::Asr, amount) => shift_by(value, shift, amount.min(32), carry),
        (_, amount @ 1..=31) => shift_by(value, shift, amount, carry),
        (Shift::Lsl, 32) => (0, value & 1 != 0),
        (_, 32) => (0, value & N != 0),
        _ => (0, false),
    }
}

impl Cpu {
    #[inline(always)]
    fn carry(&self) -> bool {
        self.cpsr & C != 0
    }

    /// Returns the second operand, and the carry of its shift.
    #[inline(always)]
    pub(super) fn operand(&mut self, operand: &Operand) -> (u32, bool) {
        match *operand {
            Operand::Constant { value, carry } => (value, carry.unwrap_or(self.carry())),
            Operand::Register(rm) => (self.registers.get(rm), self.carry()),
            Operand::Shifted { rm, shift, amount } => {
                if shift == Shift::Rrx {
                    self.spend(u32::from(self.timing.register_shift));
                }
                shift_by(
                    self.registers.get(rm),
                    shift,
                    u32::from(amount),
                    self.carry(),
                )
            }
            Operand::ShiftedBy { rm, shift, rs } => {
                self.spend(u32::from(self.timing.register_shift));
                shift_by_register(
                    self.registers.get(rm),
                    shift,
                    self.registers.get(rs),
                    self.carry(),
                )
            }
        }
    }

    #[inline(always)]
    pub(super) fn data(&mut self, op: DataOp, rd: u8, rn: u8, operand: &Operand) -> Outcome {
        let (b, _) = self.operand(operand);
        let a = self.registers.get(rn);
        let carry = u32::from(self.carry());
        let result = match op {
            DataOp::And => a & b,
            DataOp::Eor => a ^ b,
            DataOp::Sub => a.wrapping_sub(b),
            DataOp::Rsb => b.wrapping_sub(a),
            DataOp::Add => a.wrapping_add(b),
            DataOp::Adc => a.wrapping_add(b).wrapping_add(carry),
            DataOp::Sbc => a.wrapping_sub(b).wrapping_sub(1 - carry),
            DataOp::Rsc => b.wrapping_sub(a).wrapping_sub(1 - carry),
            DataOp::Orr => a | b,
            DataOp::Mov => b,
            DataOp::Bic => a & !b,
            DataOp::Mvn => !b,
            // These always set flags.
            DataOp::Tst | DataOp::Teq | DataOp::Cmp | DataOp::Cmn => return Outcome::Next,
        };
        if rd == 15 {
            return self.jump_to_result(result);
        }
        self.registers.set(rd, result);
        Outcome::Next
    }

    #[inline(always)]
    pub(super) fn data_with_flags(
        &mut self,
        op: DataOp,
        rd: u8,
        rn: u8,
        operand: &Operand,
    ) -> Outcome {
        let (b, shifted_out) = self.operand(operand);
        let a = self.registers.get(rn);
        let carry = self.carry();
        let overflow = self.cpsr & V != 0;
        let (result, carry, overflow) = match op {
            DataOp::And | DataOp::Tst => (a & b, shifted_out, overflow),
            DataOp::Eor | DataOp::Teq => (a ^ b, shifted_out, overflow),
            DataOp::Orr => (a | b, shifted_out, overflow),
            DataOp::Mov => (b, shifted_out, overflow),
            DataOp::Bic => (a & !b, shifted_out, overflow),
            DataOp::Mvn => (!b, shifted_out, overflow),
            DataOp::Sub | DataOp::Cmp => add(a, !b, true),
            DataOp::Rsb => add(b, !a, true),
            DataOp::Add | DataOp::Cmn => add(a, b, false),
            DataOp::Adc => add(a, b, carry),
            DataOp::Sbc => add(a, !b, carry),
            DataOp::Rsc => add(b, !a, carry),
        };
        if rd == 15 && !op.compares() {
            return self.return_to(result);
        }
        self.cpsr = self.cpsr & !(N | Z | C | V)
            | result & N
            | u32::from(result == 0) << 30
            | u32::from(carry) << 29
            | u32::from(overflow) << 28;
        if !op.compares() {
            self.registers.set(rd, result);
        }
        Outcome::Next
    }

    /// Sets N and Z.
    #[inline(always)]
    pub(super) fn set_sign(&mut self, negative: bool, zero: bool) {
        self.cpsr = self.cpsr & !(N | Z) | u32::from(negative) << 31 | u32::from(zero) << 30;
    }

    /// Handles PC as a destination; the state is unchanged.
    #[inline(never)]
    fn jump_to_result(&mut self, target: u32) -> Outcome {
        self.spend(u32::from(self.timing.jump));
        if self.cpsr & T != 0 {
            self.next = target & !1;
            return Outcome::Next;
        }
        self.next = target & !3;
        if target & 3 == 0 {
            Outcome::Next
        } else {
            self.note(Unpredictable::UnalignedJump)
        }
    }

    /// Handles PC as a destination with S: returns from an exception.
    #[inline(never)]
    fn return_to(&mut self, target: u32) -> Outcome {
        self.spend(u32::from(self.timing.jump));
        self.restore_status();
        self.next = target & if self.cpsr & T == 0 { !3 } else { !1 };
        Outcome::Status
    }

    /// Adds or subtracts with saturation; sets Q if the result saturated.
    fn saturating(&mut self, a: u32, b: u32, subtract: bool) -> u32 {
        let (a, b) = (a as i32, b as i32);
        let exact = if subtract {
            a.checked_sub(b)
        } else {
            a.checked_add(b)
        };
        exact.unwrap_or_else(|| {
            self.cpsr |= Q;
            if a < 0 { i32::MIN } else { i32::MAX }
        }) as u32
    }

    pub(super) fn saturate(&mut self, op: Saturating, rd: u8, rn: u8, rm: u8) -> Outcome {
        let (a, mut b) = (self.registers.get(rm), self.registers.get(rn));
        if matches!(op, Saturating::DoubleAdd | Saturating::DoubleSub) {
            b = self.saturating(b, b, false);
        }
        let subtract = matches!(op, Saturating::Sub | Saturating::DoubleSub);
        let result = self.saturating(a, b, subtract);
        self.registers.set(rd, result);
        self.pipeline.result(rd, u32::from(self.timing.saturate));
        Outcome::Next
    }
}
