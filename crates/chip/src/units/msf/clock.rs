//! Another clock in terms of microengine cycles: edge `k` of a clock with
//! `cycles` / `edges` cycles per period is at cycle ⌈k · cycles / edges⌉.

use crate::Cycle;
use serde::{Deserialize, Serialize};

/// An exact clock ratio.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClockRatio {
    cycles: u64,
    edges: u64,
}

impl ClockRatio {
    /// The clock of `hz` relative to microengines at `microengine_hz`; zero is
    /// treated as one hertz.
    #[must_use]
    pub const fn new(microengine_hz: u64, hz: u64) -> Self {
        let (a, b) = (at_least_one(microengine_hz), at_least_one(hz));
        let divisor = gcd(a, b);
        Self {
            cycles: a / divisor,
            edges: b / divisor,
        }
    }

    /// The cycle by which edge `edge` has passed.
    #[must_use]
    pub const fn cycle(self, edge: u64) -> Cycle {
        divided_up(edge as u128 * self.cycles as u128, self.edges)
    }

    /// The first edge that is not before the cycle.
    #[must_use]
    pub const fn edge(self, now: Cycle) -> u64 {
        if now == 0 {
            return 0;
        }
        divided((now - 1) as u128 * self.edges as u128, self.cycles) + 1
    }

    /// The period in cycles, as numerator and denominator.
    #[must_use]
    pub const fn ratio(self) -> (u64, u64) {
        (self.cycles, self.edges)
    }
}

/// A quotient that is known to fit in 64 bits, as nearly every dividend does.
#[inline]
pub(super) const fn divided(dividend: u128, divisor: u64) -> u64 {
    if dividend >> 64 == 0 {
        return dividend as u64 / divisor;
    }
    (dividend / divisor as u128) as u64
}

/// A quotient, rounded up.
#[inline]
pub(super) const fn divided_up(dividend: u128, divisor: u64) -> u64 {
    divided(dividend + (divisor as u128 - 1), divisor)
}

const fn at_least_one(value: u64) -> u64 {
    if value == 0 { 1 } else { value }
}

pub(crate) const fn gcd(mut a: u64, mut b: u64) -> u64 {
    while b != 0 {
        (a, b) = (b, a % b);
    }
    a
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn edge_and_cycle_conversions_are_consistent() {
        for (me, other) in [
            (600, 104),
            (600, 125),
            (1400, 500),
            (600, 600),
            (600, 1000),
            (7, 3),
        ] {
            let clock = ClockRatio::new(me, other);
            for now in 0..2000 {
                let edge = clock.edge(now);
                assert!(clock.cycle(edge) >= now);
                assert!(
                    edge == 0 || clock.cycle(edge - 1) < now,
                    "{me}/{other} at {now}"
                );
            }
        }
    }

    #[test]
    fn clock_rounding_does_not_accumulate() {
        let clock = ClockRatio::new(600, 104);
        assert_eq!(clock.ratio(), (75, 13));
        assert_eq!(clock.cycle(13 * 1000), 75_000);
        assert_eq!(
            clock.cycle(18),
            104,
            "an mpacket of 64 bytes with two clocks of overhead"
        );
    }
}
