//! Where a run stops: breakpoints, watchpoints, log points. They belong to the debugger
//! and not to the chip, so no way through time loses them.

mod breakpoint_set;
mod edit;
mod hits;
mod log;

use std::collections::BTreeSet;

pub use breakpoint_set::{BreakpointHit, BreakpointSet, LogOutput};
pub use edit::Edit;
pub use hits::Hits;
pub use log::Template;

use npsim_image::ProgramPoint;

use crate::expression::{Expression, Lvalue};
use crate::thread::Thread;
use crate::timeline::TimePoint;

/// What a watchpoint looks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// Another value than before.
    Change,
    /// A command that writes the longword, whatever was there.
    Write,
    /// A command that reads it.
    Read,
    /// Both.
    Any,
}

/// What is looked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// Instructions that are about to execute: microengine and address.
    Code(Vec<(u8, u16)>),
    /// A value.
    Watch {
        /// The watched expression, with its names bound.
        value: Expression,
        /// Where it lies, if it is no more than a name; for accesses a longword.
        location: Option<Lvalue>,
        /// What is to happen to it.
        access: Access,
        /// The context whose registers are meant.
        thread: Thread,
        /// Where names were looked up.
        point: ProgramPoint,
    },
    /// Instructions of the core's program that are about to be made, by address.
    Core(Vec<u32>),
    /// A longword that changes, by its address in the core's memory map. The core looks at it after each of its
    /// instructions; a search stops behind the one that changes it, backward before it.
    CoreWord(u32),
}

/// A breakpoint, watchpoint or log point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breakpoint {
    /// By which it is named.
    pub id: u32,
    /// As it was asked for.
    pub title: String,
    /// What it looks for.
    pub what: What,
    /// File and line of the breakpoint, if it is on one: that of a macro's use is shown
    /// with the macro closed.
    pub line: Option<(String, u32)>,
    /// The contexts that it is for; none for all.
    pub threads: Vec<Thread>,
    /// What must hold as well.
    pub condition: Option<Expression>,
    /// Which of the hits count.
    pub hits: Option<Hits>,
    /// What is said instead of stopping.
    pub log: Option<Template>,
    /// Whether it is in force.
    pub enabled: bool,
    /// Hits from the beginning of the run on, as far as they are known.
    counted: hits::HitCount,
    /// Moments for which the line was said.
    said: BTreeSet<TimePoint>,
}

impl Breakpoint {
    /// For all contexts, without a condition.
    #[must_use]
    pub fn new(title: impl Into<String>, what: What) -> Self {
        Self {
            id: 0,
            title: title.into(),
            what,
            line: None,
            threads: Vec::new(),
            condition: None,
            hits: None,
            log: None,
            enabled: true,
            counted: hits::HitCount::default(),
            said: BTreeSet::new(),
        }
    }

    /// What it does not see although its title may promise it, in words for its user.
    #[must_use]
    pub fn unseen(&self) -> Option<&'static str> {
        match self.what {
            What::Watch {
                access: Access::Read | Access::Any,
                ..
            } => Some(
                "of reads only those of commands that give the longword's address are seen: no gets from rings, no dequeues, no reads of the core",
            ),
            _ => None,
        }
    }

    fn is_for(&self, thread: Thread) -> bool {
        self.threads.is_empty() || self.threads.contains(&thread)
    }
}
