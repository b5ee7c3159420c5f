//! What the tests of the systems in `microcode/` share: projects from their files to programs,
//! what their names stand for, and runs without frames.

pub mod names;
pub mod project;
pub mod quiet;
pub mod sizes;
