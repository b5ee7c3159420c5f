//! Fixed-point numbers for laws with roots and powers: 32 bits of fraction, the same on every machine.

use std::ops::{Add, Div, Mul, Sub};

/// Bits of the fraction.
const BITS: u32 = 32;

/// A number in units of 2^-32. The laws stay far within the range of 95 integer bits.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct Fixed(i128);

impl Fixed {
    pub const ZERO: Self = Self(0);
    pub const ONE: Self = Self(1 << BITS);

    pub const fn integer(value: i64) -> Self {
        Self((value as i128) << BITS)
    }

    pub const fn ratio(numerator: i64, denominator: i64) -> Self {
        Self(((numerator as i128) << BITS) / denominator as i128)
    }

    /// `value` times this, rounded down.
    pub fn times(self, value: u64) -> i128 {
        (self.0 * i128::from(value)) >> BITS
    }

    /// The square root of a non-negative number.
    pub fn sqrt(self) -> Self {
        Self((self.0.unsigned_abs() << BITS).isqrt() as i128)
    }

    /// The base-2 logarithm of a positive number: squaring doubles it, and each time the square exceeds
    /// 2 the next bit is one.
    pub fn log2(self) -> Self {
        let exponent = 127 - i64::from(self.0.leading_zeros()) - i64::from(BITS);
        // In 1..2, with 62 fraction bits, so that its square fits.
        let mut square = if exponent + i64::from(BITS) <= 62 {
            (self.0 as u128) << (62 - i64::from(BITS) - exponent)
        } else {
            self.0 as u128 >> (exponent + i64::from(BITS) - 62)
        };
        let mut fraction = 0_i128;
        for _ in 0..BITS {
            square = (square * square) >> 62;
            let above = square >> 63;
            fraction = fraction << 1 | above as i128;
            square >>= above;
        }
        Self(i128::from(exponent) << BITS | fraction)
    }

    /// 2 to this power: a factor of 2^(1/2), 2^(1/4) and so on for each fraction bit.
    pub fn exp2(self) -> Self {
        let whole = self.0 >> BITS;
        let fraction = self.0 - (whole << BITS);
        let mut power = Self::ONE;
        let mut factor = Self::integer(2);
        for bit in (0..BITS).rev() {
            factor = factor.sqrt();
            if fraction >> bit & 1 == 1 {
                power = power * factor;
            }
        }
        if whole >= 0 {
            Self(power.0 << whole.min(60))
        } else {
            Self(power.0 >> whole.unsigned_abs().min(100))
        }
    }

    /// A positive number raised to a power.
    pub fn power(self, exponent: Self) -> Self {
        (self.log2() * exponent).exp2()
    }
}

impl Add for Fixed {
    type Output = Self;

    fn add(self, other: Self) -> Self {
        Self(self.0 + other.0)
    }
}

impl Sub for Fixed {
    type Output = Self;

    fn sub(self, other: Self) -> Self {
        Self(self.0 - other.0)
    }
}

impl Mul for Fixed {
    type Output = Self;

    fn mul(self, other: Self) -> Self {
        Self((self.0 * other.0) >> BITS)
    }
}

impl Div for Fixed {
    type Output = Self;

    fn div(self, other: Self) -> Self {
        Self((self.0 << BITS) / other.0)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Converts a number below 2^63 to billionths.
    fn billionths(number: Fixed) -> i128 {
        (number.0 * 1_000_000_000 + (1 << 31)) >> BITS
    }

    #[test]
    fn roots_logarithms_and_powers() {
        let close = |number: Fixed, wanted: i128| {
            let found = billionths(number);
            assert!(found.abs_diff(wanted) <= 20, "{found} {wanted}");
        };
        close(Fixed::integer(2).sqrt(), 1_414_213_562);
        close(Fixed::integer(10).log2(), 3_321_928_095);
        close(Fixed::ratio(1, 10).log2(), -3_321_928_095);
        close(Fixed::ratio(5, 2).exp2(), 5_656_854_249);
        close(Fixed::ratio(-5, 2).exp2(), 176_776_695);
        close(
            Fixed::ratio(99, 100).power(Fixed::ratio(172_788, 10_000)),
            840_584_537,
        );
    }
}
