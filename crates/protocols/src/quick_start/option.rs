//! The Quick-Start option of IPv4: finding it in a header, and its fields.

use serde::{Deserialize, Serialize};
use std::ops::Range;

/// Type byte of the option.
pub const KIND: u8 = 25;
/// Length of the option, type and length bytes included.
pub const LENGTH: usize = 8;
/// Function code of a rate request.
pub const RATE_REQUEST: u8 = 0;
/// Function code of a report of the approved rate.
pub const APPROVED_RATE: u8 = 8;

const END_OF_OPTIONS: u8 = 0;
const NO_OPERATION: u8 = 1;

/// Returns the rate of a code (its lower four bits) in units of 40 kbit/s.
#[must_use]
pub const fn rate_units(code: u8) -> i32 {
    match code & 0xf {
        0 => 0,
        code => 1 << code,
    }
}

/// The bits of the option's second longword that a router randomises when it lowers a request from
/// code `asked` to code `granted`: the pairs of nonce bits granted + 1 to asked.
#[must_use]
pub const fn nonce_mask(asked: u8, granted: u8) -> u32 {
    above_pair(asked).wrapping_sub(above_pair(granted)) as u32
}

/// The lowest bit above the pair of code `code`.
const fn above_pair(code: u8) -> u64 {
    1 << (2 * (code & 0xf) + 2)
}

/// The fields of the option.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct QuickStartOption {
    /// 0 for a rate request, 8 for a report of the approved rate (4 bits).
    pub function: u8,
    /// Rate code (4 bits).
    pub rate: u8,
    /// QS TTL, which every participating router decrements together with the TTL of the header.
    pub ttl: u8,
    /// The sender's nonce (30 bits).
    pub nonce: u32,
    /// The two bits after the nonce, sent as 0 and forwarded unchanged.
    pub reserved: u8,
}

impl QuickStartOption {
    /// Reads an option of the right kind and length.
    #[must_use]
    pub fn from_bytes(bytes: &[u8]) -> Option<Self> {
        let bytes: &[u8; LENGTH] = bytes.try_into().ok()?;
        if bytes[0] != KIND || usize::from(bytes[1]) != LENGTH {
            return None;
        }
        let word = u32::from_be_bytes([bytes[4], bytes[5], bytes[6], bytes[7]]);
        Some(Self {
            function: bytes[2] >> 4,
            rate: bytes[2] & 0xf,
            ttl: bytes[3],
            nonce: word >> 2,
            reserved: (word & 3) as u8,
        })
    }

    /// Encodes the option as it appears in a header.
    #[must_use]
    pub fn to_bytes(self) -> [u8; LENGTH] {
        let [a, b, c, d] = self.word().to_be_bytes();
        let rate = (self.function & 0xf) << 4 | self.rate & 0xf;
        [KIND, LENGTH as u8, rate, self.ttl, a, b, c, d]
    }

    /// The second longword: the nonce and the two bits after it.
    #[must_use]
    pub fn word(self) -> u32 {
        self.nonce << 2 | u32::from(self.reserved & 3)
    }

    /// A denied request: rate, TTL and nonce are zero.
    #[must_use]
    pub fn denied() -> Self {
        Self {
            function: RATE_REQUEST,
            rate: 0,
            ttl: 0,
            nonce: 0,
            reserved: 0,
        }
    }

    /// A request granted at code `granted`, which must not exceed the requested code. The parts of
    /// the nonce that would prove a higher rate are replaced by bits of `random`.
    #[must_use]
    pub fn granted(self, granted: u8, random: u32) -> Self {
        let mask = nonce_mask(self.rate, granted);
        let word = self.word() & !mask | random & mask;
        Self {
            rate: granted,
            ttl: self.ttl.wrapping_sub(1),
            nonce: word >> 2,
            reserved: (word & 3) as u8,
            ..self
        }
    }
}

/// Options that cannot be parsed: a length is below two or extends past the end of the header.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Malformed;

