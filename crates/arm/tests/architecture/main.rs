//! The interpreter against other implementations of the architecture, and by itself where they have nothing to say.

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
