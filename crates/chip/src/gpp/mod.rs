//! The general-purpose core: what a loader sets up before the start, and the
//! slow path that runs meanwhile.
//!
//! The core's instructions are not simulated. A task is a sequence of accesses,
//! each with its cost in the profile; between two accesses simulated time
//! passes. An access takes a clock of the first cluster's command bus, its time
//! at the unit and on the data bus, and lasts longer by what it waits there.
//! Looks at a ring that stays empty are counted but take no bandwidth. ICMP
//! messages are not generated: an exception packet ends at the core.
//!
//! There is one core. What a task does without a pause is a job: a look at a ring
//! with the packet that is on it, or what a timer calls for. Jobs run to their end,
//! one after the other; one that is due while the core is at another waits.

mod access;
pub mod boot;
pub mod exceptions;
mod loader;
pub(crate) mod profile;
mod queue_lengths;
pub mod quick_start;
pub mod rcp;
pub mod routes;
pub mod task;
pub mod xcp;

#[cfg(test)]
mod congestion_tests;
#[cfg(test)]
mod rate_tests;
#[cfg(test)]
mod tests;

pub use access::Place;
pub use loader::LoadError;

use crate::Cycle;
use crate::kernel::event::{Event, EventQueue};
use crate::kernel::fabric::Fabric;
pub use crate::kernel::neighbours::InterruptLine;
use crate::kernel::neighbours::Interrupts;
use crate::kernel::trace_event::TraceEvent;
use crate::profile::Profile;
use crate::units::dram::Dram;
use crate::units::scratch::Scratch;
use crate::units::sram::Sram;
use access::Access;
use boot::{Boot, CounterSetup};
use exceptions::Exceptions;
use quick_start::QuickStart;
use rcp::Rcp;
use serde::{Deserialize, Serialize};
use task::{Next, Task, TaskCounts, Work};
use xcp::Xcp;

/// Words of a thread status register: 32 threads each.
const STATUS_WORDS: usize = 4;

/// What an access of the core costs, in ME cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Costs {
    /// A scratch ring or CSR, or up to eight longwords of scratch.
    pub ring: Cycle,
    /// An SRAM longword or a burst of up to eight, or a Q-array operation.
    pub sram: Cycle,
    /// 32 bytes of DRAM.
    pub dram: Cycle,
    /// The instructions for one exception packet.
    pub work: Cycle,
    /// The instructions that compute a law of congestion control once.
    pub law: Cycle,
    /// Interrupt to first access.
    pub interrupt: Cycle,
}

