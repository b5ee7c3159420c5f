//! The time-travel debugger, without input and output: a run that can be moved to any cycle, and
//! questions about it.
//!
//! A terminal, an editor or a script that presents it owns a [`Debugger`] and calls its methods.
//! Text commands are handled by [`console`].

pub mod access;
pub mod breakpoints;
pub mod console;
pub mod core;
mod core_step;
pub mod debugger;
pub mod error;
pub mod expression;
pub mod history;
pub mod names;
pub mod questions;
mod recording;
mod register;
pub mod search;
mod snapshots;
pub mod source;
pub mod step;
pub mod thread;
pub mod timeline;
pub mod view;

pub use debugger::{Debugger, Stop, StopCause};
pub use error::DebugError;
pub use search::Direction;
pub use snapshots::BudgetTooSmall;
pub use step::Step;
pub use thread::Thread;
