//! The interpreter against other implementations of the architecture.

mod case;
mod differential;
mod forms;
mod golden;
mod harness;
mod interpreter;
mod random;
mod thumb_forms;
