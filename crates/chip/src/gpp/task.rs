//! The seam of the slow path: what a task of the core is to the core.
//!
//! A task is a sequence of jobs, a job a sequence of accesses with pauses in
//! between. [`Task::step`] makes one access and says what follows; when jobs are due,
//! that one runs after the other and what waiting costs is the core's business
//! (`schedule.rs`). Most tasks work by a timer and need four methods: a name,
//! [`prepare`](Task::prepare), [`step`](Task::step) and whatever they show.

use std::any::Any;
use std::fmt::Debug;
use std::ops::Range;

use serde::Serialize;
use serde::de::DeserializeOwned;

use super::Costs;
use super::access::{Access, LongwordAddress, Memories};
use super::exception::Exception;
use super::load_error::LoadError;
use super::memory_image::{MemoryImage, load_image};
use super::schedule::IdlePoll;
use super::space::Space;
use crate::Cycle;
use crate::kernel::row::Row;
use crate::kernel::saved_memory::StateError;
use crate::kernel::sideband::InterruptLine;
use crate::kernel::trace_event::ProgramState;
use crate::units::dram::Dram;
use crate::units::scratch::Scratch;
use crate::units::sram::Sram;
use npsim_profile::Profile;

/// What follows an access.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum NextAction {
    /// The job's next access, after so many cycles.
    After(Cycle),
    /// The job is done.
    Done {
        /// Cycles until the core is free for another job.
        cost: Cycle,
        /// The cycle at which the task's next job is due.
        due: Cycle,
    },
    /// The job was a poll that found nothing. As long as [`Task::has_work`] says no,
    /// further polls are counted and not simulated, so that an idle core costs the
    /// simulation nothing.
    Idle {
        /// Cycles until the core is free for another job.
        cost: Cycle,
        /// Cycles from one poll to the next; at least 1.
        interval: Cycle,
        /// Cycles that a poll which is only counted keeps the core.
        poll: Cycle,
    },
    /// The job is done, and the next one begins with a packet that the task
    /// [takes](Task::offer), or at a cycle if that comes first.
    Wait {
        /// Cycles until the core is free for another job.
        cost: Cycle,
        /// When a job is due in any case.
        due: Option<Cycle>,
    },
    /// The job is done, and the task sleeps: until an interrupt, until it [has work](Task::has_work)
    /// if it polls, or until a cycle.
    Sleep {
        /// Cycles until the core is free for another job.
        cost: Cycle,
        /// The polls that it makes meanwhile, which are counted and not simulated.
        polls: Option<IdlePoll>,
        /// When a job is due in any case.
        due: Option<Cycle>,
    },
    /// The job is done, the core is free after so many cycles, and the task has nothing
    /// more to do.
    Exit(Cycle),
}

impl NextAction {
    /// The job with a packet is done at a cycle, after which the core is busy for `cost`: the next
    /// one is due at once where packets wait, and else with the next that is taken.
    #[must_use]
    pub const fn next_packet(now: Cycle, cost: Cycle, waits: bool) -> Self {
        if waits {
            let due = now + cost;
            Self::Done { cost, due }
        } else {
            Self::Wait { cost, due: None }
        }
    }
}

/// A program that a task runs, as observers see it that begin now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramView {
    /// The name of its file.
    pub name: String,
    /// Its functions by the addresses of their first instructions, in rising order.
    pub functions: Vec<(u32, String)>,
    /// What it does.
    pub doing: ProgramState,
    /// The functions that it is in, the outermost first, by the same addresses.
    pub stack: Vec<u32>,
}

/// Something that the general-purpose core does.
///
/// A task is part of a chip, which can be copied and saved: its type has `Clone` and
/// serde's two traits, which is all that [`StoredTask`] asks for.
pub trait Task: StoredTask + Any + Debug + Send + Sync {
    /// The name of its kind, as projects have it: `quick-start`.
    fn name(&self) -> &'static str;

