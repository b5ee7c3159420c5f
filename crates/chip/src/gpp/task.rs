//! The interface of the slow path: a task of the general-purpose core.
//!
//! A task is a sequence of jobs, and a job a sequence of accesses with pauses in between.
//! [`Task::step`] makes one access and returns what follows. The core decides when jobs run, one
//! after another, and accounts for their waiting (`schedule.rs`). Most tasks run on a timer and
//! need four methods: a name, [`prepare`](Task::prepare), [`step`](Task::step) and one for what
//! they show.

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
    /// The job's next access follows after this many cycles.
    After(Cycle),
    /// The job is finished.
    Done {
        /// Cycles until the core is free for another job.
        cost: Cycle,
        /// The cycle at which the task's next job is due.
        due: Cycle,
    },
    /// The job was a poll that found nothing. As long as [`Task::has_work`] returns false, further
    /// polls are counted rather than simulated, so that an idle core costs the simulation nothing.
    Idle {
        /// Cycles until the core is free for another job.
        cost: Cycle,
        /// Cycles from one poll to the next; at least 1.
        interval: Cycle,
        /// Cycles for which a counted poll occupies the core.
        poll: Cycle,
    },
    /// The job is finished, and the next one begins with a packet that the task
    /// [takes](Task::offer), or at a cycle if that comes first.
    Wait {
        /// Cycles until the core is free for another job.
        cost: Cycle,
        /// The cycle at which a job is due in any case.
        due: Option<Cycle>,
    },
    /// The job is finished, and the task sleeps: until an interrupt, until it
    /// [has work](Task::has_work) if it polls, or until a cycle.
    Sleep {
        /// Cycles until the core is free for another job.
        cost: Cycle,
        /// The polls that it makes meanwhile, which are counted rather than simulated.
        polls: Option<IdlePoll>,
        /// The cycle at which a job is due in any case.
        due: Option<Cycle>,
    },
    /// The job is finished, the core is free after this many cycles, and the task has nothing more
    /// to do.
    Exit(Cycle),
}

impl NextAction {
    /// Ends a job with a packet at cycle `now`, after which the core is busy for `cost`: the next
    /// job is due at once if packets are waiting, otherwise with the next one taken.
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

/// A program that a task runs, as seen by observers that start now.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ProgramView {
    /// The name of its file.
    pub name: String,
    /// Its functions by the addresses of their first instructions, in ascending order.
    pub functions: Vec<(u32, String)>,
    /// Its current activity.
    pub doing: ProgramState,
    /// The functions that it is in, outermost first, by the same addresses.
    pub stack: Vec<u32>,
}

/// A task of the general-purpose core.
///
/// A task is part of a chip, which can be copied and saved: its type implements `Clone` and both
/// serde traits, which is all that [`StoredTask`] requires.
pub trait Task: StoredTask + Any + Debug + Send + Sync {
    /// The name of its kind, as used in projects: `quick-start`.
    fn name(&self) -> &'static str;

    /// Checks the memories that it works on, writes its initial state to them and adapts it to the
    /// chip, all before the first cycle. Returns the number of cycles until its first job is due,
    /// `None` if nothing is left to do while the chip runs, or `Cycle::MAX` if it
    /// [takes jobs](Self::is_directed) and has none yet.
    ///
    /// # Errors
    /// Returns an error if it does not fit the chip.
    fn prepare(&mut self, start: &mut Start<'_>) -> Result<Option<Cycle>, LoadError>;

    /// Makes the access that is due. Returns its purpose and what follows.
    fn step(&mut self, access: &mut Access<'_>) -> (&'static str, NextAction);

    /// Whether it runs on its timer alone. Such a task stops when only timers of the core are left
    /// to happen; any other task also begins a job at an interrupt, and as soon as it
    /// [has work](Self::has_work).
    fn is_timer(&self) -> bool {
        true
    }

    /// Whether its last step did more than poll or run on its timer, so that a run that drains
    /// waits for it.
    fn is_active(&self) -> bool {
        !self.is_timer()
    }

    /// Handles an interrupt that a thread raised. Returns the number of cycles until a job that
    /// waits for one begins.
    fn interrupted(&mut self, _line: InterruptLine, _thread: u8, costs: &Costs) -> Cycle {
        costs.interrupt
    }

    /// Whether it is given jobs from outside while the chip runs, before they are due. Each begins
    /// after other tasks' work in its cycle, so that it does not matter how early it is known, and
    /// the task is not stopped when everything else has ended.
    fn is_directed(&self) -> bool {
        false
    }

    /// Whether its jobs are polls of a ring, which statistics count.
    fn polls(&self) -> bool {
        !self.is_timer()
    }

    /// Offers it a packet that came to the core. Packets are offered to the tasks in order; the
    /// first that returns true owns the packet and its buffer from then on, and a job of it becomes
    /// due. The packet's first bytes and its descriptor have already been read.
    fn offer(&mut self, _packet: &Exception, _now: Cycle) -> bool {
        false
    }

    /// Whether it may raise signals of threads from now on, in which case no thread's wait is
    /// certain to be in vain.
    fn signals_threads(&self) -> bool {
        false
    }

    /// Number of packets that the task made and sent.
    fn made(&self) -> u64 {
        0
    }

    /// Handles of the packet buffers that the task holds between two jobs.
    fn held_buffers(&self) -> Vec<u32> {
        Vec::new()
    }

    /// The program that it runs, if any.
    fn program(&self) -> Option<ProgramView> {
        None
    }

    /// Ranges of byte addresses in DRAM whose contents only the task can interpret, possibly
    /// including handles of packet buffers.
    fn memory(&self) -> &[Range<u32>] {
        &[]
    }

    /// Whether a task whose last poll found nothing has something on a scratch ring.
    fn has_work(&self, _scratch: &Scratch) -> bool {
        false
    }

    /// Packets that ended at the task, by the reason for which they came to it.
    fn packets(&self) -> Vec<(String, u64)> {
        Vec::new()
    }

    /// Its rows in statistics: one for each group of ports, or for each item of which it has
    /// several.
    fn rows(&self, _memories: Memories<'_>) -> Vec<Row> {
        Vec::new()
    }

    /// Its lines in the summary of a run.
    fn summary(&self, _memories: Memories<'_>) -> Vec<String> {
        Vec::new()
    }

    /// Whether a state of the task that was read from a file agrees with this one in everything
    /// that does not change.
    fn is_compatible_with(&self, _saved: &Self) -> bool
    where
        Self: Sized,
    {
        true
    }

    /// Completes the task, which was read from a file, with the state that saving leaves out;
    /// `loaded` is the task as loaded from the project.
    fn complete(&mut self, _loaded: &Self)
    where
        Self: Sized,
    {
    }
}

/// Copies, saves and restores a task known only through its trait.
pub trait StoredTask {
    /// A copy.
    fn clone_box(&self) -> Box<dyn Task>;

