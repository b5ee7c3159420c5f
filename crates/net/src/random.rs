//! Random numbers that are the same on every machine: integer arithmetic only.

use serde::{Deserialize, Serialize};

/// `SplitMix64` (Steele, Lea and Flood, 2014): 64 bits of state, every seed is good.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Random(u64);

/// Increment of the state: 2^64 divided by the golden ratio, made odd.
const STEP: u64 = 0x9e37_79b9_7f4a_7c15;

/// ln 2 in 1/2^32, the factor from base-2 to natural logarithms.
const LN_2: u64 = 2_977_044_472;

/// Fraction bits of [`Random::exponential`].
pub(crate) const EXPONENTIAL_BITS: u32 = 32;

impl Random {
    /// Creates the stream of this number under this seed; streams of one seed do not overlap.
    #[must_use]
    pub fn new(seed: u64, stream: u64) -> Self {
        Self(mixed(seed) ^ mixed(stream.wrapping_mul(STEP) ^ 0x6e70_7369_6d00_0001))
    }

    /// Returns the next 64 bits.
    #[allow(clippy::should_implement_trait, reason = "the stream has no end")]
    pub fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(STEP);
        mixed(self.0)
    }

    /// Draws uniformly from `0..limit`; `limit` is so much smaller than 2^64 that the bias cannot be
    /// measured.
    pub fn below(&mut self, limit: u64) -> u64 {
        ((u128::from(self.next()) * u128::from(limit)) >> 64) as u64
    }

    /// Draws an exponentially distributed number with mean 1, in 1/2^32.
    pub fn exponential(&mut self) -> u64 {
        let uniform = self.next() | 1;
        // -log2(uniform / 2^64) = zeros + 1 - log2(mantissa), the mantissa being in 1..2.
        let zeros = uniform.leading_zeros();
        let mantissa = uniform << zeros;
        let bits = ((u64::from(zeros) + 1) << EXPONENTIAL_BITS) - log2(mantissa);
        ((u128::from(bits) * u128::from(LN_2)) >> EXPONENTIAL_BITS) as u64
    }
}

/// Returns the base-2 logarithm of `mantissa / 2^63`, which is in 1..2, in 1/2^32: squaring doubles a
/// logarithm, and each time the square exceeds 2, the next bit of the logarithm is one.
fn log2(mantissa: u64) -> u64 {
    let mut square = mantissa;
    let mut bits = 0;
    for _ in 0..EXPONENTIAL_BITS {
        let product = u128::from(square) * u128::from(square);
        let above = (product >> 127) as u64;
        bits = bits << 1 | above;
        square = (product >> (63 + above)) as u64;
    }
    bits
}

/// Mixes a value: a bijection in which every output bit depends on every input bit.
pub(crate) fn mixed(value: u64) -> u64 {
    let value = (value ^ (value >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
    let value = (value ^ (value >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
    value ^ (value >> 31)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn logarithms_are_accurate_to_the_last_bits() {
        for (numerator, denominator, wanted) in [
            (1u128, 1u128, 0u64),
            (3, 2, 2_512_394_810),
            (5, 4, 1_382_670_639),
            (255, 128, 4270715491),
        ] {
            let mantissa = ((numerator << 63) / denominator) as u64;
            assert!(
                log2(mantissa).abs_diff(wanted) < 4,
                "{numerator}/{denominator}: {}",
                log2(mantissa)
            );
        }
    }

    #[test]
    fn exponential_draws_follow_their_distribution() {
        let mut random = Random::new(7, 0);
        let draws: Vec<u64> = (0..400_000).map(|_| random.exponential()).collect();
        let one = 1u128 << EXPONENTIAL_BITS;
        let count = draws.len() as u128;
        let mean = draws.iter().map(|&draw| u128::from(draw)).sum::<u128>() / count;
        assert!(mean.abs_diff(one) < one / 200, "{mean}");
        let squares = draws
            .iter()
            .map(|&draw| u128::from(draw).pow(2) >> EXPONENTIAL_BITS);
        let second_moment = squares.sum::<u128>() / count;
        assert!(
            second_moment.abs_diff(2 * one) < one / 50,
            "{second_moment}"
        );
        let beyond = |limit: u128| {
            draws
                .iter()
                .filter(|&&draw| u128::from(draw) > limit)
                .count()
        };
        // A fraction e^-1 of the values beyond any point is also beyond that point plus one.
        for limit in [0, one / 2, one] {
            let (from, to) = (beyond(limit) as u64, beyond(limit + one) as u64);
            assert!((to * 1000 / from).abs_diff(367) < 8, "{from} {to}");
        }
    }

    #[test]
    fn random_stream_is_stable() {
        let mut random = Random::new(1, 2);
        let drawn: Vec<u64> = (0..3).map(|_| random.next()).collect();
        assert_eq!(drawn, EXPECTED);
        let mut other = Random::new(1, 3);
        assert_ne!(other.next(), drawn[0]);
    }

    /// Changing these numbers changes the traffic of every load.
    const EXPECTED: [u64; 3] = [
        16286370356874426496,
        4819853569920392405,
        12911714807604669935,
    ];
}
