//! The CPU of a host: what sending costs, and when it is done.

use serde::{Deserialize, Serialize};

use crate::host::{ScaleError, divided};
use crate::time::Time;

/// What the CPU needs, as time of one core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CpuCost {
    /// A packet in or out.
    pub packet: Time,
    /// A timer that fires.
    pub timer: Time,
    /// The work of a tick of the clock with a timer in it.
    pub tick: Time,
}

impl CpuCost {
    /// The same with all times divided.
    ///
    /// # Errors
    ///
    /// When a cost that was not zero becomes zero.
    pub fn scaled(self, scale: u64) -> Result<Self, ScaleError> {
        Ok(Self {
            packet: divided("the cost of a packet", self.packet, scale)?,
            timer: divided("the cost of a timer", self.timer, scale)?,
            tick: divided("the cost of a tick", self.tick, scale)?,
        })
    }
}

/// The cores of a host: work in the order in which it comes, on the core that is free first; no core
/// rests while work waits.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Cpu {
    cost: CpuCost,
    /// When each core has done what it was given.
    free: Vec<Time>,
    /// The last time at which timers fired.
    tick: Option<Time>,
    /// Time of all cores that was spent.
    busy: Time,
}

impl Cpu {
    /// `cores` cores, at least one.
    #[must_use]
    pub fn new(cores: usize, cost: CpuCost) -> Self {
        Self {
            cost,
            free: vec![0; cores.max(1)],
            tick: None,
            busy: 0,
        }
    }

    /// A packet that comes or is to leave at `now`: when its work is done.
    pub fn packet(&mut self, now: Time) -> Time {
        self.work(now, self.cost.packet)
    }

    /// A timer that fires at `now`, with others of the same time: when its work is done.
    pub fn timer(&mut self, now: Time) -> Time {
        let first = self.tick.replace(now) != Some(now);
        let tick = if first { self.cost.tick } else { 0 };
        self.work(now, tick + self.cost.timer)
    }

    /// Time of all cores that was spent so far.
    #[must_use]
    pub fn busy(&self) -> Time {
        self.busy
    }

    fn work(&mut self, now: Time, cost: Time) -> Time {
        if cost == 0 {
            return now;
        }
        self.busy += cost;
        let core = self.free.iter_mut().min();
        let core = core.expect("there is at least one core");
        *core = now.max(*core) + cost;
        *core
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_waits_for_the_core_that_is_free_first() {
        let cost = CpuCost {
            packet: 10,
            timer: 3,
            tick: 100,
        };
        let mut cpu = Cpu::new(2, cost);
        assert_eq!([cpu.packet(0), cpu.packet(0), cpu.packet(0)], [10, 10, 20]);
        assert_eq!(cpu.packet(50), 60, "idle cores begin at once");
        assert_eq!(cpu.timer(1_000), 1_103, "the first timer of a tick");
        assert_eq!(cpu.timer(1_000), 1_003, "another core, no tick");
        assert_eq!(cpu.busy(), 40 + 103 + 3);
    }

    #[test]
    fn what_costs_nothing_is_done_at_once() {
        let mut cpu = Cpu::new(0, CpuCost::default());
        assert_eq!((cpu.packet(7), cpu.timer(8)), (7, 8));
    }
}
