//! The clock of the processor against that of the microengines, in whose cycles time is.

use npsim_chip::Cycle;
use serde::{Deserialize, Serialize};

use crate::timers::TimerClock;

/// The clocks.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Clocks {
    core_mhz: u64,
    me_mhz: u64,
    timer_mhz: u64,
    /// What whole ME cycles have left over, in parts of one: `core_mhz` of them are a cycle.
    rest: u64,
}

impl Clocks {
    pub const fn new(core_mhz: u64, me_mhz: u64, timer_mhz: u64) -> Self {
        Self {
            core_mhz,
            me_mhz,
            timer_mhz,
            rest: 0,
        }
    }

    /// The ME cycles that pass with so many core cycles. What is left over counts the next time.
    pub fn pass(&mut self, core_cycles: u64) -> Cycle {
        let cycles = self.passes(core_cycles);
        let parts = core_cycles * self.me_mhz + self.rest;
        self.rest = parts % self.core_mhz.max(1);
        cycles
    }

    /// The ME cycles that would pass with so many core cycles.
    pub const fn passes(&self, core_cycles: u64) -> Cycle {
        let core_mhz = if self.core_mhz == 0 { 1 } else { self.core_mhz };
        (core_cycles * self.me_mhz + self.rest) / core_mhz
    }

    /// The core cycles that begin within so many ME cycles.
    pub const fn core_cycles(&self, cycles: Cycle) -> u64 {
        (cycles * self.core_mhz).div_ceil(if self.me_mhz == 0 { 1 } else { self.me_mhz })
    }

    pub const fn timers(&self) -> TimerClock {
        TimerClock {
            microengines: self.me_mhz,
            timers: self.timer_mhz,
        }
    }

    /// The frequencies of core, timers and microengines in Hz.
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
    fn no_part_of_a_cycle_gets_lost() {
        let mut clocks = Clocks::new(700, 1000, 50);
        let passed: u64 = (0..700).map(|_| clocks.pass(1)).sum();
        assert_eq!(passed, 1000);
        assert_eq!(clocks.core_cycles(100), 70);
        assert_eq!(clocks.core_cycles(1), 1);
    }
}
