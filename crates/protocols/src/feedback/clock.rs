//! The clock of a module: it has edges at multiples of its period, and each edge
//! takes at most one request.
//!
//! A period is given in picoseconds and time on the chip in ME cycles, and a cycle
//! is in general not a whole number of picoseconds. Both are whole numbers of
//! ticks: a cycle is a million ticks, a picosecond as many as the clock has
//! megahertz.

use std::num::NonZeroU64;

use npsim_chip::Cycle;
use npsim_chip::kernel::row::{Row, permille};
use serde::{Deserialize, Serialize};

/// Ticks per ME cycle.
const CYCLE: u128 = 1_000_000;

/// Converts ME cycles to ticks.
const fn ticks(cycles: Cycle) -> u128 {
    cycles as u128 * CYCLE
}

/// The outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Taken {
    /// Ticks from the request to the edge that took it.
    pub waited: u128,
    /// First ME cycle at which its answer is available: one clock period after the
    /// edge that took it, rounded up.
    pub answered: Cycle,
}

/// A module's clock, with the edges already used.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ModuleClock {
    /// Ticks from edge to edge.
    period: NonZeroU64,
    /// Number of the first free edge.
    free: u64,
}

impl ModuleClock {
    /// Creates a clock with this period, for microengines of this frequency, with
    /// its first edge at cycle 0. A period of 0 counts as one tick.
    pub fn new(picoseconds: u64, mhz: u64) -> Self {
        let ticks = picoseconds.saturating_mul(mhz);
        Self {
            period: NonZeroU64::new(ticks).unwrap_or(NonZeroU64::MIN),
            free: 0,
        }
    }

    fn period(&self) -> u128 {
        u128::from(self.period.get())
    }

    /// The first cycle at which a request can be handed over: the module holds a
    /// request until its edge, so it is the cycle after the last used edge.
    pub fn free_at(&self) -> Cycle {
        match u128::from(self.free) {
            0 => 0,
            free => ((free - 1) * self.period() / CYCLE) as Cycle + 1,
        }
    }

    /// Hands over a request at `now`; it is taken by the first free edge that is
    /// not earlier.
    pub fn take(&mut self, now: Cycle) -> Taken {
        let now = ticks(now);
        let edge = now.div_ceil(self.period()).max(u128::from(self.free));
        self.free = (edge + 1) as u64;
        Taken {
            waited: edge * self.period() - now,
            answered: ((edge + 1) * self.period()).div_ceil(CYCLE) as Cycle,
        }
    }

    /// Converts the clock cycles of this many requests to ME cycles, rounded down.
    pub fn busy(&self, requests: u64) -> Cycle {
        (u128::from(requests) * self.period() / CYCLE) as Cycle
    }

    /// Converts ticks to ME cycles, rounded down.
    pub fn cycles(ticks: u128) -> Cycle {
        (ticks / CYCLE) as Cycle
    }

    /// Whether both have the same period.
    pub fn is_compatible_with(&self, other: &Self) -> bool {
        self.period == other.period
    }
}

/// A module's clock, and the total time that its requests waited.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Module {
    picoseconds: u64,
    clock: ModuleClock,
    /// In ticks.
    waited: u128,
}

impl Module {
    /// Creates a module with this clock period, for microengines of this frequency.
    pub fn new(picoseconds: u64, mhz: u64) -> Self {
        Self {
            picoseconds,
            clock: ModuleClock::new(picoseconds, mhz),
            waited: 0,
        }
    }

    /// The first cycle at which a request can be handed over.
    pub fn free_at(&self) -> Cycle {
        self.clock.free_at()
    }

    /// Takes a request that has been waiting `since`; returns the cycle at which
    /// its answer is available.
    pub fn take(&mut self, now: Cycle, since: Cycle) -> Cycle {
        let taken = self.clock.take(now);
        self.waited += taken.waited + ticks(now.saturating_sub(since));
        taken.answered
    }

    /// The time in ME cycles of the clock edges used by this many requests.
    pub fn busy(&self, requests: u64) -> Cycle {
        self.clock.busy(requests)
    }

    /// Total cycles from when the channel had a complete request to the clock edge
    /// that took it.
    pub fn waiting(&self) -> Cycle {
        ModuleClock::cycles(self.waited)
    }

    /// The utilisation of the module by this many requests over a number of cycles.
    pub fn row(&self, requests: u64, cycles: Cycle) -> Row {
        let busy = self.busy(requests);
        Row::default()
            .with("period_picoseconds", self.picoseconds)
            .with("busy", busy)
            .with("busy_permille", permille(busy, cycles))
            .with("waiting", self.waiting())
    }

    /// Whether both have the same clock.
    pub fn is_compatible_with(&self, other: &Self) -> bool {
        self.clock.is_compatible_with(&other.clock)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn clock_edge_takes_one_request_and_answers_next_edge() {
        // 6 ns at 600 MHz are 3.6 cycles.
        let mut clock = ModuleClock::new(6000, 600);
        assert_eq!(clock.free_at(), 0);
        assert_eq!(
            clock.take(0),
            Taken {
                waited: 0,
                answered: 4
            }
        );
        // The edge at 3.6 takes a request from cycle 1; its answer is available at
        // 7.2.
        assert_eq!(clock.free_at(), 1);
        assert_eq!(
            clock.take(1),
            Taken {
                waited: 2_600_000,
                answered: 8
            }
        );
        // Another request at cycle 1 waits for the edge at 7.2.
        assert_eq!(clock.free_at(), 4);
        assert_eq!(
            clock.take(1),
            Taken {
                waited: 6_200_000,
                answered: 11
            }
        );
        // After a pause, edges are still at multiples of the period.
        assert_eq!(
            clock.take(100),
            Taken {
                waited: 800_000,
                answered: 105
            }
        );
        assert_eq!(clock.busy(5), 18);
    }

    #[test]
    fn back_to_back_requests_use_every_edge() {
        for (picoseconds, mhz) in [(6000, 600), (20_000, 600), (4500, 600), (6000, 1400)] {
            let mut clock = ModuleClock::new(picoseconds, mhz);
            let millisecond = mhz * 1000;
            let mut answers = 0;
            loop {
                let now = clock.free_at();
                if clock.take(now).answered > millisecond {
                    break;
                }
                assert!(clock.free_at() > now, "one hand-over a cycle");
                answers += 1;
            }
            assert_eq!(answers, 1_000_000_000 / picoseconds);
        }
    }

    #[test]
    fn clock_stays_exact_after_a_day() {
        let mut clock = ModuleClock::new(6000, 600);
        let day = 86_400 * 600_000_000;
        assert_eq!(clock.take(day).waited, 0, "a whole number of clocks");
        assert_eq!(clock.take(day).waited, 3_600_000);
    }
}
