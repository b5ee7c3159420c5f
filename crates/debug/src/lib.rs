//! The time-travel debugger, without input and output: a run that can be gone to at any
//! cycle, and questions about it.
//!
//! Whoever shows it (a terminal, an editor, a script) holds a [`Debugger`](machine::Machine).

pub mod machine;
mod recording;
pub mod search;
mod snapshots;

pub use snapshots::BudgetTooSmall;
