//! The CPU of a host: the cost of its work, and when that is done.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize};

use crate::scaling::{ScaleError, divided};
use npsim_protocols::time::Time;

/// CPU costs, in time of one core.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Default, Serialize, Deserialize)]
pub struct CpuCost {
    /// For a packet in or out.
    pub packet: Time,
    /// For a timer that fires.
    pub timer: Time,
    /// For a clock tick with at least one timer.
    pub tick: Time,
    /// Extra cost of a timer for each other core that is busy when it begins: they contend for the same
    /// locks and cache lines.
    pub contention: Time,
}

impl CpuCost {
    /// Returns the costs with all times divided.
    ///
    /// # Errors
    ///
    /// Returns an error if a nonzero cost would become zero.
    pub fn scaled(self, scale: u64) -> Result<Self, ScaleError> {
        Ok(Self {
            packet: divided("the cost of a packet", self.packet, scale)?,
            timer: divided("the cost of a timer", self.timer, scale)?,
            tick: divided("the cost of a tick", self.tick, scale)?,
            contention: divided("the cost of contention", self.contention, scale)?,
        })
    }
}

/// The cores of a host: work is done in order of arrival, on the core that is free first. Work of a
/// flow that arrives while earlier work of it is in progress waits for the same core: a flow is never
/// on two cores, so its packets stay in order.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct HostCpu {
    cost: CpuCost,
    /// When each core has finished its work.
    free: Vec<Time>,
    /// For each flow, the core of its last work, and when that is done.
    last: BTreeMap<u32, (usize, Time)>,
    /// The last time at which timers fired.
    tick: Option<Time>,
    /// Total busy time of all cores.
    busy: Time,
}

impl HostCpu {
    /// Creates a CPU with `cores` cores, at least one.
    #[must_use]
    pub fn new(cores: usize, cost: CpuCost) -> Self {
        Self {
            cost,
            free: vec![0; cores.max(1)],
            last: BTreeMap::new(),
            tick: None,
            busy: 0,
        }
    }

    /// Processes a packet of `flow` that arrives or is to leave at `now`; returns when that is done.
    pub fn packet(&mut self, now: Time, flow: u32) -> Time {
        let core = self.core_for(now, flow);
        self.work(core, now, flow, self.cost.packet)
    }

    /// Processes a timer of `flow` that fires at `now`, possibly with others; returns when that is
    /// done.
    pub fn timer(&mut self, now: Time, flow: u32) -> Time {
        let first = self.tick.replace(now) != Some(now);
        let tick = if first { self.cost.tick } else { 0 };
        let core = self.core_for(now, flow);
        let contention = if self.cost.contention == 0 {
            0
        } else {
            self.other_busy_cores(core, now) * self.cost.contention
        };
        self.work(core, now, flow, tick + self.cost.timer + contention)
    }

    /// Returns the total busy time of all cores so far.
    #[must_use]
    pub fn busy(&self) -> Time {
        self.busy
    }

    /// Returns the core for the next work of a flow.
    fn core_for(&self, now: Time, flow: u32) -> usize {
        match self.last.get(&flow) {
            Some(&(core, done)) if done > now => core,
            _ => {
                let cores = self.free.iter().enumerate();
                let first = cores.min_by_key(|&(_, free)| free);
                first.map_or(0, |(core, _)| core)
            }
        }
    }

    /// Returns the number of other cores that are busy when the next work of a core begins.
    fn other_busy_cores(&self, core: usize, now: Time) -> u64 {
        let begin = self.free[core].max(now);
        self.free.iter().filter(|&&free| free > begin).count() as u64
    }

    fn work(&mut self, core: usize, now: Time, flow: u32, cost: Time) -> Time {
        let last = self.last.entry(flow).or_insert((core, now));
        if cost == 0 {
            return last.1.max(now);
        }
        self.busy += cost;
        let free = &mut self.free[core];
        *free = now.max(*free) + cost;
        *last = (core, *free);
        *free
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn work_goes_to_the_first_free_core() {
        let cost = CpuCost {
            packet: 10,
            timer: 3,
            tick: 100,
            contention: 0,
        };
        let mut cpu = HostCpu::new(2, cost);
        let done = [1, 2, 3].map(|flow| cpu.packet(0, flow));
        assert_eq!(done, [10, 10, 20]);
        assert_eq!(cpu.packet(50, 1), 60, "idle cores begin at once");
        assert_eq!(cpu.timer(1_000, 1), 1_103, "the first timer of a tick");
        assert_eq!(cpu.timer(1_000, 2), 1_003, "another core, no tick");
        assert_eq!(cpu.busy(), 40 + 103 + 3);
    }

    #[test]
    fn packets_of_a_flow_stay_in_order() {
        let cost = CpuCost {
            packet: 10,
            timer: 100,
            ..CpuCost::default()
        };
        let mut cpu = HostCpu::new(4, cost);
        assert_eq!(cpu.timer(0, 1), 100);
        assert_eq!(cpu.packet(20, 1), 110, "behind its flow's timer");
        assert_eq!(cpu.packet(20, 2), 30, "another flow on another core");
        assert_eq!(cpu.packet(110, 1), 120, "done: the core that is free first");
        let free = CpuCost {
            timer: 100,
            ..CpuCost::default()
        };
        let mut cpu = HostCpu::new(4, free);
        cpu.timer(0, 1);
        assert_eq!(cpu.packet(20, 1), 100, "costs nothing and waits");
    }

    #[test]
    fn timers_that_fire_together_contend() {
        let cost = CpuCost {
            timer: 10,
            contention: 4,
            ..CpuCost::default()
        };
        let mut cpu = HostCpu::new(3, cost);
        assert_eq!(cpu.timer(0, 1), 10, "alone");
        assert_eq!(cpu.timer(0, 2), 14, "another core is busy");
        assert_eq!(cpu.timer(0, 3), 18, "two are");
        assert_eq!(cpu.timer(0, 4), 28, "waits until 10, beside two");
        assert_eq!(cpu.timer(100, 1), 110, "all are free again");
        assert_eq!(cpu.busy(), 10 + 14 + 18 + 18 + 10);
    }

    #[test]
    fn zero_cost_work_finishes_at_once() {
        let mut cpu = HostCpu::new(0, CpuCost::default());
        assert_eq!((cpu.packet(7, 0), cpu.timer(8, 0)), (7, 8));
    }
}
