//! `fixed.uc`.

use proptest::prelude::*;

use super::bench::{Program, Words, cases, few_runs, results};

fn halves(value: u64) -> (u32, u32) {
    ((value >> 32) as u32, value as u32)
}

fn joined(high: u32, low: u32) -> u64 {
    u64::from(high) << 32 | u64::from(low)
}

fn products(&[a, b, ..]: &Words) -> Words {
    let short = (a & 0xffff) * (b & 0xffff);
    let (high, low) = halves(u64::from(a) * u64::from(b));
    let (high16, low16) = halves(u64::from(a) * u64::from(b & 0xffff));
    [short, high, low, high16, low16, 0, 0, 0]
}

fn wide(&[high, low, more_high, more_low, shift, ..]: &Words) -> Words {
    let (value, amount) = (joined(high, low), joined(more_high, more_low));
    let (sum, carry) = value.overflowing_add(amount);
    let (sum_high, sum_low) = halves(sum);
    let (less_high, less_low) = halves(value.wrapping_sub(amount));
    let (over, shifted) = halves(value >> shift);
    [
        sum_high,
        sum_low,
        u32::from(carry),
        less_high,
        less_low,
        shifted,
        shifted,
        over,
    ]
}

fn scaled(&[high, low, shift, limit, ..]: &Words) -> Words {
    let scaled = u32::try_from(joined(high, low) >> shift).unwrap_or(u32::MAX);
    [scaled, scaled.min(limit), low.min(limit), 0, 0, 0, 0, 0]
}

proptest! {
    #![proptest_config(few_runs())]

    #[test]
    fn multiply_macros_give_exact_products(cases in cases(3000)) {
        let got = results(&Program::new("multiply"), &cases);
        for (case, got) in cases.iter().zip(got) {
            prop_assert_eq!(got, products(case), "{:#x?}", &case[..2]);
        }
    }

    #[test]
    fn two_longword_arithmetic_matches_64_bits(mut cases in cases(3000)) {
        for (at, case) in cases.iter_mut().enumerate() {
            case[4] = at as u32 % 64;
        }
        let got = results(&Program::new("wide"), &cases);
        for (case, got) in cases.iter().zip(got) {
            prop_assert_eq!(got, wide(case), "{:#x?}", &case[..5]);
        }
    }

    #[test]
    fn scaled_values_saturate_at_a_longword(mut cases in cases(3000)) {
        for (at, case) in cases.iter_mut().enumerate() {
            case[2] = at as u32 % 64;
        }
        let got = results(&Program::new("scale"), &cases);
        for (case, got) in cases.iter().zip(got) {
            prop_assert_eq!(got, scaled(case), "{:#x?}", &case[..4]);
        }
    }
}