    /// The state as bytes.
    ///
    /// # Errors
    /// Returns an error if encoding fails.
    fn save(&self) -> Result<Vec<u8>, StateError>;

    /// Takes over a state that was [saved](Self::save).
    ///
    /// # Errors
    /// Returns an error if the bytes are not a state of such a task, which is then left unchanged.
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
        if !self.is_compatible_with(&saved) {
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
    /// The task itself, mutably, if it is of this type.
    pub fn downcast_mut<T: Task>(&mut self) -> Option<&mut T> {
        (self as &mut dyn Any).downcast_mut()
    }

    /// The task itself, if it is of this type.
    #[must_use]
    pub fn downcast_ref<T: Task>(&self) -> Option<&T> {
        (self as &dyn Any).downcast_ref()
    }
}

/// A task's view of the chip before its first cycle. Nothing done here takes simulated time.
pub struct Start<'a> {
    pub(super) task: &'static str,
    pub(super) profile: &'a Profile,
    pub(super) node: usize,
    pub(super) scratch: &'a mut Scratch,
    pub(super) sram: &'a mut Sram,
    pub(super) dram: &'a mut Dram,
    /// Number of longwords of tables written.
    pub(super) table_words: &'a mut u64,
}

impl Start<'_> {
    /// The chip's profile.
    #[must_use]
    pub const fn profile(&self) -> &Profile {
        self.profile
    }

    /// The clock of the microengines in MHz, at least 1. All times are in its cycles.
    #[must_use]
    pub fn mhz(&self) -> u64 {
        self.profile.me_mhz().max(1)
    }

    /// The position of the chip in a chain of routers, from 0.
    #[must_use]
    pub const fn node(&self) -> usize {
        self.node
    }

    /// Checks that the task can read and write this many bytes: that the first and the last
    /// longword exist.
    ///
    /// # Errors
    /// Returns an error if one of them does not.
    pub fn check(&self, place: LongwordAddress, bytes: u32) -> Result<(), LoadError> {
        if bytes == 0 {
            return Ok(());
        }
        for end in [place, place.after(bytes - 4)] {
            if !end.address.is_multiple_of(4) || end.peek_word(self.scratch, self.sram).is_none() {
                return Err(LoadError::Task {
                    task: self.task,
                    space: end.space,
                    address: end.address,
                });
            }
        }
        Ok(())
    }

    /// A longword; 0 if there is no memory.
    #[must_use]
    pub fn read(&self, place: LongwordAddress) -> u32 {
        place.peek_word(self.scratch, self.sram).unwrap_or(0)
    }

    /// Writes a longword, if there is memory.
    pub fn write(&mut self, place: LongwordAddress, word: u32) {
        place.put(word, self.scratch, self.sram);
    }

    /// Writes longwords of DRAM, starting at a byte address that is a multiple of 4.
    ///
    /// # Errors
    /// Returns an error if they are not all in the memory.
    pub fn write_dram(&mut self, address: u32, words: &[u32]) -> Result<(), LoadError> {
        let image = MemoryImage {
            space: Space::Dram,
            address,
            words: words.to_vec(),
        };
        load_image(&image, self.scratch, self.sram, self.dram)
    }

    /// Writes a table, starting at a byte address of a memory.
    ///
    /// # Errors
    /// Returns an error if it is not all in the memory.
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

/// The cycle at which a timer fires again. A core that is too slow skips the firings it missed
/// instead of falling behind forever.
#[must_use]
pub const fn next_time(last: Cycle, period: Cycle, now: Cycle) -> Cycle {
    let next = last + period;
    if next > now { next } else { now + period }
}
