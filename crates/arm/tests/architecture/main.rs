//! The interpreter against other implementations of the architecture, and on its own where these do not apply.

mod case;
mod decoding;
mod differential;
mod exceptions;
mod forms;
mod golden;
mod harness;
mod interpreter;
mod machine;
mod random;
mod thumb_forms;
mod time;
