//! Where the cycles went, by instruction: a [`Collector`] observes a run and becomes a [`Profile`].
//!
//! In every cycle, a microengine issues an instruction, discards an issue slot, stalls on the
//! command FIFO, or idles. In every cycle, each of its contexts does one of the former three, or is
//! ready while another runs, waits for signals, has exited for good, or is not enabled. Both add up
//! exactly to the cycles of the run. So do the cycles of a program of the general-purpose core: it
//! executes instructions, waits for an access, repeats a loop, waits for an interrupt or for the
//! core, or has ended.

mod collect;
mod json;
mod lines;
mod program;

use std::sync::Arc;

use npsim_image::Image;

pub use collect::Collector;
pub use json::to_json;
pub use lines::{LineCycles, MacroCycles, Stage, WordOrigin, chain, stages};
use npsim_chip::Cycle;
use npsim_chip::kernel::trace_event::Cause;
pub use program::{FunctionCycles, ProgramCycleBreakdown, ProgramProfile, StackCycles};

/// Cycles by use.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct CycleBreakdown {
    /// An instruction was issued.
    pub issued: Cycle,
    /// Issue slots were discarded after a taken branch or a context swap.
    pub aborted: Cycle,
    /// A full command FIFO held the pipeline.
    pub stalled: Cycle,
    /// The context was ready but another one ran.
    pub ready: Cycle,
    /// The context waited for signals.
    pub waiting: Cycle,
    /// The context had exited for good.
    pub killed: Cycle,
    /// The context was not enabled.
    pub inactive: Cycle,
}

impl CycleBreakdown {
    /// Cycles in which the pipeline was occupied.
    #[must_use]
    pub const fn pipeline(&self) -> Cycle {
        self.issued + self.aborted + self.stalled
    }

    /// All cycles.
    #[must_use]
    pub const fn total(&self) -> Cycle {
        self.pipeline() + self.ready + self.waiting + self.killed + self.inactive
    }

    /// All of the counts.
    pub(crate) const fn each_mut(&mut self) -> [&mut Cycle; 7] {
        [
            &mut self.issued,
            &mut self.aborted,
            &mut self.stalled,
            &mut self.ready,
            &mut self.waiting,
            &mut self.killed,
            &mut self.inactive,
        ]
    }

    /// Adds the cycles of another count.
    pub const fn add(&mut self, other: &Self) {
        self.issued += other.issued;
        self.aborted += other.aborted;
        self.stalled += other.stalled;
        self.ready += other.ready;
        self.waiting += other.waiting;
        self.killed += other.killed;
        self.inactive += other.inactive;
    }
}

/// What ended a wait.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub enum WaitEnd {
    /// A signal arrived.
    Signalled {
        /// The signal's number.
        signal: u8,
        /// The cause of the signal; its microengine, context and instruction
        /// are 0, so that causes of the same kind compare equal.
        cause: Cause,
        /// The instruction of the command, if the context itself issued it.
        issued: Option<u16>,
    },
    /// No signal arrived before the end of the run. Bit s is set if signal s is awaited.
    Unfinished(u16),
    /// The wake-up condition was changed by a CSR write.
    ConditionChanged,
}

/// Waits at one instruction with the same ending.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The instruction that yielded.
    pub pc: u16,
    /// What ended them.
    pub waited: WaitEnd,
    /// Number of waits.
    pub count: u64,
    /// Total cycles of these waits.
    pub cycles: Cycle,
}

/// The profile of a microengine.
#[derive(Clone, Debug)]
pub struct MicroengineProfile {
    /// Index.
    pub index: u8,
    /// The program.
    pub image: Arc<Image>,
    /// Cycles by instruction; those that belong to none are only counted for the contexts.
    pub words: Vec<CycleBreakdown>,
    /// Cycles by context.
    pub contexts: [CycleBreakdown; npsim_isa::CONTEXTS as usize],
    /// Cycles in which no context occupied the pipeline.
    pub idle: Cycle,
    /// Waits, sorted by instruction and reason.
    pub waits: Vec<Wait>,
}

impl MicroengineProfile {
    /// Cycles of all contexts together.
    #[must_use]
    pub fn spent(&self) -> CycleBreakdown {
        let mut all = CycleBreakdown::default();
        self.contexts.iter().for_each(|it| all.add(it));
        all
    }
}

/// Where the cycles of a run went.
#[derive(Clone, Debug)]
pub struct Profile {
    /// Cycles of the run.
    pub cycles: Cycle,
    /// Frames that left in that time.
    pub packets: u64,
    /// Microengines that have a program.
    pub microengines: Vec<MicroengineProfile>,
    /// Programs of the general-purpose core.
    pub programs: Vec<ProgramProfile>,
}
