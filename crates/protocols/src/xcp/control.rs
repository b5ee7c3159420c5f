//! The timers of XCP, which run on the slow path between packets.

use serde::{Deserialize, Serialize};

use super::SECOND;
use super::feedback::{FeedbackPools, MAX_POOL, RTT_SHIFT, Sums};
use super::scale::Factor;
use crate::ParameterError;

const MILLION: i128 = 1_000_000;

/// Parameters set by the operator. Fractions are in parts per million, times in 2^-28 s.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct XcpSettings {
    /// Capacity of the link in bytes per second.
    pub capacity: u64,
    /// Share of the spare capacity that is handed out per interval.
    pub alpha: u32,
    /// Share of the standing queue that is drained per interval.
    pub beta: u32,
    /// Share of the traffic that is redistributed between flows even when the link is exactly full.
    pub gamma: u32,
    /// The interval and the average round-trip time before any are known.
    pub initial_interval: u32,
    /// The shortest control interval.
    pub min_interval: u32,
    /// The longest round-trip time considered.
    pub max_interval: u32,
    /// The shortest time between two samples of the queue.
    pub allowed_queue: u32,
}

impl XcpSettings {
    /// The draft's parameters for a link of `capacity` bytes per second: alpha 0.4, beta 0.226, gamma
    /// 0.1, intervals of 10 ms to 1 s, initially 50 ms, and 2 ms for the queue.
    #[must_use]
    pub const fn for_capacity(capacity: u64) -> Self {
        Self {
            capacity,
            alpha: 400_000,
            beta: 226_000,
            gamma: 100_000,
            initial_interval: SECOND / 20,
            min_interval: SECOND / 100,
            max_interval: SECOND,
            allowed_queue: SECOND / 500,
        }
    }
}

/// The result of an interval.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct IntervalResult {
    /// Input rate in bytes per second, rounded down.
    pub input_bandwidth: u64,
    /// Aggregate feedback of the link in bytes per second, rounded down.
    pub aggregate: i64,
    /// Throughput redistributed between flows in bytes per second, rounded down.
    pub shuffled: u64,
    /// The pools of the next interval.
    pub pools: FeedbackPools,
}

/// Steps 8 to 14: computes the result of an interval of `length` in which `input_traffic` bytes and a
/// sum `sum_x` of times between packets arrived, with a standing queue of `queue` bytes and an
/// average round-trip time of `avg_rtt`. Both times must be positive.
#[must_use]
pub fn interval(
    parameters: &XcpSettings,
    length: u32,
    input_traffic: u32,
    sum_x: u64,
    queue: u32,
    avg_rtt: u32,
) -> IntervalResult {
    let (length, avg_rtt) = (i128::from(length.max(1)), i128::from(avg_rtt.max(1)));
    let second = i128::from(SECOND);
    // Bytes in the interval x 2^28; divided by `length`, this is a rate.
    let input = i128::from(input_traffic) * second;
    let spare = i128::from(parameters.capacity) * length - input;
    // Everything divided by this denominator is in bytes per second.
    let denominator = MILLION * length * avg_rtt;
    let standing = i128::from(parameters.beta) * i128::from(queue) * second * length;
    let aggregate = i128::from(parameters.alpha) * spare * avg_rtt - standing;
    let traffic = i128::from(parameters.gamma) * input * avg_rtt;
    let shuffled = (traffic - aggregate.abs()).max(0);
    let pool = |share: i128| {
        let share = (shuffled + share.max(0)).div_euclid(denominator);
        share.min(i128::from(MAX_POOL)) as u32
    };
    let (residue_pos, residue_neg) = (pool(aggregate), pool(-aggregate));
    let limited = aggregate.div_euclid(denominator);
    IntervalResult {
        input_bandwidth: (input / length) as u64,
        aggregate: limited.clamp(i128::from(i64::MIN), i128::from(i64::MAX)) as i64,
        shuffled: u64::try_from(shuffled / denominator).unwrap_or(u64::MAX),
        pools: FeedbackPools {
            residue_pos,
            residue_neg,
            cp: Factor::ratio(residue_pos, sum_x),
            cn: Factor::ratio(residue_neg, u64::from(input_traffic)),
        },
    }
}

/// The state of the control timer.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub struct ControlTimer {
    parameters: XcpSettings,
    /// Average round-trip time in 2^-28 s, never 0.
    avg_rtt: u32,
    /// Length of the current interval in 2^-28 s.
    interval: u32,
}

