//! Simulated time.

/// A time or duration in picoseconds, the unit used for lines in this repository. A `u64` holds 213
/// days.
pub type Time = u64;

/// One microsecond.
pub const MICROSECOND: Time = 1_000_000;
/// One millisecond.
pub const MILLISECOND: Time = 1_000_000_000;
/// One second.
pub const SECOND: Time = 1_000_000_000_000;

/// Returns the time that `bytes` take at `rate` bytes per second, rounded up; the maximum for a rate of
/// 0.
#[must_use]
pub fn transfer_time(bytes: u64, rate: u64) -> Time {
    if rate == 0 {
        return Time::MAX;
    }
    let time = (u128::from(bytes) * u128::from(SECOND)).div_ceil(u128::from(rate));
    Time::try_from(time).unwrap_or(Time::MAX)
}

/// Returns the bytes transferred in `time` at `rate` bytes per second, rounded down.
#[must_use]
pub fn bytes_in(time: Time, rate: u64) -> u64 {
    let bytes = u128::from(time) * u128::from(rate) / u128::from(SECOND);
    u64::try_from(bytes).unwrap_or(u64::MAX)
}

/// Returns the rate in bytes per second of `bytes` in `time`, rounded down; 0 for a time of 0.
#[must_use]
pub fn rate_of(bytes: u64, time: Time) -> u64 {
    let rate = (u128::from(bytes) * u128::from(SECOND)).checked_div(u128::from(time));
    u64::try_from(rate.unwrap_or(0)).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_rates_and_times_agree() {
        assert_eq!(transfer_time(1_500, 125_000_000), 12 * MICROSECOND);
        assert_eq!(transfer_time(1, 3), 333_333_333_334);
        assert_eq!(transfer_time(1, 0), Time::MAX);
        assert_eq!(bytes_in(12 * MICROSECOND, 125_000_000), 1_500);
        assert_eq!(rate_of(1_500, 12 * MICROSECOND), 125_000_000);
        assert_eq!(rate_of(1, 0), 0);
    }
}
