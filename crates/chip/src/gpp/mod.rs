//! The general-purpose core: what a loader sets up before the start, and the
//! slow path that runs meanwhile.
//!
//! The core's instructions are not simulated. A task is a sequence of accesses,
//! each with its cost in the profile; between two accesses simulated time
//! passes. An access takes a clock of the first cluster's command bus, its time
//! at the unit and on the data bus, and lasts longer by what it waits there.
//! Looks at a ring that stays empty are counted but take no bandwidth. ICMP
//! messages are not generated: an exception packet ends at the core.

pub mod boot;
pub mod exceptions;
mod loader;
pub mod routes;

#[cfg(test)]
mod tests;

pub use loader::LoadError;

use crate::Cycle;
use crate::dram::Dram;
use crate::event::Event;
use crate::fabric::Fabric;
use crate::happening::Happening;
use crate::profile::Profile;
use crate::scratch::Scratch;
use crate::sram::Sram;
use boot::{Boot, CounterSetup, TaskSetup};
use exceptions::{ExceptionCounts, Exceptions};
use serde::{Deserialize, Serialize};

/// Words of a thread status register: 32 threads each.
const STATUS_WORDS: usize = 4;

/// Which of its two interrupts a thread raised.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum InterruptLine {
    /// `XSCALE_INT_A`
    A,
    /// `XSCALE_INT_B`
    B,
}

/// What an access of the core costs, in ME cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Costs {
    /// A scratch ring or CSR.
    pub ring: Cycle,
    /// An SRAM longword or a Q-array operation.
    pub sram: Cycle,
    /// 32 bytes of DRAM.
    pub dram: Cycle,
    /// The instructions for one exception packet.
    pub work: Cycle,
    /// Interrupt to first access.
    pub interrupt: Cycle,
}

/// The general-purpose core.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Gpp {
    tasks: Vec<Exceptions>,
    costs: Costs,
    counters: Vec<CounterSetup>,
    /// Threads that raised interrupt A, B since the core looked.
    status: [[u32; STATUS_WORDS]; 2],
    /// Interrupts raised.
    pub interrupts: u64,
    /// Longwords of routing table written before the start.
    pub route_words: u64,
}

impl Gpp {
    /// A core with a plan's tasks; [`Gpp::start`] sets them going.
    #[must_use]
    pub fn new(profile: &Profile, boot: &Boot) -> Self {
        let tasks = boot.tasks.iter().filter_map(|task| match task {
            TaskSetup::Exceptions(setup) => Some(Exceptions::new(setup.clone())),
            TaskSetup::Routes(_) => None,
        });
        Self {
            tasks: tasks.collect(),
            costs: Costs {
                ring: profile.gpp_ring_access(),
                sram: profile.gpp_sram_access(),
                dram: profile.gpp_dram_access(),
                work: profile.gpp_exception_work(),
                interrupt: profile.gpp_interrupt_latency(),
            },
            counters: boot.counters.clone(),
            status: [[0; STATUS_WORDS]; 2],
            interrupts: 0,
            route_words: 0,
        }
    }

    /// Posts the first look of each task.
    pub fn start(&mut self, fabric: &mut Fabric) {
        for (index, task) in self.tasks.iter_mut().enumerate() {
            let at = task.start(fabric.now);
            fabric.events.post(at, Event::Gpp(index as u16));
        }
    }

    /// A thread raises an interrupt: its bit is set and tasks that wait look
    /// at their rings.
    pub fn interrupt(&mut self, line: InterruptLine, thread: u8, fabric: &mut Fabric) {
        self.interrupts += 1;
        self.status[line as usize][usize::from(thread) / 32 % STATUS_WORDS] |= 1 << (thread % 32);
        for (index, task) in self.tasks.iter_mut().enumerate() {
            if let Some(at) = task.wake(fabric.now, fabric.now + self.costs.interrupt, &self.costs)
            {
                fabric.events.post(at, Event::Gpp(index as u16));
            }
        }
    }

    /// The threads that raised an interrupt since the last look of a task: 32
    /// threads a word, the first cluster in words 0-1.
    #[must_use]
    pub const fn interrupt_status(&self, line: InterruptLine) -> [u32; STATUS_WORDS] {
        self.status[line as usize]
    }

    /// The plan's counters, which the core reads when asked for statistics.
    #[must_use]
    pub fn counters(&self) -> &[CounterSetup] {
        &self.counters
    }

    /// The exception tasks.
    #[must_use]
    pub fn exceptions(&self) -> &[Exceptions] {
        &self.tasks
    }

    /// What the exception tasks have done before `now`, together.
    #[must_use]
    pub fn exception_counts(&self, now: Cycle) -> ExceptionCounts {
        self.tasks
            .iter()
            .map(|task| task.counts_at(now, &self.costs))
            .sum()
    }

    /// The last cycle at which a task did more than look at an empty ring.
    #[must_use]
    pub fn last_activity(&self) -> Cycle {
        self.tasks
            .iter()
            .map(Exceptions::last_activity)
            .max()
            .unwrap_or(0)
    }

    /// Something may have come onto a scratch ring: a task that waits there
    /// looks at its next turn.
    pub fn stir(&mut self, scratch: &Scratch, fabric: &mut Fabric) {
        for (index, task) in self.tasks.iter_mut().enumerate() {
            if let Some(at) = task.stir(scratch, fabric.now, &self.costs) {
                fabric.events.post(at, Event::Gpp(index as u16));
            }
        }
    }

    /// A task goes on.
    pub fn event(
        &mut self,
        task: u16,
        fabric: &mut Fabric,
        scratch: &mut Scratch,
        sram: &mut Sram,
        dram: &mut Dram,
    ) {
        let Some(exceptions) = self.tasks.get_mut(task as usize) else {
            return;
        };
        if !exceptions.is_due(fabric.now) {
            return;
        }
        if exceptions.is_polling() {
            // The handler acknowledges all threads with its first access.
            self.status = [[0; STATUS_WORDS]; 2];
        }
        let step = exceptions.doing();
        let next = exceptions.step(&self.costs, fabric, scratch, sram, dram);
        let until = exceptions.busy_until(fabric.now, &self.costs);
        fabric
            .watch
            .tell(fabric.now, || Happening::Gpp { task, step, until });
        if let Some(at) = next {
            fabric.events.post(at, Event::Gpp(task));
        }
    }
}
