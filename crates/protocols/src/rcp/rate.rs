//! The rate of a link, which the slow path of RCP computes once per interval.

use serde::{Deserialize, Serialize};

use super::counters::Counters;
use crate::ParameterError;

const NANOSECONDS: i128 = 1_000_000_000;
const MILLION: i128 = 1_000_000;

/// Units of the header's round-trip times per second.
const RTT_UNITS: u128 = 1 << 14;

/// Longest interval and round-trip time: 4 s, the most that the header can carry.
pub const MAX_INTERVAL: u64 = 4_000_000_000;

/// Parameters set by the operator. Times are in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct RcpSettings {
    /// Capacity of the link in bytes per second.
    pub capacity: u64,
    /// The part of the capacity to use, in bytes per second: eta x capacity.
    pub target: u64,
    /// Gain for the spare capacity in parts per million.
    pub alpha: u32,
    /// Gain for the queue in parts per million.
    pub beta: u32,
    /// Time between two updates; never longer than the average round-trip time.
    pub period: u64,
    /// Rate before the first update, bytes per second.
    pub initial_rate: u32,
    /// Average round-trip time before a packet carries one.
    pub initial_rtt: u64,
}

impl RcpSettings {
    /// The usual parameters for a link of `capacity` bytes per second: alpha and beta 0.4, all of the
    /// capacity, an update every 10 ms, an initial rate of 5 % and an initial round-trip time of 200 ms.
    #[must_use]
    pub fn for_capacity(capacity: u64) -> Self {
        Self {
            capacity,
            target: capacity,
            alpha: 400_000,
            beta: 400_000,
            period: 10_000_000,
            initial_rate: u32::try_from(capacity / 20).unwrap_or(u32::MAX),
            initial_rtt: 200_000_000,
        }
    }
}

/// Returns the rate after an interval of `length` ns in which `arrived` bytes arrived and at whose end
/// `queue` bytes were waiting, with an average round-trip time of `rtt` ns:
///
/// rate x (1 + length / rtt x (alpha x (target - input) - beta x queue / rtt) / target)
///
/// It is computed exactly, then rounded down; it is at least ten bytes per round-trip time and at most
/// the target.
#[must_use]
pub fn update(
    parameters: &RcpSettings,
    rate: u32,
    length: u64,
    rtt: u64,
    arrived: u64,
    queue: u32,
) -> u32 {
    let (length, rtt) = (i128::from(length.max(1)), i128::from(rtt.max(1)));
    let target = i128::from(parameters.target.max(1));
    let spare = target * length - i128::from(arrived) * NANOSECONDS;
    let drain = i128::from(parameters.beta) * i128::from(queue) * NANOSECONDS * length;
    let gain = i128::from(parameters.alpha) * spare * rtt - drain;
    let denominator = MILLION * rtt * rtt * target;
    let factor = (denominator + gain).max(0);
    let wanted = times_ratio(rate, factor as u128, denominator as u128);
    let least = (10 * NANOSECONDS / rtt) as u64;
    wanted
        .max(least)
        .min(parameters.target)
        .min(u64::from(u32::MAX)) as u32
}

/// Returns value x numerator / denominator, rounded down; saturates.
fn times_ratio(value: u32, numerator: u128, denominator: u128) -> u64 {
    let (whole, rest) = (numerator / denominator, numerator % denominator);
    // value x rest may not fit in 128 bits: long division, one bit of the value at a time.
    let (mut quotient, mut remainder) = (0_u64, 0_u128);
    for bit in (0..32).rev() {
        quotient *= 2;
        remainder *= 2;
        if value >> bit & 1 == 1 {
            remainder += rest;
        }
        quotient += (remainder / denominator) as u64;
        remainder %= denominator;
    }
    u64::try_from(whole)
        .unwrap_or(u64::MAX)
        .saturating_mul(u64::from(value))
        .saturating_add(quotient)
}

/// Returns the average round-trip time in ns after an interval of `length` ns in which packets of
/// `counters.rtt_bytes` bytes carried one, rounded down; unchanged if none did.
///
/// The samples' mean s (rounded down to a nanosecond) moves the average d by the gain length / d if it
/// is longer, and by the smaller gain (rate / capacity) x (s / d) x (length / d) if it is shorter.
#[must_use]
pub(crate) fn average_rtt(
    parameters: &RcpSettings,
    rate: u32,
    length: u64,
    rtt: u64,
    counters: &Counters,
) -> u64 {
    let told = u128::from(counters.rtt_sum) * NANOSECONDS as u128;
    match told.checked_div(u128::from(counters.rtt_bytes) * RTT_UNITS) {
        None => rtt,
        Some(mean) => {
            let mean = u64::try_from(mean).unwrap_or(u64::MAX).min(MAX_INTERVAL);
            move_average(parameters.capacity, rate, length, rtt, mean)
        }
    }
}

