//! Analyses the structure of the source tree: the modules of each crate, what each file
//! imports from the others, circles among them, sizes of files and functions, and names
//! that occur twice.
//!
//! `cargo run -p npsim-structure` prints it; the tests of this crate enforce the structure
//! described in `docs/src/architecture.md`. Sources are read as tokens, so that code within
//! macros is included; names are resolved through `use` and `pub use`, so that an import by
//! way of a parent module counts as an import from the file that defines the name.

pub mod circles;
pub mod imports;
pub mod lines;
pub mod modules;
pub mod rules;
pub mod surface;
mod tokens;
pub mod workspace;
