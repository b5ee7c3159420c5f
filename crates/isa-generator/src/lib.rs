//! The table generator, from TOML text to Rust source.
//!
//! It is separate from the build script that calls it: a build script is compiled with its
//! package's optimization level, which would cost more than the single run here takes.

mod check;
mod emit;
mod emit_instructions;
mod instructions;
mod sources;
mod tables;
mod words;

pub use sources::Sources;

/// Generates the source files that `npsim-isa` includes.
///
/// # Errors
/// Returns all errors found in the tables.
pub fn generate(sources: &Sources) -> Result<Vec<(&'static str, String)>, Vec<String>> {
    let tables = sources::parse(sources)?;
    let errors = check::check(&tables);
    if errors.is_empty() {
        Ok(emit::emit(&tables))
    } else {
        Err(errors)
    }
}