/// Moves the average `rtt` towards `mean`; times in ns.
fn move_average(capacity: u64, rate: u32, length: u64, rtt: u64, mean: u64) -> u64 {
    let (d, s) = (u128::from(rtt.max(1)), u128::from(mean));
    let length = u128::from(length).min(d);
    if s >= d {
        (d + length * (s - d) / d) as u64
    } else {
        let share = u128::from(rate) * length * s * (d - s);
        let down = share.div_ceil(u128::from(capacity.max(1)) * d * d);
        (d - down.min(d - s)).max(1) as u64
    }
}

/// The slow path's state of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct LinkRate {
    parameters: RcpSettings,
    current: u32,
    rtt: u64,
}

impl LinkRate {
    /// Creates the state before the first packet.
    ///
    /// # Errors
    ///
    /// Returns an error if a parameter is out of its range.
    pub fn new(parameters: RcpSettings) -> Result<Self, ParameterError> {
        ParameterError::unless(
            (1..=1 << 34).contains(&parameters.capacity),
            "capacity",
            "above 0 and at most 2^34 bytes per second",
        )?;
        ParameterError::unless(
            (1..=parameters.capacity).contains(&parameters.target),
            "eta",
            "above 0 and at most 1",
        )?;
        ParameterError::unless(parameters.alpha <= 10_000_000, "alpha", "at most 10")?;
        ParameterError::unless(parameters.beta <= 10_000_000, "beta", "at most 10")?;
        for (name, time) in [
            ("period", parameters.period),
            ("initial_rtt", parameters.initial_rtt),
        ] {
            ParameterError::unless(
                (1..=MAX_INTERVAL).contains(&time),
                name,
                "above 0 and at most 4 seconds",
            )?;
        }
        ParameterError::unless(parameters.initial_rate > 0, "initial_rate", "above 0")?;
        Ok(Self {
            parameters,
            current: parameters.initial_rate,
            rtt: parameters.initial_rtt,
        })
    }

    /// The parameters.
    #[must_use]
    pub fn parameters(&self) -> &RcpSettings {
        &self.parameters
    }

    /// The rate of every flow in bytes per second.
    #[must_use]
    pub fn rate(&self) -> u32 {
        self.current
    }

    /// The average round-trip time in ns.
    #[must_use]
    pub fn rtt(&self) -> u64 {
        self.rtt
    }

    /// The intended length of the current interval in ns: the period, or the average round-trip time if
    /// that is shorter.
    #[must_use]
    pub fn length(&self) -> u64 {
        self.parameters.period.min(self.rtt)
    }

