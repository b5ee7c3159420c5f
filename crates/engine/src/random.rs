//! `PSEUDO_RANDOM_NUMBER`: a 32-bit linear feedback shift register.
//!
//! The hardware's polynomial is not published; a maximal-length one is used instead, so every value
//! but 0 occurs once per period.

/// x^32 + x^22 + x^2 + x + 1, without its top term.
const POLYNOMIAL: u32 = 0x0040_0007;

/// The value after `steps` steps from `state`.
pub(crate) fn advance(state: u32, steps: u64) -> u32 {
    // Each step multiplies by x, so `steps` of them are one product with x^steps.
    let mut factor = 2;
    let mut product = state;
    let mut rest = steps;
    while rest != 0 {
        if rest & 1 != 0 {
            product = multiply(product, factor);
        }
        factor = multiply(factor, factor);
        rest >>= 1;
    }
    product
}

fn multiply(mut a: u32, mut b: u32) -> u32 {
    let mut product = 0;
    while b != 0 {
        if b & 1 != 0 {
            product ^= a;
        }
        a = a << 1 ^ if a & 1 << 31 != 0 { POLYNOMIAL } else { 0 };
        b >>= 1;
    }
    product
}

#[cfg(test)]
mod tests {
    use super::{POLYNOMIAL, advance};

    #[test]
    fn random_advance_equals_repeated_single_steps() {
        let mut state = 0x1234_5678;
        for steps in 0..200 {
            assert_eq!(advance(0x1234_5678, steps), state);
            state = state << 1 ^ if state & 1 << 31 != 0 { POLYNOMIAL } else { 0 };
        }
    }

    #[test]
    fn random_generator_has_maximal_period() {
        let period = u64::from(u32::MAX);
        assert_eq!(advance(1, period), 1);
        for prime in [3, 5, 17, 257, 65537] {
            assert_ne!(advance(1, period / prime), 1);
        }
    }
}