impl ControlTimer {
    /// Creates the state before the first packet.
    ///
    /// # Errors
    ///
    /// Returns an error if a parameter is out of its range.
    pub fn new(parameters: XcpSettings) -> Result<Self, ParameterError> {
        ParameterError::unless(
            (1..=1 << 34).contains(&parameters.capacity),
            "capacity",
            "above 0 and at most 2^34 bytes per second",
        )?;
        for (name, fraction) in [
            ("alpha", parameters.alpha),
            ("beta", parameters.beta),
            ("gamma", parameters.gamma),
        ] {
            ParameterError::unless(fraction <= 10_000_000, name, "at most 10")?;
        }
        let times = "above 0 and below 16 seconds";
        ParameterError::unless(parameters.initial_interval > 0, "initial_interval", times)?;
        ParameterError::unless(parameters.min_interval > 0, "min_interval", times)?;
        ParameterError::unless(
            parameters.max_interval >= parameters.min_interval,
            "max_interval",
            "at least `min_interval` and below 16 seconds",
        )?;
        Ok(Self {
            parameters,
            avg_rtt: parameters.initial_interval,
            interval: parameters.initial_interval,
        })
    }

    /// The parameters.
    #[must_use]
    pub fn parameters(&self) -> &XcpSettings {
        &self.parameters
    }

    /// Average round-trip time in 2^-28 s.
    #[must_use]
    pub fn avg_rtt(&self) -> u32 {
        self.avg_rtt
    }

    /// Length of the current interval in 2^-28 s, after which the timer fires.
    #[must_use]
    pub fn length(&self) -> u32 {
        self.interval
    }

    /// Steps 7 to 18, at the end of an interval in which `sums` arrived; `queue` is the last result
    /// of the queue timer in bytes. The average round-trip time is unchanged if no packet carried
    /// one.
    pub fn fire(&mut self, sums: &Sums, queue: u32) -> IntervalResult {
        let average = (u128::from(sums.sum_xrtt) << RTT_SHIFT)
            .checked_div(u128::from(sums.sum_x))
            .unwrap_or(0);
        match u32::try_from(average).unwrap_or(u32::MAX) {
            0 => {}
            average => self.avg_rtt = average.min(self.parameters.max_interval),
        }
        let done = interval(
            &self.parameters,
            self.interval,
            sums.input_traffic,
            sums.sum_x,
            queue,
            self.avg_rtt,
        );
        self.interval = self.avg_rtt.max(self.parameters.min_interval);
        done
    }
}

/// The queue timer: the minimum of the queue over some time is the standing queue, which does not
/// drain by itself.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct QueueTimer {
    min_queue: u32,
    queue: u32,
}

impl QueueTimer {
    /// Step 32: records that the queue is now `bytes` long.
    pub fn observe(&mut self, bytes: u32) {
        self.min_queue = self.min_queue.min(bytes);
    }

    /// The standing queue in bytes.
    #[must_use]
    pub fn queue(&self) -> u32 {
        self.queue
    }