    /// Ends an interval of `length` ns in which `counters` arrived, with `queue` bytes waiting: updates
    /// the average round-trip time, then the rate.
    pub fn fire(&mut self, length: u64, counters: &Counters, queue: u32) {
        let length = length.min(MAX_INTERVAL);
        self.rtt = average_rtt(&self.parameters, self.current, length, self.rtt, counters);
        self.current = update(
            &self.parameters,
            self.current,
            length,
            self.rtt,
            u64::from(counters.bytes),
            queue,
        );
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CAPACITY: u64 = 125_000_000;
    const MS: u64 = 1_000_000;

    /// (a) and (b): packets of 1000 bytes with 0.1 s and 500 bytes with 0.3 s have a mean of 1/6 s.
    #[test]
    fn rtt_average_rises_faster_than_it_falls() {
        let sixth = 1_000_000_000 / 6;
        let rate = (CAPACITY / 20) as u32;
        let down = move_average(CAPACITY, rate, 10 * MS, 200 * MS, sixth);
        assert_eq!(down, 2_879_000_000_000 / 14_400);
        let up = move_average(CAPACITY, rate, 10 * MS, 100 * MS, sixth);
        assert_eq!(up, 8_000_000_000 / 75);
    }

    #[test]
    fn mean_rtt_is_weighted_by_bytes() {
        let parameters = RcpSettings::for_capacity(CAPACITY);
        let mut counters = Counters::default();
        assert_eq!(
            average_rtt(&parameters, 1, 10 * MS, 100 * MS, &counters),
            100 * MS
        );
        // A complete interval of d: the average becomes the mean, 0.25 x 1/4 + 0.5 x 3/4 s.
        counters.arrive(100, 4_096);
        counters.arrive(300, 8_192);
        counters.arrive(40, 0);
        let moved = average_rtt(&parameters, 1, 100 * MS, 100 * MS, &counters);
        assert_eq!(moved, 437_500_000);
    }

    #[test]
    fn rate_rises_when_idle_and_falls_when_flooded() {
        let mut rate = LinkRate::new(RcpSettings::for_capacity(CAPACITY)).unwrap();
        assert_eq!((rate.rate(), rate.length()), (6_250_000, 10 * MS));
        for _ in 0..1_000 {
            rate.fire(10 * MS, &Counters::default(), 0);
        }
        assert_eq!(u64::from(rate.rate()), CAPACITY);
        let flood = Counters {
            bytes: 5_000_000,
            ..Counters::default()
        };
        for _ in 0..1_000 {
            rate.fire(10 * MS, &flood, u32::MAX);
        }
        assert_eq!(rate.rate(), 50);
    }

    #[test]
    fn parameters_out_of_range_are_named() {
        let good = RcpSettings::for_capacity(CAPACITY);
        let bad = RcpSettings {
            target: CAPACITY + 1,
            ..good
        };
        assert_eq!(
            LinkRate::new(bad).unwrap_err().to_string(),
            "`eta` must be above 0 and at most 1"
        );
        let bad = RcpSettings { period: 0, ..good };
        assert_eq!(LinkRate::new(bad).unwrap_err().name, "period");
        let bad = RcpSettings {
            initial_rate: 0,
            ..good
        };
        assert_eq!(LinkRate::new(bad).unwrap_err().name, "initial_rate");
    }

    proptest! {
        #[test]
        fn a_product_with_a_ratio_is_exact(value: u32, numerator in 0_u128..1 << 90, denominator in 1_u128..1 << 90) {
            let exact = u128::from(value) * numerator / denominator;
            prop_assert_eq!(times_ratio(value, numerator, denominator), u64::try_from(exact).unwrap_or(u64::MAX));
        }

        #[test]
        fn rate_stays_within_its_limits_after_any_interval(
            capacity in 1_u64..=1 << 34, eta in 1_u64..=100, alpha in 0_u32..=10_000_000, beta in 0_u32..=10_000_000,
            rate in 1_u32.., length in 1..=MAX_INTERVAL, initial_rtt in 1..=MAX_INTERVAL,
            bytes: u32, rtt_bytes: u32, rtt_sum: u64, queue: u32,
        ) {
            let target = (capacity * eta / 100).max(1);
            let parameters = RcpSettings { target, alpha, beta, initial_rate: rate, initial_rtt, ..RcpSettings::for_capacity(capacity) };
            let mut link = LinkRate::new(parameters).unwrap();
            link.fire(length, &Counters { bytes, rtt_bytes, rtt_sum }, queue);
            prop_assert!((1..=MAX_INTERVAL).contains(&link.rtt()));
            prop_assert!(u64::from(link.rate()) <= target);
            let least = 10_000_000_000 / link.rtt();
            prop_assert!(u64::from(link.rate()) >= least.min(target).min(u64::from(u32::MAX)));
        }

        #[test]
        fn more_traffic_never_means_a_higher_rate(
            rate in 1_u32..200_000_000, rtt in 1_000_000_u64..1_000_000_000,
            bytes in 0_u64..10_000_000, more in 0_u64..10_000_000, queue in 0_u32..10_000_000,
        ) {
            let parameters = RcpSettings::for_capacity(CAPACITY);
            let of = |bytes| update(&parameters, rate, 10 * MS, rtt, bytes, queue);
            prop_assert!(of(bytes + more) <= of(bytes));
        }

        #[test]
        fn rtt_average_moves_towards_the_mean(
            capacity in 1_u64..=1 << 34, rate: u32, length in 1..=MAX_INTERVAL, rtt in 1..=MAX_INTERVAL, mean in 1..=MAX_INTERVAL,
        ) {
            let moved = move_average(capacity, rate, length, rtt, mean);
            prop_assert!((rtt.min(mean)..=rtt.max(mean)).contains(&moved));
        }
    }
}
