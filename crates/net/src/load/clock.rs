//! Exact time on a line and at a rate, without drift.

use crate::ethernet::{busy_bytes, line_bytes};

/// Picoseconds in a second.
pub(super) const SECOND_PS: u64 = 1_000_000_000_000;

/// Picoseconds in a nanosecond, the unit of captures.
const NANOSECOND_PS: u64 = 1_000;

/// A line and when it is next free: whole picoseconds and a remainder in 1/rate of a picosecond.
#[derive(Clone, Debug)]
pub(super) struct LineClock {
    rate: u64,
    free_ps: u64,
    rest: u64,
}

impl LineClock {
    /// Creates a free line of `rate` bits a second, at most 2^40.
    pub(super) fn new(rate: u64) -> Self {
        Self {
            rate,
            free_ps: 0,
            rest: 0,
        }
    }

    /// Sends a frame of `bytes` without FCS at `wanted_ps`, or as soon as the line is free. Returns the
    /// times of its first and last bit, rounded down.
    pub(super) fn send(&mut self, wanted_ps: u64, bytes: usize) -> (u64, u64) {
        if wanted_ps > self.free_ps {
            (self.free_ps, self.rest) = (wanted_ps, 0);
        }
        let start = self.free_ps;
        let (end, _) = self.after(busy_bytes(bytes));
        (self.free_ps, self.rest) = self.after(line_bytes(bytes));
        (start, end)
    }

    fn after(&self, bytes: u64) -> (u64, u64) {
        // 2^17 bits times 2^40, plus a remainder below 2^40.
        let ticks = self.rest + bytes * 8 * SECOND_PS;
        (self.free_ps + ticks / self.rate, ticks % self.rate)
    }
}

/// Time of one unit of traffic (a frame or a bit of line time) at a rate: `numerator / denominator`
/// picoseconds, in lowest terms.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct LineCost {
    pub(super) numerator: u128,
    pub(super) denominator: u128,
}

impl LineCost {
    /// Largest numerator and denominator, so that products with bits and times fit in 128 bits.
    const LIMIT: u128 = 1 << 90;

    /// Returns `None` beyond the limit.
    pub(super) fn new(numerator: u128, denominator: u128) -> Option<Self> {
        let divisor = greatest_common_divisor(numerator, denominator);
        let (numerator, denominator) = (numerator / divisor, denominator / divisor);
        (numerator.max(denominator) <= Self::LIMIT).then_some(Self {
            numerator,
            denominator,
        })
    }

    /// Returns the time of `units_q16 / 2^16` units, in 1/2^16 ps.
    pub(super) fn of(self, units_q16: u64) -> u128 {
        // 2^90 times less than 2^34.
        self.numerator * u128::from(units_q16) / self.denominator
    }
}

fn greatest_common_divisor(mut a: u128, mut b: u128) -> u128 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a.max(1)
}

/// When traffic at an exact rate is due: whole picoseconds and a remainder in 1/denominator of one.
#[derive(Clone, Debug)]
pub(super) struct DueTime {
    cost: LineCost,
    ps: u64,
    rest: u128,
}

impl DueTime {
    pub(super) fn new(cost: LineCost, offset_ps: u64) -> Self {
        Self {
            cost,
            ps: offset_ps,
            rest: 0,
        }
    }

    /// Returns the current due time, rounded down to a nanosecond: a capture holds no finer times, so a
    /// capture of the traffic reproduces the same traffic.
    pub(super) fn ps(&self) -> u64 {
        whole_nanoseconds(self.ps)
    }

    /// Advances by the time of this many units.
    pub(super) fn advance(&mut self, units: u64) {
        let sum = self.rest + self.cost.numerator * u128::from(units);
        let (passed, rest) = div_rem(sum, self.cost.denominator);
        self.ps = self
            .ps
            .saturating_add(u64::try_from(passed).unwrap_or(u64::MAX));
        self.rest = rest;
    }
}

/// Returns quotient and remainder. Nearly all operands fit in 64 bits, and 128-bit division is many times
/// slower.
fn div_rem(dividend: u128, divisor: u128) -> (u128, u128) {
    match (u64::try_from(dividend), u64::try_from(divisor)) {
        (Ok(dividend), Ok(divisor)) => ((dividend / divisor).into(), (dividend % divisor).into()),
        _ => (dividend / divisor, dividend % divisor),
    }
}

/// Rounds down to a nanosecond.
pub(super) fn whole_nanoseconds(ps: u64) -> u64 {
    ps - ps % NANOSECOND_PS
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn line_is_busy_for_the_time_of_its_bits() {
        let mut line = LineClock::new(1_000_000_000);
        assert_eq!(line.send(0, 60), (0, 576_000));
        assert_eq!(line.send(5, 60), (672_000, 1_248_000), "it waits");
        assert_eq!(
            line.send(9_000_000, 1514),
            (9_000_000, 9_000_000 + 1526 * 8000)
        );
    }

    #[test]
    fn line_clock_does_not_drift() {
        // On this line, 3 bits take a whole number of picoseconds, but one bit does not.
        let mut line = LineClock::new(3_000_000_000);
        let starts: Vec<u64> = (0..30_001).map(|_| line.send(0, 60).0).collect();
        assert_eq!(starts[30_000], 30_000 * 224_000);
        let cost = LineCost::new(u128::from(SECOND_PS), 3).unwrap();
        let mut due = DueTime::new(cost, 0);
        for _ in 0..3_000_000 {
            due.advance(1);
        }
        assert_eq!(due.ps(), 1_000_000 * SECOND_PS);
    }
}
