//! Scale factors: a mantissa and a shift, so that a microengine multiplies and never divides.

use serde::{Deserialize, Serialize};

/// mantissa x 2^-shift, with 2^30 <= mantissa < 2^31 and shift <= 62; both are 0 for zero. Factors
/// below 2^-32, which would need a larger shift, keep the shift 62 and have a smaller mantissa;
/// factors of 2^31 and more saturate at the largest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct Factor {
    /// 0, or the first 31 bits of the factor.
    pub mantissa: u32,
    /// The right shift of a product.
    pub shift: u8,
}

impl Factor {
    /// The factor zero.
    pub const ZERO: Self = Self {
        mantissa: 0,
        shift: 0,
    };
    /// The largest factor.
    pub const MAX: Self = Self {
        mantissa: (1 << 31) - 1,
        shift: 0,
    };
    /// The largest shift.
    pub const MAX_SHIFT: u8 = 62;

    /// numerator / denominator, rounded down; zero if the denominator is zero.
    #[must_use]
    pub fn ratio(numerator: u32, denominator: u64) -> Self {
        if denominator == 0 || numerator == 0 {
            return Self::ZERO;
        }
        let scaled = |shift: u8| (u128::from(numerator) << shift) / u128::from(denominator);
        if scaled(0) >= 1 << 31 {
            return Self::MAX;
        }
        let shift = (0..=Self::MAX_SHIFT)
            .rev()
            .find(|shift| scaled(*shift) < 1 << 31)
            .unwrap_or(0);
        match scaled(shift) as u32 {
            0 => Self::ZERO,
            mantissa => Self { mantissa, shift },
        }
    }

    /// factor x `value`, rounded down.
    #[must_use]
    pub fn times(self, value: u32) -> u64 {
        (u64::from(self.mantissa) * u64::from(value)) >> self.shift.min(63)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    #[test]
    fn ratio_saturates_at_its_edges() {
        assert_eq!(Factor::ratio(5, 0), Factor::ZERO);
        assert_eq!(Factor::ratio(0, 5), Factor::ZERO);
        assert_eq!(Factor::ratio(u32::MAX, 1), Factor::MAX);
        assert_eq!(
            Factor::ratio(1, 1),
            Factor {
                mantissa: 1 << 30,
                shift: 30
            }
        );
        assert_eq!(
            Factor::ratio(1, 1 << 32),
            Factor {
                mantissa: 1 << 30,
                shift: 62
            }
        );
        assert_eq!(
            Factor::ratio(1, 1 << 33),
            Factor {
                mantissa: 1 << 29,
                shift: 62
            }
        );
        assert_eq!(Factor::ratio(1, 1 << 63), Factor::ZERO);
    }

    proptest! {
        #[test]
        fn factor_is_normalised_and_never_exceeds_its_ratio(
            numerator in 1_u32..=i32::MAX as u32, denominator in 1_u64.., bits in 0_u32..64, value: u32,
        ) {
            let denominator = (denominator >> bits).max(1);
            let scale = Factor::ratio(numerator, denominator);
            prop_assert!(scale.mantissa < 1 << 31 && scale.shift <= Factor::MAX_SHIFT);
            prop_assert!(scale.mantissa >= 1 << 30 || scale.shift == Factor::MAX_SHIFT || scale == Factor::ZERO);
            let exact = u128::from(numerator) * u128::from(value) / u128::from(denominator);
            let got = u128::from(scale.times(value));
            prop_assert!(got <= exact);
            // The error is that of 31 mantissa bits or of the last of 62 places, plus one for
            // rounding the product.
            prop_assert!(exact - got <= (exact >> 30) + 1 + (u128::from(value) >> 62));
        }
    }
}