    /// Steps 33 to 35, with `bytes` in the queue now; returns the time until the next sample, in
    /// 2^-28 s.
    pub fn fire(&mut self, bytes: u32, avg_rtt: u32, parameters: &XcpSettings) -> u32 {
        self.queue = self.min_queue.min(bytes);
        self.min_queue = bytes;
        let drain = u64::from(bytes) * u64::from(SECOND) / parameters.capacity.max(1);
        let rest = u64::from(avg_rtt).saturating_sub(drain) / 2;
        parameters.allowed_queue.max(rest as u32).max(1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    const CAPACITY: u64 = 125_000_000;
    const TENTH: u32 = 26_843_546;

    fn scale(mantissa: u32, shift: u8) -> Factor {
        Factor { mantissa, shift }
    }

    #[test]
    fn control_intervals_match_hand_computed_vectors() {
        let parameters = XcpSettings::for_capacity(CAPACITY);
        let of = |traffic, sum_x, queue| interval(&parameters, TENTH, traffic, sum_x, queue, TENTH);
        let i1 = IntervalResult {
            input_bandwidth: 62_499_999,
            aggregate: 25_000_000,
            shuffled: 0,
            pools: FeedbackPools {
                residue_pos: 25_000_000,
                residue_neg: 0,
                cp: scale(1_599_987_816, 34),
                cn: Factor::ZERO,
            },
        };
        assert_eq!(of(6_250_000, 268_437_500, 0), i1);
        let i2 = IntervalResult {
            input_bandwidth: 124_999_998,
            aggregate: 0,
            shuffled: 12_499_999,
            pools: FeedbackPools {
                residue_pos: 12_499_999,
                residue_neg: 12_499_999,
                cp: scale(1_599_987_688, 35),
                cn: scale(2_147_483_476, 31),
            },
        };
        assert_eq!(of(12_500_000, 268_437_500, 0), i2);
        let i3 = IntervalResult {
            input_bandwidth: 137_499_997,
            aggregate: -7_825_000,
            shuffled: 5_925_000,
            pools: FeedbackPools {
                residue_pos: 5_925_000,
                residue_neg: 13_749_999,
                cp: scale(1_516_767_261, 36),
                cn: scale(2_147_483_491, 31),
            },
        };
        assert_eq!(of(13_750_000, 268_441_250, 1_250_000), i3);
    }

    /// I4.
    #[test]
    fn idle_link_has_positive_feedback_but_zero_factors() {
        let mut control = ControlTimer::new(XcpSettings::for_capacity(CAPACITY)).unwrap();
        let mut done = control.fire(&Sums::default(), 0);
        assert_eq!(done.aggregate, 50_000_000);
        assert_eq!(done.pools.residue_pos, 50_000_000);
        assert_eq!((done.pools.cp, done.pools.cn), (Factor::ZERO, Factor::ZERO));
        assert_eq!(done.pools.depart(42_950, 1_000, 10_000).delta, 0);
        assert_eq!(control.avg_rtt(), SECOND / 20);
    }

    #[test]
    fn the_average_round_trip_time_is_weighted_by_time() {
        let mut control = ControlTimer::new(XcpSettings::for_capacity(CAPACITY)).unwrap();
        let sums = Sums {
            input_traffic: 6_250_000,
            sum_x: 268_437_500,
            sum_xrtt: 268_437_500 * u64::from(TENTH >> RTT_SHIFT),
        };
        control.fire(&sums, 0);
        assert_eq!(control.avg_rtt(), TENTH >> RTT_SHIFT << RTT_SHIFT);
        assert_eq!(control.length(), control.avg_rtt());
        let silent = Sums {
            sum_xrtt: 0,
            ..sums
        };
        control.fire(&silent, 0);
        assert_eq!(control.avg_rtt(), TENTH >> RTT_SHIFT << RTT_SHIFT);
        let short = Sums {
            sum_xrtt: sums.sum_x,
            ..sums
        };
        control.fire(&short, 0);
        assert_eq!(control.avg_rtt(), 1 << RTT_SHIFT);
        assert_eq!(control.length(), SECOND / 100);
    }

    #[test]
    fn parameters_out_of_range_are_named() {
        let good = XcpSettings::for_capacity(CAPACITY);
        let bad = XcpSettings {
            capacity: 0,
            ..good
        };
        assert_eq!(ControlTimer::new(bad).unwrap_err().name, "capacity");
        let bad = XcpSettings {
            beta: 10_000_001,
            ..good
        };
        assert_eq!(
            ControlTimer::new(bad).unwrap_err().to_string(),
            "`beta` must be at most 10"
        );
        let bad = XcpSettings {
            max_interval: 0,
            ..good
        };
        assert_eq!(ControlTimer::new(bad).unwrap_err().name, "max_interval");
    }

    #[test]
    fn persistent_queue_is_the_shortest_observed() {
        let parameters = XcpSettings::for_capacity(CAPACITY);
        let mut timer = QueueTimer::default();
        assert_eq!(timer.fire(9_000, TENTH, &parameters), (TENTH - 19_327) / 2);
        assert_eq!(timer.queue(), 0);
        timer.observe(4_000);
        timer.observe(7_000);
        timer.fire(8_000, TENTH, &parameters);
        assert_eq!(timer.queue(), 4_000);
        let soon = timer.fire(125_000_000, TENTH, &parameters);
        assert_eq!(soon, parameters.allowed_queue);
        assert_eq!(timer.queue(), 8_000);
    }

    proptest! {
        #[test]
        fn pools_follow_the_aggregate_feedback(
            capacity in 1_u64..=1 << 34, fractions in [0_u32..=10_000_000, 0_u32..=10_000_000, 0_u32..=10_000_000],
            length in 1_u32.., avg_rtt in 1_u32.., traffic: u32, sum_x: u64, queue: u32,
        ) {
            let [alpha, beta, gamma] = fractions;
            let parameters = XcpSettings { alpha, beta, gamma, ..XcpSettings::for_capacity(capacity) };
            let done = interval(&parameters, length, traffic, sum_x, queue, avg_rtt);
            let pools = done.pools;
            prop_assert!(pools.residue_pos <= MAX_POOL && pools.residue_neg <= MAX_POOL);
            if done.aggregate >= 0 && pools.residue_pos < MAX_POOL {
                let least = done.aggregate as u64 + done.shuffled;
                prop_assert!((least..=least + 1).contains(&u64::from(pools.residue_pos)));
                prop_assert_eq!(u64::from(pools.residue_neg), done.shuffled);
            }
            prop_assert!(pools.cp.times(1) <= u64::from(pools.residue_pos));
        }
    }
}
