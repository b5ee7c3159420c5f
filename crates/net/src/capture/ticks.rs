//! Time units of an interface.

/// The default unit.
pub(super) const MICROSECONDS: u8 = 6;
/// Set if the unit is a power of two.
const POWER_OF_TWO: u8 = 0x80;

const NANO: u128 = 1_000_000_000;

/// Interpretation of the times of a pcapng interface: units of 10^-n or 2^-n seconds, as given by
/// `if_tsresol`, plus an offset in seconds.
#[derive(Clone, Copy, Debug)]
pub(super) struct Ticks {
    pub unit: u8,
    pub offset_seconds: i64,
}

impl Ticks {
    /// Returns nanoseconds since 1970, rounded down.
    pub(super) fn nanoseconds(self, ticks: u64) -> i128 {
        let exponent = u32::from(self.unit & !POWER_OF_TWO);
        let scaled = u128::from(ticks) * NANO;
        // In units this small, 64 bits hold less than a nanosecond.
        let since = if self.unit & POWER_OF_TWO == 0 {
            10_u128
                .checked_pow(exponent)
                .map_or(0, |unit| scaled / unit)
        } else {
            scaled.checked_shr(exponent).unwrap_or(0)
        };
        since as i128 + i128::from(self.offset_seconds) * NANO as i128
    }
}

#[cfg(test)]
mod tests {
    use super::Ticks;

    #[test]
    fn units_of_every_size_convert_to_nanoseconds() {
        let nanoseconds = |unit, ticks| {
            let ticks_of = Ticks {
                unit,
                offset_seconds: 0,
            };
            ticks_of.nanoseconds(ticks)
        };
        assert_eq!(nanoseconds(0, 3), 3_000_000_000);
        assert_eq!(nanoseconds(12, 1_999), 1);
        assert_eq!(nanoseconds(19, u64::MAX), 1_844_674_407);
        assert_eq!(nanoseconds(0x80 | 32, 3 << 31), 1_500_000_000);
        assert_eq!(nanoseconds(0x80 | 63, u64::MAX), 1_999_999_999);
        assert_eq!(nanoseconds(127, u64::MAX), 0);
        assert_eq!(nanoseconds(0xff, u64::MAX), 0);
        // The largest value.
        assert_eq!(
            nanoseconds(0, u64::MAX),
            i128::from(u64::MAX) * 1_000_000_000
        );
        let early = Ticks {
            unit: 0,
            offset_seconds: -5,
        };
        assert_eq!(early.nanoseconds(2), -3_000_000_000);
    }
}
