//! The general-purpose core: its setup by a loader before the start, and the slow path that runs
//! alongside the microengines.
//!
//! The core itself models no instructions, though a task may execute some. A task is a sequence of
//! accesses, each with its cost in the profile; between two accesses simulated time passes. An
//! access takes one clock of the first cluster's command bus and its time at the unit and on the
//! data bus, and lasts longer by the time it waits there. Polls of a ring that stays empty are
//! counted but take no bandwidth.
//!
//! An exception packet is offered to the tasks ([`Task::offer`]). A task that takes it can reply:
//! [`packets`] describes how a task makes packets and sends them. A packet that no task takes ends
//! at the core.
//!
//! There is one core. The work that a task does without a pause is a job: a poll of a ring with the
//! packet on it, or the work that a timer triggers. Jobs run to completion, one after another; a
//! job that becomes due during another waits.
//!
//! The core runs a list of [`Task`]s, of which it knows only the trait. Two kinds that belong to a
//! router are defined here: [`routes`] and [`exceptions`].

mod access;
pub mod boot;
mod exception;
pub mod exceptions;
mod load_error;
mod loader;
pub mod lookup;
mod memory_image;
pub mod packets;
pub mod routes;
mod schedule;
mod space;
pub mod task;
mod windows;

#[cfg(test)]
mod tests;

pub use access::{Access, LongwordAddress, Memories};
pub use load_error::LoadError;
pub(crate) use memory_image::{MemoryImage, load_image};
pub use schedule::TaskCounts;
pub use task::{NextAction, ProgramView, Start, Task};

use crate::Cycle;
use crate::kernel::event::{Event, EventQueue};
use crate::kernel::fabric::Fabric;
use crate::kernel::saved_memory::StateError;
pub use crate::kernel::sideband::InterruptLine;
use crate::kernel::sideband::Interrupts;
use crate::kernel::trace_event::TraceEvent;
use crate::units::Units;
use crate::units::dram::Dram;
use crate::units::scratch::Scratch;
use crate::units::sram::Sram;
use boot::{BootPlan, CounterSetup};
use exception::Exception;
use npsim_profile::Profile;
use routes::{ChangeError, RouteChange, Routes};
pub use schedule::IdlePoll;
use schedule::Schedule;
use serde::{Deserialize, Serialize};

/// Words of a thread status register: 32 threads each.
const STATUS_WORDS: usize = 4;

/// Costs of the core's accesses and work, in ME cycles.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct Costs {
    /// Access to a scratch ring or CSR, or to up to eight longwords of scratch.
    pub ring: Cycle,
    /// Access to an SRAM longword or a burst of up to eight, or a Q-array operation.
    pub sram: Cycle,
    /// Access to 32 bytes of DRAM.
    pub dram: Cycle,
    /// The instructions for one exception packet.
    pub work: Cycle,
    /// The instructions to evaluate a congestion control law once.
    pub law: Cycle,
    /// The instructions to decide on and make a packet of the core's own.
    pub reply: Cycle,
    /// From an interrupt to the first access.
    pub interrupt: Cycle,
}

/// The general-purpose core.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Gpp {
    /// The tasks' states are saved separately from the chip's: only the boot plan knows their
    /// types.
    #[serde(skip)]
    tasks: Vec<Box<dyn Task>>,
    /// When each task's jobs are due.
    schedules: Vec<Schedule>,
    /// The kinds of tasks that statistics list, even if none runs.
    kinds: Vec<String>,
    costs: Costs,
    counters: Vec<CounterSetup>,
    /// The task whose job is in progress.
    running: Option<u16>,
    /// The cycle at which the last access of the last job ends.
    free_at: Cycle,
    /// Threads that raised interrupt A or B since the core last polled them.
    status: [[u32; STATUS_WORDS]; 2],
    /// Number of interrupts raised.
    pub interrupts: u64,
    /// Longwords of routing table written before the start.
    pub route_words: u64,
}