/// The range of the first option of kind 25 in a complete IPv4 header, by the option's own length,
/// whether that is valid or not; `None` without one.
///
/// # Errors
///
/// Returns an error if an option before it, or its own length, is malformed.
pub fn find(header: &[u8]) -> Result<Option<Range<usize>>, Malformed> {
    let mut at = 20;
    while at < header.len() {
        match header[at] {
            END_OF_OPTIONS => return Ok(None),
            NO_OPERATION => at += 1,
            kind => {
                let length = usize::from(*header.get(at + 1).ok_or(Malformed)?);
                if length < 2 || at + length > header.len() {
                    return Err(Malformed);
                }
                if kind == KIND {
                    return Ok(Some(at..at + length));
                }
                at += length;
            }
        }
    }
    Ok(None)
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    fn header(options: &[u8]) -> Vec<u8> {
        let mut header = vec![0; 20];
        header.extend(options);
        header
    }

    #[test]
    fn codes_are_powers_of_two() {
        assert_eq!(rate_units(0), 0);
        assert_eq!(rate_units(1), 2);
        assert_eq!(rate_units(8), 256);
        assert_eq!(rate_units(15), 32_768);
    }

    /// The pair that proves "not lowered from K to K - 1" is at bits 2K and 2K + 1 of the longword.
    #[test]
    fn a_mask_covers_the_pairs_above_the_granted_code() {
        for asked in 0..=15_u8 {
            for granted in 0..=asked {
                let pairs = (granted + 1..=asked).fold(0, |mask, k| mask | 3_u32 << (2 * k));
                assert_eq!(nonce_mask(asked, granted), pairs, "{asked} to {granted}");
            }
        }
    }

    #[test]
    fn option_walk_follows_option_lengths() {
        let mut option = vec![25, 8];
        option.extend([0; 6]);
        let place = |before: &[u8]| find(&header(&[before, &option].concat()));
        assert_eq!(place(&[]), Ok(Some(20..28)));
        assert_eq!(place(&[1, 1, 1]), Ok(Some(23..31)));
        assert_eq!(place(&[7, 3, 25, 1]), Ok(Some(24..32)));
        assert_eq!(place(&[7, 2]), Ok(Some(22..30)));
        assert_eq!(place(&[1, 0]), Ok(None), "behind the end of the options");
        assert_eq!(place(&[7, 1]), Err(Malformed));
        assert_eq!(place(&[7, 0]), Err(Malformed));
        assert_eq!(place(&[7, 11]), Err(Malformed));
        assert_eq!(find(&header(&[7, 4, 0, 0])), Ok(None));
        assert_eq!(find(&header(&[1, 1, 1, 25])), Err(Malformed), "no length");
        assert_eq!(find(&header(&[25, 6, 0, 0, 0, 0, 0, 0])), Ok(Some(20..26)));
        assert_eq!(find(&header(&[25, 9, 0, 0, 0, 0, 0, 0])), Err(Malformed));
        assert_eq!(find(&header(&[])), Ok(None));
    }

    proptest! {
        #[test]
        fn option_round_trips_through_bytes(rate in 0_u8..16, function in 0_u8..16, ttl: u8, word: u32) {
            let option = QuickStartOption {
                function, rate, ttl, nonce: word >> 2, reserved: (word & 3) as u8,
            };
            prop_assert_eq!(QuickStartOption::from_bytes(&option.to_bytes()), Some(option));
        }

        #[test]
        fn lowered_rate_keeps_its_proving_nonce_bits(
            asked in 1_u8..16, lowered in 0_u8..15, ttl: u8, word: u32, random: u32,
        ) {
            let granted = asked.saturating_sub(lowered).max(1);
            let option = QuickStartOption {
                function: 0, rate: asked, ttl, nonce: word >> 2, reserved: (word & 3) as u8,
            };
            let after = option.granted(granted, random);
            let kept = (1_u32 << (2 * granted)) - 1;
            prop_assert_eq!(after.nonce & kept, option.nonce & kept);
            prop_assert_eq!(after.reserved, option.reserved);
            let above = (1_u64 << (2 * asked)) as u32;
            prop_assert_eq!(after.nonce & above.wrapping_neg(), option.nonce & above.wrapping_neg());
            if granted == asked {
                prop_assert_eq!(after.nonce, option.nonce);
            }
        }

        #[test]
        fn arbitrary_options_can_be_walked(options in prop::collection::vec(any::<u8>(), 0..=40)) {
            if let Ok(Some(place)) = find(&header(&options)) {
                prop_assert!(place.end <= 20 + options.len());
                prop_assert_eq!(options[place.start - 20], KIND);
            }
        }
    }
}