/// The general-purpose core.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Gpp {
    tasks: Vec<Task>,
    costs: Costs,
    counters: Vec<CounterSetup>,
    /// The task whose job is under way.
    running: Option<u16>,
    /// Until when the last access of the last job takes.
    free_at: Cycle,
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
        let tasks = boot.tasks.iter();
        Self {
            tasks: tasks
                .filter_map(|setup| Task::new(setup, profile))
                .collect(),
            costs: Costs {
                ring: profile.gpp_ring_access(),
                sram: profile.gpp_sram_access(),
                dram: profile.gpp_dram_access(),
                work: profile.gpp_exception_work(),
                law: profile.gpp_law_work(),
                interrupt: profile.gpp_interrupt_latency(),
            },
            counters: boot.counters.clone(),
            running: None,
            free_at: 0,
            status: [[0; STATUS_WORDS]; 2],
            interrupts: 0,
            route_words: 0,
        }
    }

    /// Puts the tasks' first state into the memories and posts the first job of
    /// each.
    pub fn start(&mut self, fabric: &mut Fabric, scratch: &mut Scratch, sram: &mut Sram) {
        for (index, task) in self.tasks.iter_mut().enumerate() {
            task.prepare(scratch, sram);
            let at = task.start(fabric.now);
            fabric.events.post(at, Event::Gpp(index as u16));
        }
    }

    /// Something may have come onto a scratch ring: a task that waits there
    /// looks at its next turn.
    pub fn stir(&mut self, scratch: &Scratch, fabric: &mut Fabric) {
        let now = fabric.now;
        for index in 0..self.tasks.len() {
            let waits = self.tasks[index].exceptions();
            if !waits.is_some_and(|it| it.has_work(scratch)) {
                continue;
            }
            self.bring_up_to(index, now);
            if let Some(at) = self.tasks[index].wake(now, None) {
                fabric.events.post(at, Event::Gpp(index as u16));
            }
        }
    }

    /// Counts the looks of a dozing task until `now`: none while the core is at
    /// another's job.
    fn bring_up_to(&mut self, index: usize, now: Cycle) {
        if self.running.is_none() && now >= self.free_at {
            self.tasks[index].catch_up(now, &self.costs);
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

    /// The tasks that go on while the chip runs, in the order of the plan.
    #[must_use]
    pub fn tasks(&self) -> &[Task] {
        &self.tasks
    }

    /// What a task has done before `now`.
    #[must_use]
    pub fn counts(&self, task: &Task, now: Cycle) -> TaskCounts {
        if self.running.is_none() && now >= self.free_at {
            task.counts_at(now, &self.costs)
        } else {
            task.counts
        }
    }

    /// The exception tasks.
    pub fn exceptions(&self) -> impl Iterator<Item = &Exceptions> {
        self.tasks.iter().filter_map(Task::exceptions)
    }

    /// The Quick-Start tasks.
    pub fn quick_start(&self) -> impl Iterator<Item = &QuickStart> {
        self.tasks.iter().filter_map(|task| match &task.work {
            Work::QuickStart(it) => Some(it),
            _ => None,
        })
    }

    /// The XCP tasks.
    pub fn xcp(&self) -> impl Iterator<Item = &Xcp> {
        self.tasks.iter().filter_map(|task| match &task.work {
            Work::Xcp(it) => Some(it),
            _ => None,
        })
    }

    /// The RCP tasks.
    pub fn rcp(&self) -> impl Iterator<Item = &Rcp> {
        self.tasks.iter().filter_map(|task| match &task.work {
            Work::Rcp(it) => Some(it),
            _ => None,
        })
    }

    /// The last cycle at which a task did more than look at an empty ring or run
    /// by the clock.
    #[must_use]
    pub fn last_activity(&self) -> Cycle {
        let last = self.exceptions().map(Exceptions::last_activity);
        last.max().unwrap_or(0)
    }

    /// Stops a task's timer if it works by the clock and nothing but timers of the
    /// core is pending on the chip: nobody is left who could see what it does.
    pub fn stop_alone(&mut self, task: u16, events: &EventQueue) -> bool {
        let idle = |index: usize, it: &Task| {
            it.is_timer() && !it.stopped && !it.parked && self.running != Some(index as u16)
        };
        let Some(own) = self.tasks.get(usize::from(task)) else {
            return false;
        };
        if !idle(usize::from(task), own) {
            return false;
        }
        let tasks = self.tasks.iter().enumerate();
        let timers = tasks.filter(|(index, it)| idle(*index, it)).count();
        // The task's own event has been taken off the queue.
        if self.running.is_some() || events.len() + 1 > timers {
            return false;
        }
        self.tasks[usize::from(task)].stopped = true;
        true
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
        let now = fabric.now;
        let Some(own) = self.tasks.get(usize::from(task)) else {
            return;
        };
        if own.due != now || own.parked || own.stopped {
            return;
        }
        if self.running != Some(task) && !self.begin(task, fabric) {
            return;
        }
        let own = &mut self.tasks[usize::from(task)];
        if own.exceptions().is_some_and(Exceptions::is_polling) {
            // The handler acknowledges all threads with its first access.
            self.status = [[0; STATUS_WORDS]; 2];
        }
        let mut access = Access {
            task,
            costs: &self.costs,
            fabric,
            scratch,
            sram,
            dram,
        };
        let (step, next) = own.step(&mut access);
        let (Next::After(cost) | Next::Done { cost, .. }) = next;
        own.counts.busy += cost;
        let until = now + cost;
        fabric
            .journal
            .tell(now, || TraceEvent::Gpp { task, step, until });
        match next {
            Next::After(cost) => {
                own.due = now + cost.max(1);
                fabric.events.post(own.due, Event::Gpp(task));
            }
            Next::Done { due, .. } => {
                own.due = due.max(until).max(now + 1);
                let (due, dozing) = (own.due, own.exceptions().is_some_and(Exceptions::is_dozing));
                self.running = None;
                self.free_at = until;
                self.hand_on(task, fabric);
                if !dozing {
                    fabric.events.post(due, Event::Gpp(task));
                }
            }
        }
    }

    /// Begins a job if the core is free; else the job will wait.
    fn begin(&mut self, task: u16, fabric: &mut Fabric) -> bool {
        let now = fabric.now;
        let own = usize::from(task);
        if self.running.is_some() {
            self.tasks[own].holds_up(now);
            self.tasks[own].parked = true;
            return false;
        }
        let mut free = self.free_at;
        if now >= free {
            let others = self.tasks.iter_mut().enumerate();
            for (_, other) in others.filter(|(index, _)| *index != own) {
                free = free.max(other.look_end(now, &self.costs));
            }
        }
        if free > now {
            self.tasks[own].holds_up(now);
            self.tasks[own].due = free;
            fabric.events.post(free, Event::Gpp(task));
            return false;
        }
        self.tasks[own].begins(now);
        self.running = Some(task);
        true
    }

    /// The core is free from `free_at` on: for the next of the jobs that wait, in
    /// turn, and for looks at rings.
    fn hand_on(&mut self, task: u16, fabric: &mut Fabric) {
        let count = self.tasks.len();
        let free = self.free_at;
        let turn = (1..count).map(|step| (usize::from(task) + step) % count);
        let mut given = false;
        for index in turn {
            let other = &mut self.tasks[index];
            if other.parked && !given {
                given = true;
                other.parked = false;
                other.due = free.max(fabric.now + 1);
                fabric.events.post(other.due, Event::Gpp(index as u16));
            }
            other.goes_on(free);
        }
    }
}

impl Interrupts for Gpp {
    /// Its bit is set, and tasks that wait poll their rings.
    fn interrupt(&mut self, line: InterruptLine, thread: u8, fabric: &mut Fabric) {
        self.interrupts += 1;
        self.status[line as usize][usize::from(thread) / 32 % STATUS_WORDS] |= 1 << (thread % 32);
        let (now, costs) = (fabric.now, self.costs);
        for index in 0..self.tasks.len() {
            self.bring_up_to(index, now);
            if let Some(at) = self.tasks[index].wake(now, Some(now + costs.interrupt)) {
                fabric.events.post(at, Event::Gpp(index as u16));
            }
        }
    }
}
