//! Conversion between the clocks of the processor and the microengines; time is measured in cycles of the latter.

use npsim_chip::Cycle;
use serde::{Deserialize, Serialize};

use crate::timers::TimerClock;

/// The clocks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Clocks {
    core_mhz: u64,
    me_mhz: u64,
    timer_mhz: u64,
    /// Time carried over from whole ME cycles, in fractions of one: `core_mhz` of them make a cycle. Negative if a
    /// job took a cycle of which it needed less.
    rest: i64,
    /// Remainder of the ME cycles in which the core waited that did not make a whole core cycle, in fractions:
    /// `me_mhz` of them make a cycle.
    idle_rest: u64,
}

impl Clocks {
    pub const fn new(core_mhz: u64, me_mhz: u64, timer_mhz: u64) -> Self {
        Self {
            core_mhz,
            me_mhz,
            timer_mhz,
            rest: 0,
            idle_rest: 0,
        }
    }

    /// The ME cycles of a job of `core_cycles` core cycles that also waits for `waits` ME cycles; at least 1. The
    /// remainder is carried over.
    pub fn pass(&mut self, core_cycles: u64, waits: Cycle) -> Cycle {
        let cycles = (self.passes(core_cycles) + waits).max(1);
        let whole = (cycles - waits) as i64 * self.core() as i64;
        self.rest += (core_cycles * self.me_mhz) as i64 - whole;
        cycles
    }

    /// The ME cycles that this many core cycles would take.
    pub fn passes(&self, core_cycles: u64) -> Cycle {
        let parts = (core_cycles * self.me_mhz) as i64 + self.rest;
        parts.max(0) as u64 / self.core()
    }

    /// The core cycles that pass while the core waits for this many ME cycles. The remainder is carried over.
    pub fn idle(&mut self, cycles: Cycle) -> u64 {
        // Idle time may last for years.
        let parts = u128::from(cycles) * u128::from(self.core_mhz) + u128::from(self.idle_rest);
        let me_mhz = u128::from(self.me_mhz.max(1));
        self.idle_rest = (parts % me_mhz) as u64;
        (parts / me_mhz) as u64
    }

    fn core(&self) -> u64 {
        self.core_mhz.max(1)
    }

    /// The core cycles that begin within this many ME cycles.
    pub const fn core_cycles(&self, cycles: Cycle) -> u64 {
        (cycles * self.core_mhz).div_ceil(if self.me_mhz == 0 { 1 } else { self.me_mhz })
    }

    pub const fn timers(&self) -> TimerClock {
        TimerClock {
            microengines: self.me_mhz,
            timers: self.timer_mhz,
        }
    }

    /// The frequencies of core, timers and microengines, in Hz.
    pub fn hertz(&self) -> [u32; 3] {
        let hertz = |mhz: u64| (mhz * 1_000_000) as u32;
        [
            hertz(self.core_mhz),
            hertz(self.timer_mhz),
            hertz(self.me_mhz),
        ]
    }
}

#[cfg(test)]
mod tests {
    use super::Clocks;

    #[test]
    fn clock_conversion_loses_no_fraction_of_a_cycle() {
        for core_mhz in [700, 999, 1000, 1333, 3001] {
            let mut clocks = Clocks::new(core_mhz, 1000, 50);
            // A faster core takes a whole cycle for a job that needs less, and makes up for it later.
            let jobs: u64 = (0..core_mhz).map(|_| clocks.pass(1, 0)).sum();
            let rest: u64 = (0..core_mhz).map(|_| clocks.pass(9, 0)).sum();
            assert_eq!(jobs + rest, 10_000, "{core_mhz}");
            let idle: u64 = (0..1000).map(|_| clocks.idle(7)).sum();
            assert_eq!(idle, 7 * core_mhz, "{core_mhz}");
        }
        assert_eq!(Clocks::new(700, 1000, 50).pass(0, 5), 5);
    }

    #[test]
    fn core_cycles_are_rounded_up() {
        let clocks = Clocks::new(700, 1000, 50);
        assert_eq!(
            [1, 2, 100].map(|cycles| clocks.core_cycles(cycles)),
            [1, 2, 70]
        );
    }
}
