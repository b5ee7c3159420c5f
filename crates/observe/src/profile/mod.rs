//! Where the cycles went, by instruction: a [`Collector`] observes a run and
//! becomes a [`Profile`].
//!
//! Every cycle of a microengine is an instruction issued, an issue slot thrown
//! away, a stall on the command FIFO, or idle. Every cycle of each of its
//! contexts is one of the former three, or the context was ready while another
//! ran, waited for signals, had given up for good, or was not enabled. Both add
//! up to the cycles of the run exactly. So do those of a program of the general-purpose core: it makes instructions, waits
//! for an access, repeats a loop, waits for an interrupt or for the core, or has ended.

mod collect;
mod json;
mod lines;
mod program;

use std::sync::Arc;

use npsim_image::Image;

pub use collect::Collector;
pub use json::to_json;
pub use lines::{LineSpent, MacroSpent, Stage, WordOrigin, chain, stages};
use npsim_chip::Cycle;
use npsim_chip::kernel::trace_event::Cause;
pub use program::{FunctionSpent, ProgramProfile, ProgramSpent, StackSpent};

/// Cycles by what they were spent on.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Spent {
    /// An instruction was issued.
    pub issued: Cycle,
    /// Issue slots were thrown away after a taken branch or a context swap.
    pub aborted: Cycle,
    /// A full command FIFO held the pipeline.
    pub stalled: Cycle,
    /// The context could have run but another did.
    pub ready: Cycle,
    /// The context waited for signals.
    pub waiting: Cycle,
    /// The context had given up for good.
    pub killed: Cycle,
    /// The context was not enabled.
    pub inactive: Cycle,
}

impl Spent {
    /// Cycles in which the pipeline was taken.
    #[must_use]
    pub const fn pipeline(&self) -> Cycle {
        self.issued + self.aborted + self.stalled
    }

    /// All cycles.
    #[must_use]
    pub const fn total(&self) -> Cycle {
        self.pipeline() + self.ready + self.waiting + self.killed + self.inactive
    }

    /// All of its counts.
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

    /// Adds what was spent elsewhere.
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
pub enum Waited {
    /// A signal came.
    For {
        /// The signal's number.
        signal: u8,
        /// Where it came from; its microengine, context and instruction are 0,
        /// so that equal causes are one.
        cause: Cause,
        /// The instruction of the command, if the context issued it itself.
        issued: Option<u16>,
    },
    /// No signal has: the run is over. Bit s: signal s is waited for.
    Still(u16),
    /// The wake-up condition was changed by a CSR write.
    Changed,
}

/// Waits at one instruction that were ended by the same.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Wait {
    /// The instruction that yielded.
    pub pc: u16,
    /// What ended them.
    pub waited: Waited,
    /// How many there were.
    pub count: u64,
    /// The cycles of these waits.
    pub cycles: Cycle,
}

/// What a microengine did.
#[derive(Clone, Debug)]
pub struct MicroengineProfile {
    /// Index.
    pub index: u8,
    /// The program.
    pub image: Arc<Image>,
    /// By instruction; what belongs to none is in the contexts only.
    pub words: Vec<Spent>,
    /// By context.
    pub contexts: [Spent; npsim_isa::CONTEXTS as usize],
    /// Cycles in which no context had the pipeline.
    pub idle: Cycle,
    /// By instruction and reason, in that order.
    pub waits: Vec<Wait>,
}

impl MicroengineProfile {
    /// All contexts together.
    #[must_use]
    pub fn spent(&self) -> Spent {
        let mut all = Spent::default();
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
