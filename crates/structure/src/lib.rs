//! What the source tree is made of: the modules of each crate, what each file imports from
//! the others, circles among them, sizes of files and functions, names that occur twice.
//!
//! `cargo run -p npsim-structure` prints it; the tests of this crate keep the shape that
//! `docs/src/architecture.md` promises. Sources are read as tokens, so that code within
//! macros counts as well; names are resolved through `use` and `pub use`, so that an import
//! by way of a parent module counts as one of the file that defines the name.

pub mod circles;
pub mod imports;
pub mod lines;
pub mod modules;
pub mod rules;
pub mod surface;
mod tokens;
pub mod workspace;
