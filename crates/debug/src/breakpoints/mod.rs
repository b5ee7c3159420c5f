//! Where a run stops: breakpoints, watchpoints, log points. They belong to the debugger rather than
//! to the chip, so they survive any movement through time.

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

/// What triggers a watchpoint.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Access {
    /// A change of the value.
    Change,
    /// A command that writes the longword, even with the same value.
    Write,
    /// A command that reads it.
    Read,
    /// A command that writes or reads it.
    Any,
}

/// What triggers a breakpoint.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum BreakpointKind {
    /// Instructions that are about to execute: microengine and address.
    Code(Vec<(u8, u16)>),
    /// A value.
    Watch {
        /// The watched expression, with its names bound.
        value: Expression,
        /// Its location, if it is just a name; for accesses, a longword.
        location: Option<Lvalue>,
        /// The access that triggers it.
        access: Access,
        /// The context whose registers are used.
        thread: Thread,
        /// The point at which names were looked up.
        point: ProgramPoint,
    },
    /// Instructions of the core's program that are about to execute, by address.
    Core(Vec<u32>),
    /// A longword that changes, by its address in the core's memory map. It is checked after each
    /// of the core's instructions; a forward search stops after the one that changes it, a backward
    /// search before it.
    CoreWord(u32),
}

/// A breakpoint, watchpoint or log point.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Breakpoint {
    /// Its number.
    pub id: u32,
    /// Its description as entered.
    pub title: String,
    /// What triggers it.
    pub what: BreakpointKind,
    /// File and line of the breakpoint, if it is set on a line: on a line that uses a macro, the
    /// stop is shown with the macro closed.
    pub line: Option<(String, u32)>,
    /// The contexts that it applies to; all if empty.
    pub threads: Vec<Thread>,
    /// An additional condition.
    pub condition: Option<Expression>,
    /// The hits that count.
    pub hits: Option<Hits>,
    /// The text to output instead of stopping.
    pub log: Option<Template>,
    /// Whether it is enabled.
    pub enabled: bool,
    /// Known hits from the beginning of the run on.
    counted: hits::HitCount,
    /// The points for which its text has been output.
    said: BTreeSet<TimePoint>,
}

impl Breakpoint {
    /// A breakpoint for all contexts, without a condition.
    #[must_use]
    pub fn new(title: impl Into<String>, what: BreakpointKind) -> Self {
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

    /// What it does not detect although its title may suggest so, as a message for the user.
    #[must_use]
    pub fn limitation(&self) -> Option<&'static str> {
        match self.what {
            BreakpointKind::Watch {
                access: Access::Read | Access::Any,
                ..
            } => Some(
                "only reads by commands that give the longword's address are seen, not gets from rings, dequeues or reads by the core",
            ),
            _ => None,
        }
    }

    fn is_for(&self, thread: Thread) -> bool {
        self.threads.is_empty() || self.threads.contains(&thread)
    }
}
