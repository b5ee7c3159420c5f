//! Multiplications. Their duration depends on the number of significant bits of
//! Rs.

use super::Outcome;
use crate::cpu::Cpu;
use crate::instruction::HalfMultiply;
use crate::status::Q;

/// Returns the additional cycles for a multiplier of more than 16 bits.
#[inline(always)]
fn further_cycles(multiplier: u32, signed: bool) -> u32 {
    // Excluding the sign: up to 15 bits, up to 27 bits, or more.
    let magnitude = if signed && (multiplier as i32) < 0 {
        !multiplier
    } else {
        multiplier
    };
    match magnitude.leading_zeros() {
        17.. => 0,
        5.. => 1,
        _ => 2,
    }
}

/// Returns a half of a register, signed.
#[inline(always)]
fn half(value: u32, high: bool) -> i32 {
    i32::from((if high { value >> 16 } else { value }) as i16)
}

impl Cpu {
    #[inline(always)]
    pub(super) fn multiply(
        &mut self,
        set: bool,
        accumulator: Option<u8>,
        rd: u8,
        rs: u8,
        rm: u8,
    ) -> Outcome {
        let multiplier = self.registers.get(rs);
        let latency = u32::from(self.timing.multiply) + further_cycles(multiplier, true);
        let sum = accumulator.map_or(0, |rn| self.registers.get(rn));
        let result = self
            .registers
            .get(rm)
            .wrapping_mul(multiplier)
            .wrapping_add(sum);
        self.registers.set(rd, result);
        self.pipeline.multiply(latency.saturating_sub(1));
        if set {
            self.set_sign((result as i32) < 0, result == 0);
            self.spend(latency.saturating_sub(1));
        } else {
            self.pipeline.result(rd, latency);
        }
        Outcome::Next
    }

    pub(super) fn multiply_long(
        &mut self,
        set: bool,
        signed: bool,
        accumulate: bool,
        (lo, hi): (u8, u8),
        rs: u8,
        rm: u8,
    ) -> Outcome {
        let (a, b) = (self.registers.get(rm), self.registers.get(rs));
        let latency = u32::from(self.timing.multiply) + further_cycles(b, signed);
        let product = if signed {
            (i64::from(a as i32) * i64::from(b as i32)) as u64
        } else {
            u64::from(a) * u64::from(b)
        };
        let sum = if accumulate {
            u64::from(self.registers.get(hi)) << 32 | u64::from(self.registers.get(lo))
        } else {
            0
        };
        let result = product.wrapping_add(sum);
        self.registers.set(lo, result as u32);
        self.registers.set(hi, (result >> 32) as u32);
        self.pipeline.multiply(latency);
        if set {
            self.set_sign((result as i64) < 0, result == 0);
            self.spend(latency);
        } else {
            self.pipeline.result(lo, latency);
            self.pipeline.result(hi, latency + 1);
            self.spend(u32::from(accumulate));
        }
        Outcome::Next
    }

    pub(super) fn multiply_halves(
        &mut self,
        kind: HalfMultiply,
        (x, y): (bool, bool),
        rd: u8,
        rn: u8,
        rs: u8,
        rm: u8,
    ) -> Outcome {
        let (a, b) = (self.registers.get(rm), half(self.registers.get(rs), y));
        let short = u32::from(self.timing.multiply);
        let halves = half(a, x).wrapping_mul(b);
        // The high 32 bits of the 48-bit product.
        let wide = ((i64::from(a as i32) * i64::from(b)) >> 16) as i32;
        let (result, latency) = match kind {
            HalfMultiply::Smul => (halves, short),
            HalfMultiply::Smulw => (wide, short + 1),
            HalfMultiply::Smla => (self.accumulate(halves, rn), short),
            HalfMultiply::Smlaw => (self.accumulate(wide, rn), short + 1),
            HalfMultiply::Smlal => {
                let (lo, hi) = (rn, rd);
                let sum =
                    u64::from(self.registers.get(hi)) << 32 | u64::from(self.registers.get(lo));
                let sum = sum.wrapping_add_signed(i64::from(halves));
                self.registers.set(lo, sum as u32);
                self.registers.set(hi, (sum >> 32) as u32);
                self.pipeline.multiply(short);
                self.pipeline.result(lo, short);
                self.pipeline.result(hi, short + 1);
                self.spend(1);
                return Outcome::Next;
            }
        };
        self.registers.set(rd, result as u32);
        self.pipeline.multiply(latency.saturating_sub(1));
        self.pipeline.result(rd, latency);
        Outcome::Next
    }

    /// Adds a register, wrapping; Q records an overflow.
    fn accumulate(&mut self, product: i32, rn: u8) -> i32 {
        let (sum, overflow) = product.overflowing_add(self.registers.get(rn) as i32);
        if overflow {
            self.cpsr |= Q;
        }
        sum
    }
}