    /// Checks the memories that it works on, puts its first state into them and
    /// makes itself fit the chip, all before the first cycle. Gives how many cycles
    /// later its first job is due, `None` if nothing is left to do while the chip
    /// runs, or `Cycle::MAX` if it [takes jobs](Self::is_directed) and has none yet.
    ///
    /// # Errors
    /// It does not fit the chip.
    fn prepare(&mut self, start: &mut Start<'_>) -> Result<Option<Cycle>, LoadError>;

    /// Makes the access that is due; says what it is for, and what follows.
    fn step(&mut self, access: &mut Access<'_>) -> (&'static str, NextAction);

    /// Whether it works by the clock alone. Such a task stops when nothing but
    /// timers of the core is left to happen; one that does not also begins a job at
    /// an interrupt, and as soon as it [has work](Self::has_work).
    fn is_timer(&self) -> bool {
        true
    }

    /// Whether its last step did more than poll or run by the clock, which a run that drains waits
    /// for.
    fn is_active(&self) -> bool {
        !self.is_timer()
    }

    /// A thread raised an interrupt; gives how many cycles later a job that waits for one begins.
    fn interrupted(&mut self, _line: InterruptLine, _thread: u8, costs: &Costs) -> Cycle {
        costs.interrupt
    }

    /// Whether the outside gives it jobs while the chip runs, before they are due. Each begins behind
    /// what other tasks do in its cycle, so that how early it is known changes nothing, and the
    /// end of all else does not stop it.
    fn is_directed(&self) -> bool {
        false
    }

    /// Whether its jobs are polls of a ring, which statistics count.
    fn polls(&self) -> bool {
        !self.is_timer()
    }

    /// A packet that came to the core is offered to its tasks in their order. The first
    /// that says yes has it and its buffer from now on, and a job of it is due. The
    /// packet's first bytes and its descriptor have been read.
    fn offer(&mut self, _packet: &Exception, _now: Cycle) -> bool {
        false
    }

    /// Whether it may raise signals of threads from now on, so that no thread waits in vain for certain.
    fn signals_threads(&self) -> bool {
        false
    }

    /// Packets that the task made and sent.
    fn made(&self) -> u64 {
        0
    }

    /// Handles of the packet buffers that the task keeps between two jobs.
    fn keeps(&self) -> Vec<u32> {
        Vec::new()
    }

    /// The program that it runs, if it runs one.
    fn program(&self) -> Option<ProgramView> {
        None
    }

    /// Where in DRAM it keeps what only it knows how to read, handles of packet buffers among it perhaps:
    /// ranges of byte addresses.
    fn memory(&self) -> &[Range<u32>] {
        &[]
    }

    /// Whether there is something on a scratch ring for a task whose last poll
    /// found nothing.
    fn has_work(&self, _scratch: &Scratch) -> bool {
        false
    }

    /// Packets that ended at the task, by the reason for which they came to it.
    fn packets(&self) -> Vec<(String, u64)> {
        Vec::new()
    }

    /// What statistics show of it: a row for each group of ports, or for whatever it
    /// keeps several of.
    fn rows(&self, _memories: Memories<'_>) -> Vec<Row> {
        Vec::new()
    }

    /// What the summary of a run says of it, a line each.
    fn summary(&self, _memories: Memories<'_>) -> Vec<String> {
        Vec::new()
    }

    /// Whether a state of the task that was read from a file is like this one in
    /// all that does not change.
    fn is_like(&self, _saved: &Self) -> bool
    where
        Self: Sized,
    {
        true
    }

    /// Completes the task, which was read from a file, with what saving leaves out: `loaded` is the
    /// one that was loaded from the project.
    fn complete(&mut self, _loaded: &Self)
    where
        Self: Sized,
    {
    }
}

/// Copies, saves and restores a task of which only the trait is known.
pub trait StoredTask {
    /// A copy.
    fn clone_box(&self) -> Box<dyn Task>;

    /// The state as bytes.
    ///
    /// # Errors
    /// The encoder refuses.
    fn save(&self) -> Result<Vec<u8>, StateError>;

    /// Takes over a state that was [saved](Self::save).
    ///
    /// # Errors
    /// The bytes are no state of such a task, which is then as it was.
    fn restore(&mut self, state: &[u8]) -> Result<(), StateError>;
}

impl<T: Task + Clone + Serialize + DeserializeOwned> StoredTask for T {
    fn clone_box(&self) -> Box<dyn Task> {
        Box::new(self.clone())
    }

