//! Helpers shared by the tests of several crates, for use as a dev-dependency only.
//!
//! They are for integration tests, not for the unit tests of the crates that the testkit depends on: unit
//! tests use another build of their crate, whose types differ from the testkit's.

#[cfg(feature = "assembler")]
pub mod exact_names;
pub mod microcode;
pub mod mistakes;
#[cfg(feature = "chip")]
pub mod slow_path;
