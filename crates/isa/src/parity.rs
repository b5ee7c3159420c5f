//! Control-store parity.

use crate::raw;

/// Returns the two parity bits, in place (bits 40 and 41), that give each half
/// of a control-store word even parity.
#[must_use]
pub fn parity_bits(word: u64) -> u64 {
    let parity = |half: raw::Field| u64::from(half.get(word).count_ones() & 1);
    raw::parity::PARITY_LOW.put(parity(raw::parity::HALF_LOW))
        | raw::parity::PARITY_HIGH.put(parity(raw::parity::HALF_HIGH))
}

#[cfg(test)]
mod tests {
    use super::parity_bits;

    #[test]
    fn each_half_word_has_its_own_parity_bit() {
        assert_eq!(parity_bits(0), 0);
        assert_eq!(parity_bits(1), 1 << 40);
        assert_eq!(parity_bits(1 << 19), 1 << 40);
        assert_eq!(parity_bits(1 << 20), 1 << 41);
        assert_eq!(parity_bits(1 << 39 | 1), 3 << 40);
        assert_eq!(parity_bits(3), 0);
    }
}
