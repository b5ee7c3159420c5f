//! What the tests of several crates share. A dev-dependency, and nothing else.
//!
//! Integration tests use it, not the unit tests of the crates that it depends on: a crate's unit tests are
//! another build of the crate, whose types are not those of the testkit.

#[cfg(feature = "assembler")]
pub mod exact_names;
pub mod microcode;
pub mod mistakes;
#[cfg(feature = "chip")]
pub mod slow_path;