impl Gpp {
    /// A core with a plan's tasks; [`BootPlan::load`] starts them.
    #[must_use]
    pub fn new(profile: &Profile, boot: &BootPlan) -> Self {
        Self {
            tasks: boot.tasks.clone(),
            schedules: Vec::new(),
            kinds: boot.task_kinds.clone(),
            costs: Costs {
                ring: profile.gpp_ring_access(),
                sram: profile.gpp_sram_access(),
                dram: profile.gpp_dram_access(),
                work: profile.gpp_exception_work(),
                law: profile.gpp_law_work(),
                reply: profile.gpp_reply_work(),
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

    /// Writes the tasks' initial state to the memories and posts the first job of each. Tasks that
    /// are then finished are removed.
    fn start(
        &mut self,
        node: usize,
        fabric: &mut Fabric,
        scratch: &mut Scratch,
        sram: &mut Sram,
        dram: &mut Dram,
    ) -> Result<(), LoadError> {
        let profile = fabric.profile.clone();
        for mut task in std::mem::take(&mut self.tasks) {
            let first = task.prepare(&mut Start {
                task: task.name(),
                profile: &profile,
                node,
                scratch,
                sram,
                dram,
                table_words: &mut self.route_words,
            })?;
            if let Some(first) = first {
                let due = fabric.now.saturating_add(first.max(1));
                let mut schedule = Schedule::new(due, task.is_timer());
                schedule.stopped = due == Cycle::MAX;
                if !schedule.stopped {
                    let index = self.tasks.len() as u16;
                    fabric.events.post(due, job_event(&*task, index));
                }
                self.schedules.push(schedule);
                self.tasks.push(task);
            }
        }
        Ok(())
    }

    /// Lets waiting tasks poll their scratch rings at their next turn, after something may have
    /// been put on one.
    #[inline(always)]
    #[allow(clippy::inline_always)] // It is all that its caller does.
    pub fn wake_pollers(&mut self, scratch: &Scratch, fabric: &mut Fabric) {
        let now = fabric.now;
        for index in 0..self.tasks.len() {
            if !self.schedules[index].is_idle() || !self.tasks[index].has_work(scratch) {
                continue;
            }
            self.count_polls_until(index, now);
            if let Some(at) = self.schedules[index].wake(now, None) {
                fabric.events.post(at, Event::Gpp(index as u16));
            }
        }
    }

    /// Appends a change to the `routes` task; its cycle must not have passed.
    pub(crate) fn append_route_change(
        &mut self,
        change: RouteChange,
        fabric: &mut Fabric,
    ) -> Result<(), ChangeError> {
        let mut tasks = (0..).zip(&mut self.tasks);
        let routes = tasks.find_map(|(index, task)| Some((index, task.downcast_mut::<Routes>()?)));
        let (index, routes) = routes.ok_or(ChangeError::Closed)?;
        let Some(due) = routes.append(change)? else {
            return Ok(());
        };
        let job = Event::Directed(index);
        let schedule = &mut self.schedules[usize::from(index)];
        if !schedule.stopped {
            fabric.events.cancel(schedule.due, job);
        }
        schedule.stopped = false;
        schedule.due = due.max(1);
        fabric.events.post(schedule.due, job);
        Ok(())
    }

    /// Counts the polls of an idle task until `now`; it makes none while the core runs another
    /// task's job.
    fn count_polls_until(&mut self, index: usize, now: Cycle) {
        if self.running.is_none() && now >= self.free_at {
            self.schedules[index].catch_up(now);
        }
    }

    /// The threads that raised an interrupt since a task last acknowledged them: 32 threads per
    /// word, the first cluster in words 0-1.
    #[must_use]
    #[cfg(test)]
    pub(crate) const fn interrupt_status(&self, line: InterruptLine) -> [u32; STATUS_WORDS] {
        self.status[line as usize]
    }

    /// The plan's counters, which the core reads when statistics are requested.
    #[must_use]
    pub fn counters(&self) -> &[CounterSetup] {
        &self.counters
    }

    /// The tasks that continue while the chip runs, in plan order.
    #[must_use]
    pub fn tasks(&self) -> &[Box<dyn Task>] {
        &self.tasks
    }

    /// The first task of this type that continues while the chip runs.
    #[must_use]
    pub fn task<T: Task>(&self) -> Option<&T> {
        self.tasks.iter().find_map(|task| task.downcast_ref())
    }

    /// The first task of this type that continues while the chip runs, for changes between two
    /// steps of a run.
    pub fn task_mut<T: Task>(&mut self) -> Option<&mut T> {
        self.tasks.iter_mut().find_map(|task| task.downcast_mut())
    }

    /// The kinds of tasks that statistics list, even if none runs.
    #[must_use]
    pub fn kinds(&self) -> &[String] {
        &self.kinds
    }

    /// The counts of the task with this index before `now`.
    ///
    /// # Panics
    /// Panics if there is no such task.
    #[must_use]
    pub fn counts(&self, task: usize, now: Cycle) -> TaskCounts {
        if self.running.is_none() && now >= self.free_at {
            self.schedules[task].counts_at(now)
        } else {
            self.schedules[task].counts
        }
    }

    /// The last cycle at which a task did more than poll an empty ring or run on its timer.
    #[must_use]
    pub fn last_activity(&self) -> Cycle {
        let last = self.schedules.iter().map(|it| it.last_activity);
        last.max().unwrap_or(0)
    }

    /// Takes over the state that serialization leaves out.
    pub(crate) fn adopt_unsaved(&mut self, from: &mut Self) {
        std::mem::swap(&mut self.tasks, &mut from.tasks);
    }

    /// The states of the tasks as bytes, which the serialized core leaves out.
    ///
    /// # Errors
    /// Returns an error if encoding fails.
    pub fn save_tasks(&self) -> Result<Vec<Vec<u8>>, StateError> {
        self.tasks.iter().map(|task| task.save()).collect()
    }

    /// Completes a core that was read from a saved state: takes over the tasks of `other`, with the
    /// states that they saved.
    ///
    /// # Errors
    /// Returns an error if these are not states of such tasks.
    pub fn restore_tasks(&mut self, other: &Self, states: &[Vec<u8>]) -> Result<(), StateError> {
        let count = other.tasks.len();
        if states.len() != count || self.schedules.len() != count {
            return Err(StateError::OtherChip("tasks"));
        }
        self.tasks.clone_from(&other.tasks);
        let mut tasks = self.tasks.iter_mut().zip(states);
        tasks.try_for_each(|(task, state)| task.restore(state))
    }

    /// Stops a task's timer if the task runs on its timer alone and only timers of the core are
    /// pending on the chip: nothing that could observe its work is left. Returns whether it was
    /// stopped.
    pub(crate) fn stop_alone(&mut self, task: u16, events: &EventQueue) -> bool {
        let index = usize::from(task);
        if index >= self.tasks.len() || !self.is_idle_timer(index) {
            return false;
        }
        let timers = (0..self.tasks.len())
            .filter(|it| self.is_idle_timer(*it))
            .count();
        // The task's own event has been taken off the queue.
        if self.running.is_some() || events.len() + 1 > timers {
            return false;
        }
        self.schedules[index].stopped = true;
        true
    }

    /// Whether a task runs on its timer alone and is waiting for it.
    fn is_idle_timer(&self, index: usize) -> bool {
        let schedule = &self.schedules[index];
        self.tasks[index].is_timer()
            && !self.tasks[index].is_directed()
            && !schedule.stopped
            && !schedule.parked
            && self.running != Some(index as u16)
    }

    /// Handles of the packet buffers that tasks hold.
    pub fn buffers_held_by_tasks(&self) -> impl Iterator<Item = u32> + '_ {
        self.tasks.iter().flat_map(|task| task.held_buffers())
    }

    /// Continues a task.
    pub fn event(&mut self, task: u16, fabric: &mut Fabric, units: &mut Units) {
        let (now, index) = (fabric.now, usize::from(task));
        if index >= self.schedules.len() {
            return;
        }
        if self.schedules[index].must_wake(now) {
            self.count_polls_until(index, now);
            self.schedules[index].wake(now, Some(now));
        }
        let schedule = &self.schedules[index];
        if schedule.due != now || schedule.parked || schedule.stopped {
            return;
        }
        if self.running != Some(task) && !self.begin(task, fabric) {
            return;
        }
        let (before, rest) = self.tasks.split_at_mut(index);
        let Some((own, behind)) = rest.split_first_mut() else {
            return;
        };
        let schedule = &mut self.schedules[index];
        schedule.note_access();
        let mut taken = None;
        let mut offer = |packet: &Exception, now| {
            let before = (0..task).zip(before.iter_mut());
            let behind = (task + 1..).zip(behind.iter_mut());
            for (index, other) in before.chain(behind) {
                if other.offer(packet, now) {
                    taken = Some(index);
                    return true;
                }
            }
            false
        };
        let mut access = Access {
            task,
            costs: &self.costs,
            status: &mut self.status,
            fabric,
            scratch: &mut units.scratch,
            sram: &mut units.sram,
            dram: &mut units.dram,
            cap: &mut units.cap,
            hash: &mut units.hash,
            offer: &mut offer,
        };
        let (step, next) = own.step(&mut access);
        let (NextAction::After(cost)
        | NextAction::Done { cost, .. }
        | NextAction::Idle { cost, .. }
        | NextAction::Wait { cost, .. }
        | NextAction::Sleep { cost, .. }
        | NextAction::Exit(cost)) = next;
        schedule.counts.busy += cost;
        let until = now + cost;
        fabric
            .trace
            .record(now, || TraceEvent::Gpp { task, step, until });
        if own.is_active() && !matches!(next, NextAction::Idle { .. }) {
            schedule.last_activity = now;
        }
        match next {
            NextAction::After(cost) => {
                schedule.due = now + cost.max(1);
                fabric.events.post(schedule.due, Event::Gpp(task));
            }
            NextAction::Done { due, .. } => {
                schedule.due = due.max(until).max(now + 1);
                let due = schedule.due;
                self.release_core(task, until, fabric);
                let job = job_event(&*self.tasks[index], task);
                fabric.events.post(due, job);
            }
            NextAction::Idle { interval, poll, .. } => {
                let interval = interval.max(1);
                schedule.due = (now + interval).max(until);
                schedule.set_idle(IdlePoll { interval, poll });
                self.release_core(task, until, fabric);
            }
            NextAction::Wait { due, .. } => {
                let due = due.map(|due| due.max(until).max(now + 1));
                schedule.wait_for_packet(due);
                self.release_core(task, until, fabric);
                if let Some(due) = due {
                    fabric.events.post(due, Event::Gpp(task));
                }
            }
            NextAction::Sleep { polls, due, .. } => {
                schedule.put_to_sleep(polls, now, until, due);
                let due = schedule.sleeps_until();
                self.release_core(task, until, fabric);
                if let Some(due) = due {
                    fabric.events.post(due, Event::Gpp(task));
                }
            }
            NextAction::Exit(_) => {
                schedule.stopped = true;
                self.release_core(task, until, fabric);
            }
        }
        if let Some(taker) = taken
            && let Some(at) = self.schedules[usize::from(taker)].takes_packet(until.max(now + 1))
        {
            fabric.events.post(at, Event::Gpp(taker));
        }
    }

    /// Begins a job if the core is free, and returns true; otherwise the job waits.
    fn begin(&mut self, task: u16, fabric: &mut Fabric) -> bool {
        let now = fabric.now;
        let own = usize::from(task);
        if self.running.is_some() {
            self.schedules[own].note_delay(now);
            self.schedules[own].parked = true;
            return false;
        }
        let mut free = self.free_at;
        if now >= free {
            let others = self.schedules.iter_mut().enumerate();
            for (_, other) in others.filter(|(index, _)| *index != own) {
                free = free.max(other.poll_end(now));
            }
        }
        if free > now {
            self.schedules[own].note_delay(now);
            self.schedules[own].due = free;
            fabric.events.post(free, Event::Gpp(task));
            return false;
        }
        self.schedules[own].begin_job(now);
        self.running = Some(task);
        true
    }

    /// Ends a task's job; from `free` on the core is available to the next waiting job, in turn,
    /// and to polls.
    fn release_core(&mut self, task: u16, free: Cycle, fabric: &mut Fabric) {
        self.running = None;
        self.free_at = free;
        let count = self.schedules.len();
        let turn = (1..count).map(|step| (usize::from(task) + step) % count);
        let mut given = false;
        for index in turn {
            let other = &mut self.schedules[index];
            if other.parked && !given {
                given = true;
                other.parked = false;
                other.due = free.max(fabric.now + 1);
                fabric.events.post(other.due, Event::Gpp(index as u16));
            }
            other.resume_polling(free);
        }
    }
}

/// The event of a task's next job.
fn job_event(task: &dyn Task, index: u16) -> Event {
    if task.is_directed() {
        Event::Directed(index)
    } else {
        Event::Gpp(index)
    }
}

impl Interrupts for Gpp {
    /// Sets the line's bit and lets waiting tasks poll their rings.
    fn interrupt(&mut self, line: InterruptLine, thread: u8, fabric: &mut Fabric) {
        self.interrupts += 1;
        self.status[line as usize][usize::from(thread) / 32 % STATUS_WORDS] |= 1 << (thread % 32);
        let now = fabric.now;
        for index in 0..self.tasks.len() {
            self.count_polls_until(index, now);
            let delay = self.tasks[index].interrupted(line, thread, &self.costs);
            if let Some(at) = self.schedules[index].wake(now, Some(now + delay)) {
                fabric.events.post(at, Event::Gpp(index as u16));
            }
        }
    }
}