    fn save(&self) -> Result<Vec<u8>, StateError> {
        Ok(postcard::to_allocvec(self)?)
    }

    fn restore(&mut self, state: &[u8]) -> Result<(), StateError> {
        let mut saved: T = postcard::from_bytes(state)?;
        if !self.is_like(&saved) {
            return Err(StateError::OtherChip("tasks"));
        }
        saved.complete(self);
        *self = saved;
        Ok(())
    }
}

impl Clone for Box<dyn Task> {
    fn clone(&self) -> Self {
        (**self).clone_box()
    }
}

impl dyn Task {
    /// The task itself, if it is of this type, to be changed.
    pub fn downcast_mut<T: Task>(&mut self) -> Option<&mut T> {
        (self as &mut dyn Any).downcast_mut()
    }

    /// The task itself, if it is of this type.
    #[must_use]
    pub fn downcast_ref<T: Task>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }
}

/// The chip before its first cycle, as a task sees it. What is done here takes no
/// simulated time.
pub struct Start<'a> {
    pub(super) task: &'static str,
    pub(super) profile: &'a Profile,
    pub(super) node: usize,
    pub(super) scratch: &'a mut Scratch,
    pub(super) sram: &'a mut Sram,
    pub(super) dram: &'a mut Dram,
    /// Longwords of tables written.
    pub(super) table_words: &'a mut u64,
}

impl Start<'_> {
    /// The chip as data.
    #[must_use]
    pub const fn profile(&self) -> &Profile {
        self.profile
    }

    /// The clock of the microengines, in whose cycles all times are given, in MHz; at
    /// least 1.
    #[must_use]
    pub fn mhz(&self) -> u64 {
        self.profile.me_mhz().max(1)
    }

    /// Which router of a chain the chip is, from 0 on.
    #[must_use]
    pub const fn node(&self) -> usize {
        self.node
    }

    /// Checks that the task can read and write so many bytes: the first and the last
    /// longword are there.
    ///
    /// # Errors
    /// One of them is not.
    pub fn check(&self, place: LongwordAddress, bytes: u32) -> Result<(), LoadError> {
        if bytes == 0 {
            return Ok(());
        }
        for end in [place, place.after(bytes - 4)] {
            if !end.address.is_multiple_of(4) || end.look(self.scratch, self.sram).is_none() {
                return Err(LoadError::Task {
                    task: self.task,
                    space: end.space,
                    address: end.address,
                });
            }
        }
        Ok(())
    }

    /// A longword; 0 where there is no memory.
    #[must_use]
    pub fn read(&self, place: LongwordAddress) -> u32 {
        place.look(self.scratch, self.sram).unwrap_or(0)
    }

    /// Writes a longword, where there is memory.
    pub fn write(&mut self, place: LongwordAddress, word: u32) {
        place.put(word, self.scratch, self.sram);
    }

    /// Writes longwords of DRAM, from a byte address that is a multiple of 4 on.
    ///
    /// # Errors
    /// They do not lie in the memory.
    pub fn write_dram(&mut self, address: u32, words: &[u32]) -> Result<(), LoadError> {
        let image = MemoryImage {
            space: Space::Dram,
            address,
            words: words.to_vec(),
        };
        load_image(&image, self.scratch, self.sram, self.dram)
    }

    /// Writes a table, from a byte address of a memory on.
    ///
    /// # Errors
    /// It does not lie in the memory.
    pub(crate) fn write_table(
        &mut self,
        space: Space,
        address: u32,
        words: &[u32],
    ) -> Result<(), LoadError> {
        let image = MemoryImage {
            space,
            address,
            words: words.to_vec(),
        };
        load_image(&image, self.scratch, self.sram, self.dram)?;
        *self.table_words += words.len() as u64;
        Ok(())
    }
}

/// When a timer fires again. A core that is too slow for it leaves out what it
/// missed instead of running after it for ever.
#[must_use]
pub const fn next_time(last: Cycle, period: Cycle, now: Cycle) -> Cycle {
    let next = last + period;
    if next > now { next } else { now + period }
}
