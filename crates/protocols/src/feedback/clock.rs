//! The clock of a module: edges at the multiples of its period, of which each
//! takes at most one request.
//!
//! A period is given in picoseconds, time on the chip in ME cycles, and a cycle
//! is in general no whole number of picoseconds. Both are whole numbers of
//! ticks: a cycle is a million of them, a picosecond as many as the clock has
//! megahertz.

use std::num::NonZeroU64;

use npsim_chip::Cycle;
use npsim_chip::kernel::row::{Row, permille};
use serde::{Deserialize, Serialize};

/// Ticks of an ME cycle.
const CYCLE: u128 = 1_000_000;

/// ME cycles in ticks.
const fn ticks(cycles: Cycle) -> u128 {
    cycles as u128 * CYCLE
}

/// The outcome of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
struct Taken {
    /// Ticks from the request to the edge that took it.
    pub waited: u128,
    /// The first ME cycle at which its answer is there: one clock after the
    /// edge that took it, rounded up.
    pub answered: Cycle,
}

/// A module's clock and how far its edges are taken.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
struct ModuleClock {
    /// Ticks from edge to edge.
    period: NonZeroU64,
    /// Number of the first edge that is free.
    free: u64,
}

impl ModuleClock {
    /// A clock of so many picoseconds beside microengines of so many megahertz,
    /// with its first edge at cycle 0. A period of 0 counts as one tick.
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

    /// The first cycle at which a request can be handed over: the module holds
    /// one until its edge, so it is that after the last edge that is taken.
    pub fn free_at(&self) -> Cycle {
        match u128::from(self.free) {
            0 => 0,
            free => ((free - 1) * self.period() / CYCLE) as Cycle + 1,
        }
    }

    /// Hands a request over at `now`; the first free edge takes it that does
    /// not come before it.
    pub fn take(&mut self, now: Cycle) -> Taken {
        let now = ticks(now);
        let edge = now.div_ceil(self.period()).max(u128::from(self.free));
        self.free = (edge + 1) as u64;
        Taken {
            waited: edge * self.period() - now,
            answered: ((edge + 1) * self.period()).div_ceil(CYCLE) as Cycle,
        }
    }

    /// The cycles of the module's requests in ME cycles, rounded down.
    pub fn busy(&self, requests: u64) -> Cycle {
        (u128::from(requests) * self.period() / CYCLE) as Cycle
    }

    /// Ticks in ME cycles, rounded down.
    pub fn cycles(ticks: u128) -> Cycle {
        (ticks / CYCLE) as Cycle
    }

    /// Whether both have the same period.
    pub fn is_like(&self, other: &Self) -> bool {
        self.period == other.period
    }
}

/// A module's clock and the time that its requests waited.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Module {
    picoseconds: u64,
    clock: ModuleClock,
    /// In ticks of the clock.
    waited: u128,
}

impl Module {
    /// A module with a clock of so many picoseconds beside microengines of so many
    /// megahertz.
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

    /// Takes a request that has been there `since`; gives when the answer is.
    pub fn take(&mut self, now: Cycle, since: Cycle) -> Cycle {
        let taken = self.clock.take(now);
        self.waited += taken.waited + ticks(now.saturating_sub(since));
        taken.answered
    }

    /// Cycles of the clocks that took so many requests.
    pub fn busy(&self, requests: u64) -> Cycle {
        self.clock.busy(requests)
    }

    /// Sum over requests of the cycles from when the channel had all of them to the
    /// clock edge that took them.
    pub fn waiting(&self) -> Cycle {
        ModuleClock::cycles(self.waited)
    }

    /// How the module was used, by so many requests in so many cycles.
    pub fn row(&self, requests: u64, cycles: Cycle) -> Row {
        let busy = self.busy(requests);
        Row::default()
            .with("period_picoseconds", self.picoseconds)
            .with("busy", busy)
            .with("busy_permille", permille(busy, cycles))
            .with("waiting", self.waiting())
    }

    /// Whether both have the same clock.
    pub fn is_like(&self, other: &Self) -> bool {
        self.clock.is_like(&other.clock)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_edge_takes_one_request_and_answers_it_a_clock_later() {
        // 6 ns at 600 MHz: 3.6 cycles.
        let mut clock = ModuleClock::new(6000, 600);
        assert_eq!(clock.free_at(), 0);
        assert_eq!(
            clock.take(0),
            Taken {
                waited: 0,
                answered: 4
            }
        );
        // The edge at 3.6 takes what comes at 1; it is over at 7.2.
        assert_eq!(clock.free_at(), 1);
        assert_eq!(
            clock.take(1),
            Taken {
                waited: 2_600_000,
                answered: 8
            }
        );
        // The next that comes at 1 waits for the edge at 7.2.
        assert_eq!(clock.free_at(), 4);
        assert_eq!(
            clock.take(1),
            Taken {
                waited: 6_200_000,
                answered: 11
            }
        );
        // After a pause the edges are still at multiples of the period.
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
    fn requests_without_pause_take_every_edge() {
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
    fn late_hours_stay_exact() {
        let mut clock = ModuleClock::new(6000, 600);
        let day = 86_400 * 600_000_000;
        assert_eq!(clock.take(day).waited, 0, "a whole number of clocks");
        assert_eq!(clock.take(day).waited, 3_600_000);
    }
}
