//! Helpers shared by the tests of the systems in `microcode/`: loading and assembling
//! projects, the values of their names, and runs without frames.

pub mod names;
pub mod project;
pub mod quiet;
pub mod sizes;
